//===- ShapeOperations.cpp - shape computations of other dialects ---------===//

#include "formats/stablehlo/ShapeOperations.h"

#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Shape/IR/Shape.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

bool mentionsShapeDialects(std::string_view text) {
  return llvm::any_of(std::array{"arith.", "shape.", "tensor."},
                      [&](const char *prefix) {
                        return text.find(prefix) != std::string_view::npos;
                      });
}

void loadShapeDialects(MLIRContext *context) {
  context->loadDialect<arith::ArithDialect, shape::ShapeDialect,
                       tensor::TensorDialect>();
}

static bool isForeign(Operation *op) {
  return isa_and_nonnull<arith::ArithDialect, shape::ShapeDialect,
                         tensor::TensorDialect>(op->getDialect());
}

/// The type of the tensor that represents a value of \p type.
static RankedTensorType tensorFor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  Type element = tensor ? tensor.getElementType() : type;
  if (element.isIndex())
    element = IntegerType::get(type.getContext(), 64);
  if (tensor)
    return RankedTensorType::get(tensor.getShape(), element,
                                 tensor.getEncoding());
  return element.isIntOrFloat() ? RankedTensorType::get({}, element)
                                : RankedTensorType();
}

namespace {

class Translation {
public:
  explicit Translation(MLIRContext *context) : builder(context) {}

  /// The replacement of the result of \p op; null if there is none.
  Value translated(Operation *op);
  void remember(Value old, Value by) { known[old] = by; }
  /// Converts \p by, which replaces the index tensor \p old, to its type.
  Value asIndex(Value by, Value old) {
    builder.setInsertionPointAfterValue(by);
    return toType(by.getLoc(), by, cast<RankedTensorType>(old.getType()));
  }

private:
  /// Translates an operation; \p operands are the replacements of its own.
  using Translator = Value (Translation::*)(Operation *op, ValueRange operands);
  static const llvm::StringMap<Translator> &translators();

  /// The replacement of \p value: a tensor represents itself, and an index
  /// tensor that is a function argument or a result of a call or loop its
  /// conversion.
  Value replacementOf(Value value);

  /// An elementwise operation of StableHLO.
  template <typename Op> Value same(Operation *op, ValueRange operands) {
    OperationState state(op->getLoc(), Op::getOperationName());
    state.addOperands(operands);
    state.addTypes(tensorFor(op->getResult(0).getType()));
    return builder.create(state)->getResult(0);
  }
  Value constant(Operation *op, ValueRange operands);
  Value compare(Operation *op, ValueRange operands);
  Value dimension(Operation *op, ValueRange operands);
  Value fromElements(Operation *op, ValueRange operands);
  Value extract(Operation *op, ValueRange operands);
  Value shapeOf(Operation *op, ValueRange operands);
  Value constShape(Operation *op, ValueRange operands);
  Value extent(Operation *op, ValueRange operands);
  Value numElements(Operation *op, ValueRange operands);
  Value broadcastShapes(Operation *op, ValueRange operands);
  Value itself(Operation *, ValueRange operands) { return operands[0]; }

  Value number(Location location, int64_t value) {
    return builder.create<ConstantOp>(
        location, DenseElementsAttr::get(tensorFor(builder.getIndexType()),
                                         builder.getI64IntegerAttr(value)));
  }
  /// Element \p index of a vector.
  Value element(Location location, Value vector, int64_t index) {
    auto get = [&](int64_t value) {
      return builder.getDenseI64ArrayAttr({value});
    };
    Value one = builder.create<SliceOp>(location, vector, get(index),
                                        get(index + 1), get(1));
    return builder.create<ReshapeOp>(
        location, RankedTensorType::get({}, tensorOf(vector).getElementType()),
        one);
  }
  Value compared(Location location, Value lhs, Value rhs,
                 ComparisonDirection direction) {
    return builder.create<CompareOp>(
        location, lhs, rhs,
        ComparisonDirectionAttr::get(builder.getContext(), direction),
        ComparisonTypeAttr());
  }
  Value vectorOf(Location location, ValueRange elements);
  Value sizeOf(Location location, Value tensor, int64_t dimension);
  Value toType(Location location, Value value, RankedTensorType type) {
    return value.getType() == type
               ? value
               : builder.create<ConvertOp>(location, type, value);
  }

