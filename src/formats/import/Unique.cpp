// Distinct elements, or distinct slices along an axis.

#include "formats/import/Unique.h"

#include "formats/import/Building.h"
#include "formats/import/TextBuilding.h"
#include "runtime/Program.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::formats {

/// Maximum number of elements of a slice, which are compared one by one.
static constexpr int64_t mostKeys = 1024;

/// Fills the comparator of a sort: the first pair of keys that differ decides.
/// Without NaN `lhs < rhs` orders totally; a NaN counts as greater than all.
static void fillLess(OpBuilder &builder, Location loc, Block &block,
                     int64_t keys) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&block);
  auto compare = [&](Value a, Value b, ComparisonDirection direction) -> Value {
    return builder.create<stablehlo::CompareOp>(
        loc, RankedTensorType::get({}, builder.getI1Type()), a, b, direction,
        stablehlo::ComparisonTypeAttr());
  };
  auto isNumber = [&](Value a) {
    return compare(a, a, ComparisonDirection::EQ);
  };
  auto make = [&]<typename Op>(Value a, Value b) -> Value {
    return builder.create<Op>(loc, a.getType(), a, b);
  };
  Value less, same;
  for (int64_t i = 0; i < keys; ++i) {
    Value a = block.getArgument(2 * i), b = block.getArgument(2 * i + 1);
    Value here = compare(a, b, ComparisonDirection::LT);
    if (isa<FloatType>(getElementTypeOrSelf(a))) {
      Value aFirst =
          builder.create<stablehlo::NotOp>(loc, here.getType(), isNumber(b));
      aFirst = make.operator()<stablehlo::AndOp>(isNumber(a), aFirst);
      here = make.operator()<stablehlo::OrOp>(here, aFirst);
    }
    less = less ? make.operator()<stablehlo::OrOp>(
                      less, make.operator()<stablehlo::AndOp>(same, here))
                : here;
    Value equal = compare(a, b, ComparisonDirection::EQ);
    same = same ? make.operator()<stablehlo::AndOp>(same, equal) : equal;
  }
  builder.create<stablehlo::ReturnOp>(loc, ValueRange(less));
}

/// The keys [n] sorted together, and the index of each before. The sort is
/// stable.
static std::optional<Values> sortByKeys(GraphBuilder &builder,
                                        ArrayRef<Value> keys) {
  Values inputs(keys.begin(), keys.end());
  inputs.push_back(iota(builder, builder.dims(keys.front()), 0, builder.i64()));
  if (llvm::is_contained(inputs, Value()))
    return std::nullopt;
  OperationState state(builder.location(),
                       stablehlo::SortOp::getOperationName());
  stablehlo::SortOp::build(builder.builder(), state,
                           TypeRange(ValueRange(inputs)), inputs,
                           /*dimension=*/0, /*is_stable=*/true);
  Region &region = *state.regions.front();
  if (region.empty())
    region.emplaceBlock();
  Block &block = region.front();
  for (Value input : inputs) {
    Type scalar = RankedTensorType::get({}, builder.element(input));
    block.addArguments({scalar, scalar},
                       {builder.location(), builder.location()});
  }
  fillLess(builder.builder(), builder.location(), block, keys.size());
  Operation *op = builder.create(state);
  if (!op)
    return std::nullopt;
  return Values(op->getResults());
}

/// Scatters \p updates [n] to the indices \p at [n] of a vector of \p filler.
static Value put(GraphBuilder &builder, Value updates, Value at, double filler,
                 Combine combine) {
  if (!updates || !at)
    return {};
  auto numbers = stablehlo::ScatterDimensionNumbersAttr::get(
      builder.context(), {}, {0}, {}, {}, {0}, 1);
  return scatter(
      builder,
      builder.broadcastInDim(builder.scalar(builder.element(updates), filler),
                             builder.dims(updates), {}),
      builder.unsqueeze(at, {1}), updates, numbers, combine);
}

static Value take(GraphBuilder &builder, Value from, Value at) {
  return builder.op<nn::TakeOp>(from, at, uint64_t(0));
}

/// The inclusive prefix sum of the flags, minus one.
static Value rankOf(GraphBuilder &builder, Value flags) {
  Value count = builder.op<nn::CumulativeSumOp>(
      builder.cast(flags, builder.i64()), uint64_t(0), false, false);
  return builder.binary<stablehlo::SubtractOp>(count, builder.one(count, 1));
}

/// The sort keys: one vector [n] for each element of a slice.
static std::optional<Values> keysOf(GraphBuilder &builder, Value rows) {
  const int64_t width = builder.size(rows, 1);
  if (width > mostKeys)
    return builder.unsupported("slices of more than " + Twine(mostKeys) +
                               " elements");
  Values keys;
  for (int64_t i = 0; i < width; ++i) {
    Value key = builder.squeeze(builder.sliceAxis(rows, 1, i, i + 1), {1});
    // Zeros of either sign are equal.
    if (key && builder.isFloat(key))
      key = select(
          builder,
          builder.compare(key, builder.one(key, 0), ComparisonDirection::EQ),
          builder.one(key, 0), key);
    keys.push_back(key);
  }
  return keys;
}

