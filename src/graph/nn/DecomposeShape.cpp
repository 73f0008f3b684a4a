// Shapes, indexing and ordering, built from stablehlo.

#include "graph/nn/SearchOrder.h"
#include "graph/nn/Wide.h"

using namespace mlir;

namespace sinter::nn {

using Direction = stablehlo::ComparisonDirection;

/// Negative indices count from the end of a dimension of \p size elements.
static Value wrapNegative(TensorBuilder &emit, Value indices,
                          const Size &size) {
  Type element = tensorOf(indices).getElementType();
  if (element.isUnsignedInteger())
    return indices;
  // A narrow index type may not hold the size.
  Type index = emit.integerType(64);
  Value wide = emit.convert(indices, index);
  Value whole = emit.spreadLike(emit.number(size, index), wide);
  return emit.select(emit.compare(Direction::LT, wide, 0.0),
                     emit.add(wide, whole), wide);
}

FailureOr<SmallVector<Value>> ShapeOp::decompose(OpBuilder &builder) {
  TensorBuilder emit(builder, getLoc());
  if (isStatic(*this))
    return SmallVector<Value>{emit.integers(tensorOf(getOperand()).getShape())};
  return SmallVector<Value>{
      emit.convert(emit.shapeOf(getOperand()), emit.integerType(64))};
}

/// The size of dimension \p dimension of tensors that are broadcast together,
/// as a tensor<1xi32>: of two dynamic sizes the one that is not 1.
static Value broadcastSize(TensorBuilder &emit, ValueRange values,
                           RankedTensorType result, int64_t dimension) {
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

/// The same where the types determine it.
static int64_t knownSize(ValueRange values, RankedTensorType result,
                         int64_t dimension) {
  int64_t joined = 1;
  for (Value value : values) {
    int64_t missing = result.getRank() - tensorOf(value).getRank();
    if (joined == 1 && dimension >= missing)
      joined = tensorOf(value).getDimSize(dimension - missing);
  }
  return joined;
}

namespace {
/// A value, and the dimensions of another that its own become.
struct Placed {
  Value value;
  SmallVector<int64_t> dimensions;
};
} // namespace

/// \p operand, aligned with the last of \p rank dimensions, without dimensions
/// of size 1 that a reshape added: a broadcast adds them anyway.
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
  TensorBuilder emit(builder, getLoc());
  auto type = tensorOf(getResult());
  if (isStatic(*this))
    return SmallVector<Value>{
        emit.broadcastTrailing(getOperand(), type.getShape())};
  SmallVector<Value> sizes;
  for (auto [dimension, size] : llvm::enumerate(type.getShape())) {
    Value each = ShapedType::isDynamic(size)
                     ? broadcastSize(emit, getOperands(), type, dimension)
                     : emit.knownSize(size);
    // The declared type may have fewer static sizes than the operands.
    sizes.push_back(
        each ? each
             : emit.knownSize(knownSize(getOperands(), type, dimension)));
  }
  const Placed placed = withoutUnits(getOperand(), type.getRank());
  return SmallVector<Value>{emit.make<stablehlo::DynamicBroadcastInDimOp>(
      type, placed.value, emit.concatenate(sizes, 0),
      builder.getDenseI64ArrayAttr(placed.dimensions), DenseI64ArrayAttr(),
      DenseI64ArrayAttr())};
}

FailureOr<SmallVector<Value>> TakeOp::decompose(OpBuilder &builder) {
  TensorBuilder emit(builder, getLoc());
  int64_t axis = getAxis();
  // Then there is no index, but stablehlo.gather would still need an element.
  if (tensorOf(getOperand()).getDimSize(axis) == 0) {
    Sizes sizes = emit.sizes(getOperand()), taken = emit.sizes(getIndices());
    sizes.erase(sizes.begin() + axis);
    sizes.insert(sizes.begin() + axis, taken.begin(), taken.end());
    return SmallVector<Value>{
        emit.splat(0, sizes, tensorOf(getResult()).getElementType())};
  }
  Value indices =
      wrapNegative(emit, getIndices(), Size::of(getOperand(), axis));
  return SmallVector<Value>{emit.take(getOperand(), indices, axis)};
}

FailureOr<SmallVector<Value>> TakeAlongOp::decompose(OpBuilder &builder) {
  TensorBuilder emit(builder, getLoc());
  int64_t axis = getAxis(), rank = tensorOf(getOperand()).getRank();
  if (llvm::is_contained(tensorOf(getOperand()).getShape(), 0))
    return SmallVector<Value>{emit.splat(
        0, emit.sizes(getIndices()), tensorOf(getResult()).getElementType())};
  Type index = emit.integerType(64);
  Value indices = emit.convert(
      wrapNegative(emit, getIndices(), Size::of(getOperand(), axis)), index);
  Sizes shape = emit.sizes(getIndices()), column = shape;
  column.push_back(1);
  SmallVector<Value> components;
  for (int64_t i = 0; i < rank; ++i)
    components.push_back(
        emit.reshape(i == axis ? indices : emit.iota(shape, i, index), column));
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  auto numbers = stablehlo::GatherDimensionNumbersAttr::get(
      getContext(), {}, all, {}, {}, all, rank);
  SmallVector<int64_t> sizes(rank, 1);
  return SmallVector<Value>{emit.make<stablehlo::GatherOp>(
      getOperand(), emit.concatenate(components, rank), numbers, sizes,
      /*indices_are_sorted=*/false)};
}

/// The element of a dimension of \p size that \p place of the padded dimension
/// copies.
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

/// The same for all positions from -low to size + high, with dynamic sizes.
static Value dynamicPadSources(TensorBuilder &emit, StringRef mode,
                               const Size &size, const Size &low,
                               const Size &high) {
  Type index = emit.integerType(64);
  Sizes line = {emit.sum(emit.sum(size, low), high)};
  auto spread = [&](Value scalar) { return emit.broadcast(scalar, {}, line); };
  auto modulo = [&](Value a, Value b) {
    auto remainder = [&](Value x) { return emit.make<stablehlo::RemOp>(x, b); };
    return remainder(emit.add(remainder(a), b));
  };
  Value place =
      emit.sub(emit.iota(line, 0, index), spread(emit.number(low, index)));
  Value one = spread(emit.scalar(1, index));
  Value count = spread(emit.number(size, index)), last = emit.sub(count, one);
  if (mode == "edge")
    return emit.min(emit.max(place, emit.sub(one, one)), last);
  if (mode == "wrap")
    return modulo(place, count);
  // A single element is repeated: a period of 1.
  Value period = emit.max(emit.add(last, last), one);
  Value inside = modulo(place, period);
  return emit.select(emit.compare(Direction::LT, inside, count), inside,
                     emit.sub(period, inside));
}

Value padDynamic(TensorBuilder &emit, Value x, StringRef mode, int64_t axis,
                 const Size &low, const Size &high) {
  return emit.take(
      x, dynamicPadSources(emit, mode, Size::of(x, axis), low, high), axis);
}

int64_t PadModeOp::leastSize(size_t dimension) {
  const int64_t most = std::max(getLow()[dimension], getHigh()[dimension]);
  if (most <= 0)
    return 0;
  constexpr int64_t longest = std::numeric_limits<int64_t>::max() - 1;
  return getMode() == "edge"   ? 1
         : getMode() == "wrap" ? most
                               : std::min(most, longest) + 1;
}

FailureOr<SmallVector<Value>> PadModeOp::decompose(OpBuilder &builder) {
  TensorBuilder emit(builder, getLoc());
  Value x = getOperand();
  for (auto [axis, low] : llvm::enumerate(getLow())) {
    int64_t high = getHigh()[axis];
    if (low == 0 && high == 0)
      continue;
    if (tensorOf(x).isDynamicDim(axis)) {
      x = padDynamic(emit, x, getMode(), axis, low, high);
      continue;
    }
    int64_t size = tensorOf(x).getDimSize(axis);
    SmallVector<int64_t> sources;
    for (int64_t i = -low; i < size + high; ++i)
      sources.push_back(padSource(getMode(), i, size));
    x = emit.take(x, emit.integers(sources), axis);
  }
  return SmallVector<Value>{x};
}

FailureOr<SmallVector<Value>> OneHotOp::decompose(OpBuilder &builder) {
  if (auto numbers = decomposeDequantized(*this, builder))
    return *numbers;
  TensorBuilder emit(builder, getLoc());
  int64_t axis = getAxis();
  // The depth is only in the result type.
  if (tensorOf(getResult()).isDynamicDim(axis))
    return failure();
  Value indices = getIndices();
  Sizes shape = emit.sizes(indices);
  const int64_t depth = tensorOf(getResult()).getDimSize(axis);
  shape.insert(shape.begin() + axis, depth);
  Type wide = isa<FloatType>(tensorOf(indices).getElementType())
                  ? tensorOf(indices).getElementType()
                  : emit.integerType(64);
  indices = emit.convert(indices, wide);
  Value size = emit.splatLike(static_cast<double>(depth), indices);
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

/// Sorts the indices of all elements so that those of non-zero elements come
/// first, and slices as many as there are.
FailureOr<SmallVector<Value>> NonZeroOp::decompose(OpBuilder &builder) {
  if (auto numbers = decomposeDequantized(*this, builder))
    return *numbers;
  TensorBuilder emit(builder, getLoc());
  Value x = getOperand();
  Sizes sizes = emit.sizes(x);
  const int64_t rank = sizes.size();
  Type index = emit.integerType(64);
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  Sizes flat = {emit.count(sizes, all)};
  Value isSet = emit.compare(Direction::NE, x, 0.0);
  Value count = emit.sum(emit.convert(isSet, emit.integerType(32)), all);
  Value isUnset = emit.reshape(emit.make<stablehlo::NotOp>(isSet), flat);
  SmallVector<Value> inputs = {isUnset};
  for (int64_t i = 0; i < rank; ++i)
    inputs.push_back(emit.reshape(emit.iota(sizes, i, index), flat));
  SmallVector<Type> types, arguments;
  for (Value each : inputs) {
    types.push_back(each.getType());
    arguments.append(2, each.getType());
  }
  auto sort = builder.create<stablehlo::SortOp>(
      getLoc(), types, inputs, uint64_t(0), /*is_stable=*/true);
  emit.fill(
      sort.getComparator(), arguments, [&](TensorBuilder &emit, ValueRange a) {
        return SmallVector<Value>{emit.compare(Direction::LT, a[0], a[1])};
      });
  Sizes row = {1, flat[0]};
  SmallVector<Value> rows;
  for (Value each : sort.getResults().drop_front())
    rows.push_back(emit.reshape(each, row));
  if (rows.empty())
    rows.push_back(emit.broadcast(emit.scalar(0, index), {}, {0, 1}));
  return SmallVector<Value>{
      emit.slice(emit.concatenate(rows, 0), 1, 0,
                 Size::computed(emit.reshape(count, {1})))};
}

/// A loop along a dynamic axis: a window needs a static size.
static Value cumulativeSumByLoop(TensorBuilder &emit, Value x, int64_t axis,
                                 bool isExclusive, bool isReverse) {
  OpBuilder &builder = emit.builder;
  auto type = tensorOf(x);
  Sizes sizes = emit.sizes(x), slab = sizes;
  slab[axis] = 1;
  Type index = emit.integerType(32);
  Value steps = emit.reshape(emit.extentOf(sizes[axis]), {});
  Value zero = emit.scalar(0, index);
  Value none = emit.splat(0, slab, type.getElementType());
  SmallVector<Value> carried = {zero, none,
                                emit.splat(0, sizes, type.getElementType())};
  SmallVector<Type> types;
  for (Value value : carried)
    types.push_back(value.getType());
  // Loop invariants.
  Value spans = emit.vectorOf(slab);
  Value one = emit.scalar(1, index), last = emit.sub(steps, one);
  auto loop = builder.create<stablehlo::WhileOp>(emit.location, types, carried);
  SmallVector<Location> locations(types.size(), emit.location);
  OpBuilder::InsertionGuard guard(builder);
  Block *condition = builder.createBlock(&loop.getCond(), {}, types, locations);
  builder.create<stablehlo::ReturnOp>(
      emit.location,
      emit.compare(Direction::LT, condition->getArgument(0), steps));
  Block *body = builder.createBlock(&loop.getBody(), {}, types, locations);
  Value count = body->getArgument(0), before = body->getArgument(1);
  Value place = isReverse ? emit.sub(last, count) : count;
  Value unit = emit.reshape(place, {1});
  SmallVector<Value> starts(type.getRank(), emit.knownSize(0));
  starts[axis] = unit;
  Value from = emit.concatenate(starts, 0);
  Value now = emit.make<stablehlo::RealDynamicSliceOp>(
      none.getType(), x, from, emit.add(from, spans),
      emit.vectorOf(Sizes(type.getRank(), 1)));
  Value sum = emit.add(before, now);
  SmallVector<Value> places(type.getRank(), zero);
  places[axis] = place;
  Value all = emit.make<stablehlo::DynamicUpdateSliceOp>(
      body->getArgument(2), isExclusive ? before : sum, places);
  builder.create<stablehlo::ReturnOp>(
      emit.location, ValueRange{emit.add(count, one), sum, all});
  return loop.getResult(2);
}

FailureOr<SmallVector<Value>> CumulativeSumOp::decompose(OpBuilder &builder) {
  if (auto numbers = decomposeDequantized(*this, builder))
    return *numbers;
  TensorBuilder emit(builder, getLoc());
  Value x = getOperand();
  auto type = tensorOf(x);
  const auto axis = static_cast<int64_t>(getAxis());
  const Dim size = dimsOf(type)[axis];
  if (size == 0)
    return SmallVector<Value>{x};
  if (size.isUnknown())
    return SmallVector<Value>{
        cumulativeSumByLoop(emit, x, axis, getExclusive(), getReverse())};
  // A window of the whole size that ends (or starts) at each element; an
  // exclusive one is shifted by one.
  SmallVector<stablehlo::WindowDimension> window(type.getRank());
  window[axis] = stablehlo::scanWindow(size, {0, getReverse(), getExclusive()});
  Value zero = emit.scalar(0, type.getElementType());
  return SmallVector<Value>{
      emit.reduceWindow<stablehlo::AddOp>(x, zero, window)};
}

/// The index of the maximum (or minimum), NaN before any other value; the first
/// or the last of equal ones.
static Value argMinMax(TensorBuilder &emit, Value x, int64_t axis,
                       bool greatest, bool last) {
  Type index = emit.integerType(64);
  Value positions = emit.iota(emit.sizes(x), axis, index);
  Type element = tensorOf(x).getElementType();
  Value worst = greatest ? emit.lowest(element) : emit.greatest(element);
  Value none = last ? emit.scalar(-1, index) : emit.greatest(index);
  auto better = [&](TensorBuilder &emit, ValueRange a) {
    const auto [wins, equal] = SearchOrder::of(emit, a[0], a[2], greatest);
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
  TensorBuilder emit(builder, op.getLoc());
  Value result = argMinMax(emit, op.getOperand(), op.getAxis(), greatest,
                           op.getSelectLast());
  if (!op.getKeepDimension())
    return SmallVector<Value>{result};
  Sizes kept = emit.sizes(op.getOperand());
  kept[op.getAxis()] = 1;
  return SmallVector<Value>{emit.reshape(result, kept)};
}
FailureOr<SmallVector<Value>> ArgMaxOp::decompose(OpBuilder &builder) {
  if (auto numbers = decomposeDequantized(*this, builder))
    return *numbers;
  return decomposeArg(*this, builder, /*greatest=*/true);
}
FailureOr<SmallVector<Value>> ArgMinOp::decompose(OpBuilder &builder) {
  if (auto numbers = decomposeDequantized(*this, builder))
    return *numbers;
  return decomposeArg(*this, builder, /*greatest=*/false);
}

FailureOr<SmallVector<Value>> HardmaxOp::decompose(OpBuilder &builder) {
  if (auto numbers = decomposeDequantized(*this, builder))
    return *numbers;
  TensorBuilder emit(builder, getLoc());
  Value x = getOperand();
  int64_t axis = getAxis();
  Sizes shape = emit.sizes(x);
  Value first = argMinMax(emit, x, axis, /*greatest=*/true, /*last=*/false);
  Value hit = emit.compare(Direction::EQ, emit.restore(first, {axis}, shape),
                           emit.iota(shape, axis, emit.integerType(64)));
  return SmallVector<Value>{emit.convert(hit, tensorOf(x).getElementType())};
}

std::pair<Value, Value> takeTop(TensorBuilder &emit, Value x, int64_t axis,
                                const Size &k, bool isLargest) {
  Value positions = emit.iota(emit.sizes(x), axis, emit.integerType(64));
  SmallVector<Value> inputs = {x, positions};
  SmallVector<Type> types = {x.getType(), positions.getType()};
  auto sort = emit.builder.create<stablehlo::SortOp>(
      emit.location, types, inputs, static_cast<uint64_t>(axis),
      /*is_stable=*/true);
  SmallVector<Type> arguments = {types[0], types[0], types[1], types[1]};
  // NaN is the greatest, and zeros are equal.
  auto key = [](TensorBuilder &emit, Value x) {
    Value isNone = isNan(emit, x);
    if (!isNone)
      return x;
    Value plain = emit.select(emit.compare(Direction::EQ, x, 0.0),
                              emit.splatLike(0, x), x);
    return emit.select(
        isNone, emit.splatLike(std::numeric_limits<double>::quiet_NaN(), x),
        plain);
  };
  stablehlo::ComparisonTypeAttr order;
  if (isa<FloatType>(tensorOf(x).getElementType()))
    order = stablehlo::ComparisonTypeAttr::get(
        emit.builder.getContext(), stablehlo::ComparisonType::TOTALORDER);
  emit.fill(sort.getComparator(), arguments,
            [&](TensorBuilder &emit, ValueRange a) {
              return SmallVector<Value>{emit.make<stablehlo::CompareOp>(
                  key(emit, a[0]), key(emit, a[1]),
                  isLargest ? Direction::GT : Direction::LT, order)};
            });
  return {emit.slice(sort.getResult(0), axis, 0, k),
          emit.slice(sort.getResult(1), axis, 0, k)};
}

FailureOr<SmallVector<Value>> TopKOp::decompose(OpBuilder &builder) {
  if (auto numbers = decomposeDequantized(*this, builder))
    return *numbers;
  TensorBuilder emit(builder, getLoc());
  auto [values, places] = takeTop(emit, getOperand(), getAxis(),
                                  static_cast<int64_t>(getK()), getLargest());
  return SmallVector<Value>{values, places};
}

} // namespace sinter::nn