  OpBuilder builder;
  llvm::DenseMap<Value, Value> known;
};

} // namespace

/// The values of constants; nothing if one is no constant.
static std::optional<SmallVector<int64_t>> constantsIn(ValueRange values) {
  SmallVector<int64_t> numbers;
  for (Value value : values) {
    APInt number;
    if (!matchPattern(value, m_ConstantInt(&number)))
      return std::nullopt;
    numbers.push_back(number.getSExtValue());
  }
  return numbers;
}

const llvm::StringMap<Translation::Translator> &Translation::translators() {
  using T = Translation;
  static const llvm::StringMap<Translator> table = {
      {"arith.constant", &T::constant},
      {"arith.addi", &T::same<AddOp>},
      {"arith.subi", &T::same<SubtractOp>},
      {"arith.muli", &T::same<MulOp>},
      {"arith.divsi", &T::same<DivOp>},
      {"arith.remsi", &T::same<RemOp>},
      {"arith.maxsi", &T::same<MaxOp>},
      {"arith.minsi", &T::same<MinOp>},
      {"arith.andi", &T::same<AndOp>},
      {"arith.ori", &T::same<OrOp>},
      {"arith.xori", &T::same<XorOp>},
      {"arith.addf", &T::same<AddOp>},
      {"arith.subf", &T::same<SubtractOp>},
      {"arith.mulf", &T::same<MulOp>},
      {"arith.divf", &T::same<DivOp>},
      {"arith.cmpi", &T::compare},
      {"arith.select", &T::same<SelectOp>},
      {"arith.index_cast", &T::same<ConvertOp>},
      {"arith.extsi", &T::same<ConvertOp>},
      {"arith.sitofp", &T::same<ConvertOp>},
      {"tensor.cast", &T::same<ConvertOp>},
      {"tensor.dim", &T::dimension},
      {"tensor.extract", &T::extract},
      {"tensor.from_elements", &T::fromElements},
      {"shape.broadcast", &T::broadcastShapes},
      {"shape.const_shape", &T::constShape},
      {"shape.get_extent", &T::extent},
      {"shape.num_elements", &T::numElements},
      {"shape.shape_of", &T::shapeOf},
      {"shape.to_extent_tensor", &T::itself},
  };
  return table;
}

Value Translation::translated(Operation *op) {
  auto rule = translators().find(op->getName().getStringRef());
  if (rule == translators().end() || op->getNumResults() != 1)
    return {};
  builder.setInsertionPoint(op);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Value value = replacementOf(operand);
    if (!value)
      return {};
    operands.push_back(value);
  }
  return (this->*rule->second)(op, operands);
}

Value Translation::replacementOf(Value value) {
  if (Value by = known.lookup(value))
    return by;
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor || !tensor.getElementType().isIndex())
    return tensor ? value : Value();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(value);
  return known[value] = builder.create<ConvertOp>(value.getLoc(),
                                                  tensorFor(tensor), value);
}

Value Translation::constant(Operation *op, ValueRange) {
  TypedAttr value = cast<arith::ConstantOp>(op).getValue();
  RankedTensorType type = tensorFor(value.getType());
  if (!type)
    return {};
  Type element = type.getElementType();
  if (auto dense = dyn_cast<DenseIntElementsAttr>(value))
    return builder.create<ConstantOp>(
        op->getLoc(),
        dense.mapValues(element, [](const APInt &number) { return number; }));
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    return builder.create<ConstantOp>(op->getLoc(), dense);
  Attribute one = value;
  if (auto integer = dyn_cast<IntegerAttr>(value))
    one = IntegerAttr::get(element, integer.getValue());
  return builder.create<ConstantOp>(
      op->getLoc(), DenseElementsAttr::get(type, ArrayRef<Attribute>(one)));
}

