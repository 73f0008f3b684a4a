// Shapes, indexing and ordering, built from stablehlo.

#include "graph/nn/Emit.h"

using namespace mlir;

namespace sinter::nn {

using Direction = stablehlo::ComparisonDirection;

/// Negative indices count from the end of dimension \p axis of \p x.
static Value wrapNegative(Emit &emit, Value indices, Value x, int64_t axis) {
  Type element = tensorOf(indices).getElementType();
  if (element.isUnsignedInteger())
    return indices;
  // A narrow index type may not hold the size.
  Value wide = emit.convert(indices, emit.integerType(64));
  emit.setShape(wide);
  Value size;
  if (tensorOf(x).isDynamicDim(axis))
    size = emit.broadcast(emit.convert(emit.reshape(emit.sizeOf(x, axis), {}),
                                       emit.integerType(64)),
                          {}, tensorOf(wide).getShape());
  else
    size =
        emit.splatLike(static_cast<double>(tensorOf(x).getDimSize(axis)), wide);
  return emit.select(emit.compare(Direction::LT, wide, 0.0),
                     emit.add(wide, size), wide);
}

FailureOr<SmallVector<Value>> ShapeOp::decompose(OpBuilder &builder) {
  Emit emit(builder, getLoc());
  if (isStatic(*this))
    return SmallVector<Value>{emit.integers(tensorOf(getOperand()).getShape())};
  return SmallVector<Value>{
      emit.convert(emit.shapeOf(getOperand()), emit.integerType(64))};
}

/// The size that dimension \p dimension of tensors broadcast together has, as a
/// tensor<1xi32>: of two that are not known the one that is not 1.
static Value joinedSize(Emit &emit, ValueRange values, RankedTensorType result,
                        int64_t dimension) {
  Value joined;
  for (Value value : values) {
    int64_t missing = result.getRank() - tensorOf(value).getRank();
    if (dimension < missing ||
        !tensorOf(value).isDynamicDim(dimension - missing))
      continue;
    Value size = emit.sizeOf(value, dimension - missing);
    if (!joined) {
      joined = size;
      continue;
    }
    Value isOne = emit.compare(Direction::EQ, joined, 1.0);
    joined = emit.select(isOne, size, joined);
  }
  return joined;
}

namespace {
/// A value, and the dimension of another that each of its own becomes.
struct Placed {
  Value value;
  SmallVector<int64_t> dimensions;
};
} // namespace

/// \p operand, aligned with the last dimensions of \p rank, without what a
/// reshape added to it: dimensions of size 1, which a broadcast adds anyway.
static Placed withoutUnits(Value operand, int64_t rank) {
  auto type = tensorOf(operand);
  auto reshape = operand.getDefiningOp<stablehlo::ReshapeOp>();
  Placed plain{operand,
               llvm::to_vector(llvm::seq(rank - type.getRank(), rank))};
  if (!reshape)
    return plain;
  Placed inner{reshape.getOperand(), {}};
  ArrayRef<int64_t> sizes = tensorOf(inner.value).getShape();
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    const size_t next = inner.dimensions.size();
    if (next < sizes.size() && sizes[next] == size)
      inner.dimensions.push_back(plain.dimensions[i]);
    else if (size != 1)
      return plain;
  }
  return inner.dimensions.size() == sizes.size() ? inner : plain;
}

FailureOr<SmallVector<Value>> BroadcastLikeOp::decompose(OpBuilder &builder) {
  Emit emit(builder, getLoc());
  auto type = tensorOf(getResult());
  if (isStatic(*this))
    return SmallVector<Value>{
        emit.broadcastTrailing(getOperand(), type.getShape())};
  SmallVector<Value> sizes;
  for (auto [dimension, size] : llvm::enumerate(type.getShape())) {
    Value each = ShapedType::isDynamic(size)
                     ? joinedSize(emit, getOperands(), type, dimension)
                     : emit.knownSize(size);
    // What is written may be less than what is known of the operands.
    if (!each)
      return failure();
    sizes.push_back(each);
  }
  const Placed placed = withoutUnits(getOperand(), type.getRank());
  return SmallVector<Value>{emit.make<stablehlo::DynamicBroadcastInDimOp>(
      type, placed.value, emit.concatenate(sizes, 0),
      builder.getDenseI64ArrayAttr(placed.dimensions), DenseI64ArrayAttr(),
      DenseI64ArrayAttr())};
}

