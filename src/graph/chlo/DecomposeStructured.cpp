// Constants, top_k and scan, built from stablehlo.

#include "graph/chlo/Broadcasting.h"

using namespace mlir;

namespace sinter::chlo {

using nn::isStatic;
using Direction = stablehlo::ComparisonDirection;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Results ConstantOp::decompose(OpBuilder &builder) {
  return SmallVector<Value>{builder.create<stablehlo::ConstantOp>(
      getLoc(), getOutput().getType(), getValue())};
}

Results ConstantLikeOp::decompose(OpBuilder &builder) {
  auto type = tensorOf(getResult());
  auto value =
      DenseElementsAttr::get(RankedTensorType::get({}, type.getElementType()),
                             ArrayRef<Attribute>(getValue()));
  TensorBuilder emit(builder, getLoc());
  emit.setShape(getOperand());
  Value scalar = emit.make<stablehlo::ConstantOp>(value.getType(),
                                                  cast<ElementsAttr>(value));
  return SmallVector<Value>{emit.spread(scalar, type)};
}

//===----------------------------------------------------------------------===//
// top_k
//===----------------------------------------------------------------------===//

/// The first \p k elements along the last dimension.
static Value firstAlongLast(TensorBuilder &emit, Value x, int64_t k) {
  auto type = tensorOf(x);
  int64_t last = type.getRank() - 1;
  if (type.hasStaticShape())
    return emit.slice(x, last, 0, k);
  SmallVector<int64_t> shape(type.getShape());
  shape[last] = k;
  SmallVector<Value> limits;
  for (int64_t i = 0; i < last; ++i)
    limits.push_back(emit.reshape(
        emit.make<stablehlo::GetDimensionSizeOp>(x, static_cast<uint64_t>(i)),
        {1}));
  Type i32 = emit.integerType(32);
  limits.push_back(emit.reshape(emit.scalar(k, i32), {1}));
  auto indexType = RankedTensorType::get({last + 1}, i32);
  return emit.make<stablehlo::RealDynamicSliceOp>(
      RankedTensorType::get(shape, type.getElementType()), x,
      emit.splat(0, indexType), emit.concatenate(limits, 0),
      emit.splat(1, indexType));
}

/// 0, 1, 2, ... along the last dimension of \p x's shape.
static Value countAlongLast(TensorBuilder &emit, Value x) {
  auto type = tensorOf(x).clone(emit.integerType(32));
  uint64_t last = type.getRank() - 1;
  if (type.hasStaticShape())
    return emit.make<stablehlo::IotaOp>(type, last);
  return emit.make<stablehlo::DynamicIotaOp>(type, emit.shapeOf(x), last);
}

Results TopKOp::decompose(OpBuilder &builder) {
  TensorBuilder emit(builder, getLoc());
  Value x = getOperand();
  auto type = tensorOf(x);
  Value places = countAlongLast(emit, x);
  auto sort = builder.create<stablehlo::SortOp>(
      getLoc(), TypeRange{type, places.getType()}, ValueRange{x, places},
      builder.getI64IntegerAttr(type.getRank() - 1),
      builder.getBoolAttr(getIsStable()));
  Type element = type.getElementType();
  emit.fill(sort.getComparator(),
            {type, type, places.getType(), places.getType()},
            [&](TensorBuilder &inner, ValueRange arguments) {
              stablehlo::ComparisonTypeAttr order;
              if (isa<FloatType>(element))
                order = stablehlo::ComparisonTypeAttr::get(
                    getContext(), stablehlo::ComparisonType::TOTALORDER);
              return SmallVector<Value>{inner.make<stablehlo::CompareOp>(
                  arguments[0], arguments[1], Direction::GT, order)};
            });
  SmallVector<Value> results;
  for (auto [sorted, declared] :
       llvm::zip_equal(sort.getResults(), getResults())) {
    Value first = firstAlongLast(emit, sorted, getK());
    if (first.getType() != declared.getType())
      first = emit.make<stablehlo::ConvertOp>(declared.getType(), first);
    results.push_back(first);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

namespace {
/// The loop `for i in 0 .. length`. Its state is i, then the carries, then the
/// outputs so far.
struct ScanLoop {
  ScanOp op;
  TensorBuilder &emit;
  Type indexType;

  Value number(int64_t value) { return emit.scalar(value, indexType); }

  /// The start indices of the slice at \p index of a tensor of rank \p rank.
  SmallVector<Value> startsAt(int64_t rank, Value index) {
    SmallVector<Value> starts(rank, number(0));
    starts[op.getDimension()] = index;
    return starts;
  }

  Value sliceAt(Value x, Value index) {
    SmallVector<int64_t> sizes(tensorOf(x).getShape());
    sizes[op.getDimension()] = 1;
    Value slice = emit.make<stablehlo::DynamicSliceOp>(
        x, startsAt(sizes.size(), index), sizes);
    sizes.erase(sizes.begin() + op.getDimension());
    return emit.reshape(slice, sizes);
  }

  Value putAt(Value whole, Value slice, Value index) {
    SmallVector<int64_t> sizes(tensorOf(whole).getShape());
    sizes[op.getDimension()] = 1;
    return emit.make<stablehlo::DynamicUpdateSliceOp>(
        whole, emit.reshape(slice, sizes), startsAt(sizes.size(), index));
  }

  /// One step: from the state to the next.
  SmallVector<Value> step(ValueRange state) {
    Value count = state[0];
    ValueRange carries = state.slice(1, op.getInits().size());
    ValueRange outputs = state.drop_front(1 + carries.size());
    Value index =
        op.getIsReverse() ? emit.sub(number(op.getLength() - 1), count) : count;
    IRMapping mapping;
    Block &body = op.getBody().front();
    for (auto [argument, input] :
         llvm::zip(body.getArguments(), op.getInputs()))
      mapping.map(argument, sliceAt(input, index));
    for (auto [argument, carry] : llvm::zip_equal(
             body.getArguments().take_back(carries.size()), carries))
      mapping.map(argument, carry);
    for (Operation &inner : body.without_terminator())
      emit.builder.clone(inner, mapping);
    SmallVector<Value> results = llvm::map_to_vector(
        body.getTerminator()->getOperands(),
        [&](Value value) { return mapping.lookupOrDefault(value); });

    SmallVector<Value> next = {emit.add(count, number(1))};
    llvm::append_range(next,
                       ArrayRef<Value>(results).take_back(carries.size()));
    for (auto [whole, slice] : llvm::zip(outputs, results))
      next.push_back(putAt(whole, slice, index));
    return next;
  }
};
} // namespace

static Block *blockOf(TensorBuilder &emit, Region &region, TypeRange types) {
  SmallVector<Location> locations(types.size(), emit.location);
  return emit.builder.createBlock(&region, {}, types, locations);
}

Results ScanOp::decompose(OpBuilder &builder) {
  if (!isStatic(*this) || ShapedType::isDynamic(getLength()))
    return failure();
  TensorBuilder emit(builder, getLoc());
  ScanLoop loop{*this, emit, builder.getI64Type()};
  SmallVector<Value> state = {loop.number(0)};
  llvm::append_range(state, getInits());
  for (Value output : getOutputs())
    state.push_back(emit.splat(0, tensorOf(output)));
  const size_t carries = getInits().size();
  // An empty dimension has no slices.
  if (getLength() == 0) {
    SmallVector<Value> results(ArrayRef(state).drop_front(1 + carries));
    llvm::append_range(results, getInits());
    return results;
  }

  SmallVector<Type> types = llvm::to_vector(ValueRange(state).getTypes());
  auto whileOp = builder.create<stablehlo::WhileOp>(getLoc(), types, state);
  OpBuilder::InsertionGuard guard(builder);
  Block *condition = blockOf(emit, whileOp.getCond(), types);
  builder.create<stablehlo::ReturnOp>(
      getLoc(), emit.compare(Direction::LT, condition->getArgument(0),
                             loop.number(getLength())));
  Block *body = blockOf(emit, whileOp.getBody(), types);
  builder.create<stablehlo::ReturnOp>(getLoc(),
                                      loop.step(body->getArguments()));

  SmallVector<Value> results(whileOp.getResults().drop_front(1 + carries));
  llvm::append_range(results, whileOp.getResults().slice(1, carries));
  return results;
}

} // namespace sinter::chlo