Value Translation::compare(Operation *op, ValueRange operands) {
  using Predicate = arith::CmpIPredicate;
  std::optional<ComparisonDirection> direction;
  switch (cast<arith::CmpIOp>(op).getPredicate()) {
  case Predicate::eq:
    direction = ComparisonDirection::EQ;
    break;
  case Predicate::ne:
    direction = ComparisonDirection::NE;
    break;
  case Predicate::slt:
    direction = ComparisonDirection::LT;
    break;
  case Predicate::sle:
    direction = ComparisonDirection::LE;
    break;
  case Predicate::sgt:
    direction = ComparisonDirection::GT;
    break;
  case Predicate::sge:
    direction = ComparisonDirection::GE;
    break;
  default:
    return {};
  }
  return compared(op->getLoc(), operands[0], operands[1], *direction);
}

Value Translation::sizeOf(Location location, Value tensor, int64_t dimension) {
  if (!tensorOf(tensor).isDynamicDim(dimension))
    return number(location, tensorOf(tensor).getDimSize(dimension));
  return toType(location,
                builder.create<GetDimensionSizeOp>(
                    location, tensor, static_cast<uint64_t>(dimension)),
                tensorFor(builder.getIndexType()));
}

Value Translation::vectorOf(Location location, ValueRange elements) {
  Type element = elements.empty() ? builder.getI64Type()
                                  : tensorOf(elements[0]).getElementType();
  if (elements.empty())
    return builder.create<ConstantOp>(
        location, DenseElementsAttr::get(RankedTensorType::get({0}, element),
                                         ArrayRef<Attribute>()));
  SmallVector<Value> parts;
  for (Value each : elements)
    parts.push_back(builder.create<ReshapeOp>(
        location, RankedTensorType::get({1}, element), each));
  return builder.create<ConcatenateOp>(location, parts, /*dimension=*/0);
}

Value Translation::dimension(Operation *op, ValueRange operands) {
  auto place = constantsIn(op->getOperands().drop_front());
  if (!place || place->front() < 0 ||
      place->front() >= tensorOf(operands[0]).getRank())
    return {};
  return sizeOf(op->getLoc(), operands[0], place->front());
}

Value Translation::fromElements(Operation *op, ValueRange operands) {
  RankedTensorType type = tensorFor(op->getResult(0).getType());
  Value vector = vectorOf(op->getLoc(), operands);
  return vector.getType() == type
             ? vector
             : builder.create<ReshapeOp>(op->getLoc(), type, vector);
}

Value Translation::extract(Operation *op, ValueRange operands) {
  auto starts = constantsIn(op->getOperands().drop_front());
  if (!starts)
    return {};
  auto get = [&](ArrayRef<int64_t> values) {
    return builder.getDenseI64ArrayAttr(values);
  };
  SmallVector<int64_t> ends, ones(starts->size(), 1);
  for (auto [place, size] :
       llvm::zip_equal(*starts, tensorOf(operands[0]).getShape())) {
    if (place < 0 || (!ShapedType::isDynamic(size) && place >= size))
      return {};
    ends.push_back(place + 1);
  }
  Value part = builder.create<SliceOp>(op->getLoc(), operands[0], get(*starts),
                                       get(ends), get(ones));
  return builder.create<ReshapeOp>(op->getLoc(),
                                   tensorFor(op->getResult(0).getType()), part);
}

Value Translation::shapeOf(Operation *op, ValueRange operands) {
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < tensorOf(operands[0]).getRank(); ++i)
    sizes.push_back(sizeOf(op->getLoc(), operands[0], i));
  return vectorOf(op->getLoc(), sizes);
}

Value Translation::constShape(Operation *op, ValueRange) {
  SmallVector<Value> sizes;
  for (const APInt &size : cast<shape::ConstShapeOp>(op).getShape())
    sizes.push_back(number(op->getLoc(), size.getSExtValue()));
  return vectorOf(op->getLoc(), sizes);
}

Value Translation::extent(Operation *op, ValueRange operands) {
  auto place = constantsIn(op->getOperands().drop_front());
  auto shape = tensorOf(operands[0]);
  if (!place || shape.getRank() != 1 || place->front() < 0 ||
      place->front() >= shape.getDimSize(0))
    return {};
  return element(op->getLoc(), operands[0], place->front());
}

