#include "graph/chlo/Broadcasting.h"

using namespace mlir;

namespace sinter::chlo {

/// \p value cast to the declared type of \p op, which may have fewer static
/// sizes.
static Results asDeclared(TensorBuilder &emit, Operation *op, Value value) {
  if (!value)
    return failure();
  Type declared = op->getResult(0).getType();
  // An operation's result type determines how it rounds to quantised values.
  if (isa<quant::QuantizedType>(getElementTypeOrSelf(declared)))
    value.setType(declared);
  if (value.getType() != declared)
    value = emit.make<stablehlo::ConvertOp>(declared, value);
  return SmallVector<Value>{value};
}

//===----------------------------------------------------------------------===//
// Operands of one shape
//===----------------------------------------------------------------------===//

static TensorBuilder emitFor(Operation *op, OpBuilder &builder) {
  TensorBuilder emit(builder, op->getLoc());
  emit.setShape(op->getOperand(0));
  return emit;
}

Results decomposeFunction(Operation *op, OpBuilder &builder,
                          Value (*function)(TensorBuilder &, Value)) {
  TensorBuilder emit = emitFor(op, builder);
  return asDeclared(emit, op, function(emit, op->getOperand(0)));
}

Results decomposeFunction(Operation *op, OpBuilder &builder,
                          Value (*function)(TensorBuilder &, Value, Value)) {
  TensorBuilder emit = emitFor(op, builder);
  return asDeclared(emit, op,
                    function(emit, op->getOperand(0), op->getOperand(1)));
}

//===----------------------------------------------------------------------===//
// Operands that broadcast
//===----------------------------------------------------------------------===//

namespace {
/// An operand and the result dimensions of its own dimensions.
struct Aligned {
  Value value;
  SmallVector<int64_t> dimensions;
};
} // namespace

static Aligned trailing(Value value, int64_t rank) {
  int64_t own = tensorOf(value).getRank();
  return {value, llvm::to_vector(llvm::seq<int64_t>(rank - own, rank))};
}

/// The size of the operand along the result's dimension as a tensor<1xi32>;
/// null where it has none or the size is 1.
static Value sizeAlong(TensorBuilder &emit, const Aligned &operand,
                       int64_t dimension) {
  auto place = llvm::find(operand.dimensions, dimension);
  if (place == operand.dimensions.end())
    return {};
  int64_t own = place - operand.dimensions.begin();
  if (tensorOf(operand.value).getDimSize(own) == 1)
    return {};
  return emit.reshape(emit.make<stablehlo::GetDimensionSizeOp>(
                          operand.value, static_cast<uint64_t>(own)),
                      {1});
}

/// The sizes that the operands broadcast to, as a 1-d tensor of i32. A size is
/// 1 or the same in each, so it is the first that is not 1.
static Value commonShape(TensorBuilder &emit, ArrayRef<Aligned> operands,
                         ArrayRef<int64_t> shape) {
  Value one =
      emit.reshape(emit.scalar(1, emit.builder.getIntegerType(32)), {1});
  SmallVector<Value> sizes;
  for (auto [dimension, known] : llvm::enumerate(shape)) {
    if (!ShapedType::isDynamic(known)) {
      sizes.push_back(emit.reshape(
          emit.scalar(known, emit.builder.getIntegerType(32)), {1}));
      continue;
    }
    Value size;
    for (const Aligned &operand : operands) {
      Value next = sizeAlong(emit, operand, dimension);
      if (!next)
        continue;
      size = size ? emit.select(emit.compare(stablehlo::ComparisonDirection::EQ,
                                             size, one),
                                next, size)
                  : next;
    }
    sizes.push_back(size ? size : one);
  }
  return emit.concatenate(sizes, 0);
}

/// Whether every other operand is a scalar, so that \p self has the result's
/// shape.
static bool isAlone(ArrayRef<Aligned> operands, const Aligned &self) {
  return llvm::all_of(operands, [&](const Aligned &each) {
    auto type = tensorOf(each.value);
    return &each == &self || llvm::all_of(type.getShape(), [](int64_t size) {
      return size == 1;
    });
  });
}

/// The operands, broadcast to their common shape.
static SmallVector<Value> toCommonShape(TensorBuilder &emit,
                                        ArrayRef<Aligned> operands,
                                        ArrayRef<int64_t> shape) {
  SmallVector<Value> values;
  Value sizes;
  bool isStatic = !ShapedType::isDynamicShape(shape);
  for (const Aligned &operand : operands) {
    auto type = tensorOf(operand.value);
    bool hasShape = type.getShape() == shape &&
                    (type.hasStaticShape() || isAlone(operands, operand));
    if (hasShape) {
      values.push_back(operand.value);
    } else if (isStatic && type.hasStaticShape()) {
      values.push_back(
          emit.broadcast(operand.value, operand.dimensions, shape));
    } else {
      if (!sizes)
        sizes = commonShape(emit, operands, shape);
      values.push_back(emit.make<stablehlo::DynamicBroadcastInDimOp>(
          RankedTensorType::get(shape, type.getElementType()), operand.value,
          sizes, emit.builder.getDenseI64ArrayAttr(operand.dimensions),
          DenseI64ArrayAttr(), DenseI64ArrayAttr()));
    }
  }
  return values;
}

/// The inferred shape of the op's result; it may have more static sizes than
/// the declared one.
static SmallVector<int64_t> inferredShape(Operation *op) {
  SmallVector<Type> types;
  auto inferred = cast<InferTypeOpInterface>(op);
  if (failed(inferred.inferReturnTypes(
          op->getContext(), op->getLoc(), op->getOperands(),
          op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
          op->getRegions(), types)))
    return SmallVector<int64_t>(tensorOf(op->getResult(0)).getShape());
  return SmallVector<int64_t>(cast<RankedTensorType>(types.front()).getShape());
}

static Results
buildInCommonShape(Operation *op, OpBuilder &builder,
                   function_ref<SmallVector<Aligned>(int64_t rank)> align,
                   function_ref<Value(TensorBuilder &, ValueRange)> build) {
  TensorBuilder emit(builder, op->getLoc());
  SmallVector<int64_t> shape = inferredShape(op);
  SmallVector<Value> values = toCommonShape(emit, align(shape.size()), shape);
  emit.setShape(values.front());
  return asDeclared(emit, op, build(emit, values));
}

Results
decomposeBroadcast(Operation *op, OpBuilder &builder,
                   DenseI64ArrayAttr dimensions,
                   function_ref<Value(TensorBuilder &, ValueRange)> build) {
  auto align = [&](int64_t rank) {
    SmallVector<Aligned> operands;
    bool lhsIsSmall = tensorOf(op->getOperand(0)).getRank() <
                      tensorOf(op->getOperand(1)).getRank();
    for (auto [index, value] : llvm::enumerate(op->getOperands())) {
      bool isSmall = (index == 0) == lhsIsSmall;
      if (dimensions && isSmall)
        operands.push_back(
            {value, SmallVector<int64_t>(dimensions.asArrayRef())});
      else
        operands.push_back(trailing(value, rank));
    }
    return operands;
  };
  return buildInCommonShape(op, builder, align, build);
}

Results BroadcastSelectOp::decompose(OpBuilder &builder) {
  auto align = [&](int64_t rank) {
    return llvm::map_to_vector(
        getOperands(), [&](Value value) { return trailing(value, rank); });
  };
  return buildInCommonShape(
      *this, builder, align, [](TensorBuilder &emit, ValueRange values) {
        return emit.select(values[0], values[1], values[2]);
      });
}

} // namespace sinter::chlo