/// Which of the sorted keys differ from the one before them.
static Value startsOf(GraphBuilder &builder, ArrayRef<Value> sorted) {
  const int64_t n = builder.size(sorted.front(), 0);
  const bool isDynamic = ShapedType::isDynamic(n);
  // If the count is dynamic, compare each key with the one at the index before.
  Value positions, before;
  if (isDynamic) {
    positions = iota(builder, builder.dims(sorted.front()), 0, builder.i64());
    before = builder.binary<stablehlo::SubtractOp>(positions,
                                                   builder.one(positions, 1));
    before = builder.binary<stablehlo::MaxOp>(before, builder.one(before, 0));
  }
  Value differs;
  for (Value key : sorted) {
    Value here = isDynamic
                     ? builder.compare(key, take(builder, key, before),
                                       ComparisonDirection::NE)
                     : builder.compare(builder.sliceAxis(key, 0, 1, n),
                                       builder.sliceAxis(key, 0, 0, n - 1),
                                       ComparisonDirection::NE);
    differs = differs ? builder.op<stablehlo::OrOp>(differs, here) : here;
  }
  if (isDynamic)
    return builder.op<stablehlo::OrOp>(
        differs, builder.compare(positions, builder.one(positions, 0),
                                 ComparisonDirection::EQ));
  Value first = builder.splat(builder.i1(), 1, {1});
  return n == 1 ? first : builder.concatenate(ValueRange({first, differs}), 0);
}

/// \p x as a vector of its elements.
static Value flattened(GraphBuilder &builder, Value x) {
  if (builder.rank(x) == 1)
    return x;
  if (builder.isStatic(x))
    return builder.reshape(x, Ints{builder.type(x).getNumElements()});
  Value count = builder.scalar(builder.i64(), 1);
  for (const Dim &dim : builder.dims(x))
    count = builder.binary<stablehlo::MulOp>(
        count, sizeScalar(builder, dim, builder.i64()));
  count = builder.reshape(count, Ints{1});
  return count ? builder.reshape(x, Dims{Dim(ShapedType::kDynamic, count)})
               : Value();
}

/// The elements are sorted; where an element differs from the one before it a
/// group starts. Groups are numbered in sorted order or, unless \p isSorted, in
/// the order of their first elements' indices.
std::optional<UniqueSlices> uniqueSlices(GraphBuilder &builder, Value x,
                                         std::optional<int64_t> along,
                                         bool isSorted) {
  if (!x)
    return std::nullopt;
  auto given = builder.axis(along.value_or(0), along ? builder.rank(x) : 1);
  if (!given)
    return std::nullopt;
  const int64_t axis = *given;
  if (!along)
    x = flattened(builder, x);
  if (!x)
    return std::nullopt;
  Ints order{axis};
  int64_t width = 1;
  for (int64_t i = 0; i < builder.rank(x); ++i) {
    const int64_t size = builder.size(x, i);
    if (size == 0)
      return builder.unsupported("an input without elements");
    if (i == axis)
      continue;
    if (ShapedType::isDynamic(size))
      return builder.unknown("slices of unknown size");
    order.push_back(i);
    if (llvm::MulOverflow(width, size, width))
      return builder.fail("slices are too large");
  }
  // Strings are sorted by their ranks.
  Value ordered = areStrings(builder, x) ? rankOfStrings(builder, x) : x;
  Value rows = builder.reshape(builder.transpose(ordered, order),
                               Dims{builder.dim(x, axis), Dim(width)});
  if (!rows)
    return std::nullopt;
  auto keys = keysOf(builder, rows);
  auto sorted = keys ? sortByKeys(builder, *keys) : std::nullopt;
  if (!sorted)
    return std::nullopt;
  Value from = sorted->pop_back_val();
  Value starts = startsOf(builder, *sorted);
  Value group = rankOf(builder, starts);
  // Each group's first element: equal ones kept their order. There are no more
  // than this.
  constexpr double beyond = static_cast<double>(mostTensorBytes);
  Value first = put(builder, from, group, beyond, Combine::Min);
  Value inverse = put(builder, group, from, 0, Combine::Replace);
  Value found = starts;
  if (!isSorted) {
    found = put(builder, builder.cast(starts, builder.i64()), from, 0,
                Combine::Replace);
    inverse =
        take(builder, rankOf(builder, found), take(builder, first, inverse));
  }
  if (!found)
    return std::nullopt;
  Value positions = builder.squeeze(
      builder.typed<nn::NonZeroOp>(
          builder.tensorType({1, ShapedType::kDynamic}, builder.i64()), found),
      {0});
  Value indices = isSorted ? take(builder, from, positions) : positions;
  Value counts = put(builder,
                     builder.broadcastInDim(builder.scalar(builder.i64(), 1),
                                            builder.dims(inverse), {}),
                     inverse, 0, Combine::Add);
  counts = take(builder, counts, take(builder, inverse, indices));
  return UniqueSlices{builder.op<nn::TakeOp>(x, indices, uint64_t(axis)),
                      indices, inverse, counts};
}

} // namespace sinter::formats