Value Translation::numElements(Operation *op, ValueRange operands) {
  auto shape = tensorOf(operands[0]);
  if (shape.getRank() != 1 || !shape.hasStaticShape())
    return {};
  Value product = number(op->getLoc(), 1);
  for (int64_t i = 0; i < shape.getDimSize(0); ++i)
    product = builder.create<MulOp>(op->getLoc(), product,
                                    element(op->getLoc(), operands[0], i));
  return product;
}

/// NumPy's broadcasting: of two sizes the one that is not 1.
Value Translation::broadcastShapes(Operation *op, ValueRange operands) {
  Location location = op->getLoc();
  SmallVector<Value> joined;
  for (Value shape : operands) {
    if (tensorOf(shape).getRank() != 1 || !tensorOf(shape).hasStaticShape())
      return {};
    SmallVector<Value> sizes;
    for (int64_t i = 0; i < tensorOf(shape).getDimSize(0); ++i)
      sizes.push_back(element(location, shape, i));
    if (sizes.size() > joined.size())
      std::swap(sizes, joined);
    const size_t offset = joined.size() - sizes.size();
    for (auto [i, size] : llvm::enumerate(sizes)) {
      Value &both = joined[offset + i];
      Value isOne = compared(location, both, number(location, 1),
                             ComparisonDirection::EQ);
      both = builder.create<SelectOp>(location, isOne, size, both);
    }
  }
  return vectorOf(location, joined);
}

static bool isIndexTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isIndex();
}

/// Whether \p op accepts integers of any type in place of indices, but all of
/// one type, so that none may stay an index.
static bool takesIntegers(Operation *op) {
  return isa<DynamicReshapeOp, DynamicBroadcastInDimOp, DynamicIotaOp,
             DynamicPadOp, DynamicGatherOp, DynamicConvOp, RealDynamicSliceOp,
             ScatterOp>(op) &&
         llvm::none_of(op->getOperands(), [](Value operand) {
           return isIndexTensor(operand) && !isForeign(operand.getDefiningOp());
         });
}

LogicalResult translateShapeOperations(ModuleOp module) {
  SmallVector<Operation *> foreign;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isForeign(op))
      foreign.push_back(op);
  });
  if (foreign.empty())
    return success();
  Translation translation(module.getContext());
  for (Operation *op : foreign) {
    Value by = translation.translated(op);
    if (!by)
      return op->emitError("'")
             << op->getName()
             << "' has no counterpart in StableHLO here; export with static "
                "shapes, or run stablehlo-opt "
                "--shape-legalize-to-stablehlo --canonicalize on the text";
    Value old = op->getResult(0);
    translation.remember(old, by);
    for (OpOperand &use : llvm::make_early_inc_range(old.getUses()))
      if (!isForeign(use.getOwner())) {
        if (!isa<RankedTensorType>(old.getType()))
          return use.getOwner()->emitError("takes ")
                 << old.getType() << ", which is no tensor, from '"
                 << op->getName() << "'";
        use.set(isIndexTensor(old) && !takesIntegers(use.getOwner())
                    ? translation.asIndex(by, old)
                    : by);
      }
  }
  for (Operation *op : llvm::reverse(foreign))
    op->erase();
  return verify(module);
}

/// The conversions from and to indices.
static SmallVector<ConvertOp> indexCastsIn(ModuleOp module) {
  SmallVector<ConvertOp> casts;
  module.walk([&](ConvertOp op) {
    if (isIndexTensor(op.getOperand()) || isIndexTensor(op.getResult()))
      casts.push_back(op);
  });
  return casts;
}

bool hasIndexCasts(ModuleOp module) { return !indexCastsIn(module).empty(); }

void writeIndexCasts(ModuleOp module) {
  const SmallVector<ConvertOp> casts = indexCastsIn(module);
  if (!casts.empty())
    module.getContext()->loadDialect<arith::ArithDialect>();
  for (ConvertOp op : casts) {
    OpBuilder builder(op);
    Value cast = builder.create<arith::IndexCastOp>(op.getLoc(), op.getType(),
                                                    op.getOperand());
    op.replaceAllUsesWith(cast);
    op.erase();
  }
}

} // namespace sinter