FailureOr<SmallVector<Value>> TakeOp::decompose(OpBuilder &builder) {
  Emit emit(builder, getLoc());
  int64_t axis = getAxis();
  Value indices = wrapNegative(emit, getIndices(), getOperand(), axis);
  return SmallVector<Value>{emit.take(getOperand(), indices, axis)};
}

FailureOr<SmallVector<Value>> TakeAlongOp::decompose(OpBuilder &builder) {
  if (!isStatic(*this))
    return failure();
  Emit emit(builder, getLoc());
  auto type = tensorOf(getOperand());
  int64_t axis = getAxis(), rank = type.getRank();
  Value indices =
      emit.convert(wrapNegative(emit, getIndices(), getOperand(), axis),
                   emit.integerType(64));
  SmallVector<int64_t> shape(tensorOf(indices).getShape());
  SmallVector<int64_t> column(shape);
  column.push_back(1);
  SmallVector<Value> components;
  for (int64_t i = 0; i < rank; ++i) {
    Value component =
        i == axis ? indices : emit.iota(shape, i, emit.integerType(64));
    components.push_back(emit.reshape(component, column));
  }
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  auto numbers = stablehlo::GatherDimensionNumbersAttr::get(
      getContext(), {}, all, {}, {}, all, rank);
  SmallVector<int64_t> sizes(rank, 1);
  return SmallVector<Value>{emit.make<stablehlo::GatherOp>(
      getOperand(), emit.concatenate(components, rank), numbers, sizes,
      /*indices_are_sorted=*/false)};
}

/// Which element of a dimension of \p size stands at \p place of the padded
/// one.
static int64_t padSource(StringRef mode, int64_t place, int64_t size) {
  if (mode == "edge")
    return std::clamp<int64_t>(place, 0, size - 1);
  auto modulo = [](int64_t a, int64_t b) { return ((a % b) + b) % b; };
  if (mode == "wrap")
    return modulo(place, size);
  if (size == 1)
    return 0;
  int64_t period = 2 * (size - 1);
  int64_t inside = modulo(place, period);
  return inside < size ? inside : period - inside;
}

FailureOr<SmallVector<Value>> PadModeOp::decompose(OpBuilder &builder) {
  if (!isStatic(*this))
    return failure();
  Emit emit(builder, getLoc());
  Value x = getOperand();
  for (auto [axis, low] : llvm::enumerate(getLow())) {
    int64_t high = getHigh()[axis];
    if (low == 0 && high == 0)
      continue;
    int64_t size = tensorOf(x).getDimSize(axis);
    SmallVector<int64_t> sources;
    for (int64_t i = -low; i < size + high; ++i)
      sources.push_back(padSource(getMode(), i, size));
    x = emit.take(x, emit.integers(sources), axis);
  }
  return SmallVector<Value>{x};
}

FailureOr<SmallVector<Value>> OneHotOp::decompose(OpBuilder &builder) {
  if (!isStatic(*this))
    return failure();
  Emit emit(builder, getLoc());
  ArrayRef<int64_t> shape = tensorOf(getResult()).getShape();
  int64_t axis = getAxis();
  Value indices = getIndices();
  Type wide = isa<FloatType>(tensorOf(indices).getElementType())
                  ? tensorOf(indices).getElementType()
                  : emit.integerType(64);
  indices = emit.convert(indices, wide);
  Value size = emit.splat(shape[axis], tensorOf(indices));
  indices = emit.select(emit.compare(Direction::LT, indices, 0.0),
                        emit.add(indices, size), indices);
  SmallVector<int64_t> dims;
  for (int64_t i = 0; i < tensorOf(indices).getRank(); ++i)
    dims.push_back(i < axis ? i : i + 1);
  Value hit = emit.compare(Direction::EQ, emit.broadcast(indices, dims, shape),
                           emit.iota(shape, axis, wide));
  auto value = [&](int64_t index) {
    Value one = emit.reshape(emit.slice(getValues(), 0, index, index + 1), {});
    return emit.broadcast(one, {}, shape);
  };
  return SmallVector<Value>{emit.select(hit, value(1), value(0))};
}

/// How many there are is known only when run.
FailureOr<SmallVector<Value>> NonZeroOp::decompose(OpBuilder &) {
  return failure();
}

FailureOr<SmallVector<Value>> CumulativeSumOp::decompose(OpBuilder &builder) {
  if (!isStatic(*this))
    return failure();
  Emit emit(builder, getLoc());
  Value x = getOperand();
  auto type = tensorOf(x);
  int64_t axis = getAxis(), size = type.getDimSize(axis);
  if (size == 0)
    return SmallVector<Value>{x};
  // A window of the whole size that ends (or starts) at each element; without
  // the element itself it stands one further.
  SmallVector<stablehlo::WindowDimension> window(type.getRank());
  window[axis].size = size;
  int64_t shift = getExclusive() ? 1 : 0;
  window[axis].paddingLow = getReverse() ? -shift : size - 1 + shift;
  window[axis].paddingHigh = getReverse() ? size - 1 + shift : -shift;
  Value zero = emit.scalar(0, type.getElementType());
  return SmallVector<Value>{
      emit.reduceWindow<stablehlo::AddOp>(x, zero, window)};
}

/// The index of the greatest (or least) element; of equal ones the first or the
/// last.
static Value argExtreme(Emit &emit, Value x, int64_t axis, bool greatest,
                        bool last) {
  auto type = tensorOf(x);
  Type index = emit.integerType(64);
  Value positions = emit.iota(type.getShape(), axis, index);
  Type element = type.getElementType();
  Value worst = greatest ? emit.lowest(element) : emit.greatest(element);
  Value none = last ? emit.scalar(-1, index) : emit.greatest(index);
  auto better = [&](Emit &emit, ValueRange a) {
    Value wins =
        emit.compare(greatest ? Direction::GT : Direction::LT, a[0], a[2]);
    Value equal = emit.compare(Direction::EQ, a[0], a[2]);
    Value before =
        emit.compare(last ? Direction::GT : Direction::LT, a[1], a[3]);
    Value first = emit.make<stablehlo::OrOp>(
        wins, emit.make<stablehlo::AndOp>(equal, before));
    return SmallVector<Value>{emit.select(first, a[0], a[2]),
                              emit.select(first, a[1], a[3])};
  };
  return emit.reduce(ValueRange{x, positions}, ValueRange{worst, none}, {axis},
                     better)[1];
}

template <typename Op>
static FailureOr<SmallVector<Value>> decomposeArg(Op op, OpBuilder &builder,
                                                  bool greatest) {
  if (!isStatic(op))
    return failure();
  Emit emit(builder, op.getLoc());
  Value result = argExtreme(emit, op.getOperand(), op.getAxis(), greatest,
                            op.getSelectLast());
  return SmallVector<Value>{
      emit.reshape(result, tensorOf(op.getResult()).getShape())};
}
FailureOr<SmallVector<Value>> ArgMaxOp::decompose(OpBuilder &builder) {
  return decomposeArg(*this, builder, /*greatest=*/true);
}
FailureOr<SmallVector<Value>> ArgMinOp::decompose(OpBuilder &builder) {
  return decomposeArg(*this, builder, /*greatest=*/false);
}

FailureOr<SmallVector<Value>> HardmaxOp::decompose(OpBuilder &builder) {
  if (!isStatic(*this))
    return failure();
  Emit emit(builder, getLoc());
  Value x = getOperand();
  int64_t axis = getAxis();
  ArrayRef<int64_t> shape = tensorOf(x).getShape();
  Value first = argExtreme(emit, x, axis, /*greatest=*/true, /*last=*/false);
  Value hit = emit.compare(Direction::EQ, emit.restore(first, {axis}, shape),
                           emit.iota(shape, axis, emit.integerType(64)));
  return SmallVector<Value>{emit.convert(hit, tensorOf(x).getElementType())};
}

FailureOr<SmallVector<Value>> TopKOp::decompose(OpBuilder &builder) {
  if (!isStatic(*this))
    return failure();
  Emit emit(builder, getLoc());
  auto type = tensorOf(getOperand());
  int64_t axis = getAxis();
  Value positions = emit.iota(type.getShape(), axis, emit.integerType(64));
  SmallVector<Value> inputs = {getOperand(), positions};
  SmallVector<Type> types = {type, positions.getType()};
  auto sort = builder.create<stablehlo::SortOp>(
      getLoc(), types, inputs, static_cast<uint64_t>(axis), /*is_stable=*/true);
  SmallVector<Type> arguments = {types[0], types[0], types[1], types[1]};
  Direction direction = getLargest() ? Direction::GT : Direction::LT;
  emit.fill(sort.getComparator(), arguments, [&](Emit &emit, ValueRange a) {
    return SmallVector<Value>{emit.compare(direction, a[0], a[1])};
  });
  int64_t k = getK();
  return SmallVector<Value>{emit.slice(sort.getResult(0), axis, 0, k),
                            emit.slice(sort.getResult(1), axis, 0, k)};
}

} // namespace sinter::nn
