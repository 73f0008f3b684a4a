//===- ComputedSizes.cpp - drawing sizes that follow from values ----------===//
//
// Some elements along a dimension are chosen by flags, a few operations work on
// as many as there are, and what they give gets a known size again:
//
//   i = non_zero(flags); y = take(x, i); y = sort(y); ...; pad(y) : as large
//
//===----------------------------------------------------------------------===//

#include "graph/Types.h"
#include "graph/nn/TensorBuilder.h"
#include "random/Picked.h"

using namespace mlir;

namespace sinter {

namespace {

/// What was chosen of `x`, as it is computed with.
struct Chosen {
  Draft &draft;
  nn::TensorBuilder emit;
  Picked x;
  int64_t dim;
  /// Where its elements stood, and how many there are: ?xi64, tensor<1xi32>.
  Value places, count;
  Value value;
  /// How many times as many elements there are now.
  int64_t times = 1;

  int64_t anyDim() { return draft.dice.between(0, x.rank() - 1); }
  Type element() { return x.type.getElementType(); }
  bool isReal() { return !isa<ComplexType>(element()); }
};

/// Without a total order NaNs stand anywhere.
void sortAlong(Chosen &c) {
  auto sort = c.draft.builder.create<stablehlo::SortOp>(
      c.draft.location, TypeRange(c.value.getType()), ValueRange(c.value),
      static_cast<uint64_t>(c.anyDim()), /*is_stable=*/true);
  Type scalar = RankedTensorType::get({}, c.element());
  const auto kind = isa<FloatType>(c.element())
                        ? stablehlo::ComparisonType::TOTALORDER
                        : stablehlo::ComparisonType::NOTYPE;
  c.emit.fill(
      sort.getComparator(), {scalar, scalar},
      [&](nn::TensorBuilder &emit, ValueRange a) {
        auto type = RankedTensorType::get({}, emit.integerType(1));
        auto attribute = kind == stablehlo::ComparisonType::NOTYPE
                             ? stablehlo::ComparisonTypeAttr()
                             : stablehlo::ComparisonTypeAttr::get(
                                   emit.builder.getContext(), kind);
        return SmallVector<Value>{emit.make<stablehlo::CompareOp>(
            type, a[0], a[1], stablehlo::ComparisonDirection::GT, attribute)};
      });
  c.value = sort.getResult(0);
}

/// The greatest of two neighbours.
void windowAlong(Chosen &c) {
  SmallVector<stablehlo::WindowDimension> window(c.x.rank());
  stablehlo::WindowDimension &here = window[c.anyDim()];
  here.size = 2;
  here.paddingLow = 1;
  c.value = c.emit.reduceWindow<stablehlo::MaxOp>(
      c.value, c.emit.lowest(c.element()), window);
}

void step(Chosen &c) {
  switch (c.draft.dice.between(0, 5)) {
  case 0:
    if (c.isReal())
      sortAlong(c);
    break;
  case 1:
    c.value = c.emit.make<stablehlo::ReverseOp>(c.value,
                                                ArrayRef<int64_t>(c.anyDim()));
    break;
  case 2:
    c.value = c.emit.add(c.value, c.value);
    break;
  case 3:
    if (c.times == 1) {
      c.value = c.emit.concatenate({c.value, c.value}, c.dim);
      c.times = 2;
    }
    break;
  case 4:
    if (c.isReal())
      windowAlong(c);
    break;
  default:
    if (isa<IntegerType>(c.element()) && !c.element().isInteger(1))
      c.value = c.emit.make<nn::CumulativeSumOp>(
          c.value, static_cast<uint64_t>(c.anyDim()), c.draft.dice.oneIn(2),
          c.draft.dice.oneIn(2));
  }
}

/// As many as there could be, with something behind them.
Operation *padded(Chosen &c) {
  SmallVector<int64_t> shape(c.x.type.getShape());
  shape[c.dim] *= c.times;
  SmallVector<Value> low(c.x.rank(), c.emit.knownSize(0)), high = low;
  Value missing = c.emit.sub(c.emit.knownSize(c.x.size(c.dim)), c.count);
  high[c.dim] = c.times == 1 ? missing : c.emit.add(missing, missing);
  Value none = c.emit.concatenate(low, 0);
  Value filler =
      c.draft.valueOf(RankedTensorType::get({}, c.x.type.getElementType()));
  return c.draft.add("stablehlo.dynamic_pad",
                     {c.value, filler, none, c.emit.concatenate(high, 0), none},
                     {}, SmallVector<Type>{c.x.type.clone(shape)},
                     Rounding::Exact);
}

/// What was chosen put back, each to its place.
Operation *scattered(Chosen &c) {
  auto rest = llvm::to_vector(llvm::seq<int64_t>(0, c.x.rank()));
  rest.erase(rest.begin() + c.dim);
  auto numbers = stablehlo::ScatterDimensionNumbersAttr::get(
      c.draft.builder.getContext(), rest, {c.dim}, {}, {}, {c.dim}, 1);
  Type scalar = RankedTensorType::get({}, c.x.type.getElementType());
  return c.draft.add("stablehlo.scatter", {c.x.value, c.places, c.value},
                     {c.draft.attribute("scatter_dimension_numbers", numbers),
                      c.draft.flag("unique_indices", true)},
                     SmallVector<Type>{c.x.type}, Rounding::Exact, 1,
                     [&](Operation *op) {
                       c.emit.fill(op->getRegion(0), {scalar, scalar},
                                   [](nn::TensorBuilder &, ValueRange a) {
                                     return SmallVector<Value>{a[1]};
                                   });
                     });
}

} // namespace

bool drawComputedSize(Draft &draft) {
  Picked x{draft.pick([](RankedTensorType type) {
             return isPlain(type) && type.getRank() > 0 &&
                    !llvm::is_contained(type.getShape(), 0);
           }),
           {}};
  if (!x.value)
    return false;
  x.type = tensorOf(x.value);
  const int64_t dim = draft.dice.between(0, x.rank() - 1);
  Value flags = draft.valueOf(
      RankedTensorType::get({x.size(dim)}, draft.builder.getI1Type()));
  Chosen c{draft, {draft.builder, draft.location}, x, dim, {}, {}, {}};
  Value all = c.emit.make<nn::NonZeroOp>(
      RankedTensorType::get({1, ShapedType::kDynamic},
                            draft.builder.getI64Type()),
      flags);
  c.count = c.emit.sizeOf(all, 1);
  c.places = c.emit.reshape(all, {nn::Size::of(all, 1)});
  c.value =
      c.emit.make<nn::TakeOp>(x.value, c.places, static_cast<uint64_t>(dim));
  for (int64_t steps = draft.dice.between(1, 3); steps > 0; --steps)
    step(c);
  Operation *last =
      c.times == 1 && draft.dice.oneIn(2) ? scattered(c) : padded(c);
  if (!last)
    return false;
  if (isa<FloatType, ComplexType>(x.type.getElementType()))
    draft.markRounded(last->getResults());
  return true;
}

} // namespace sinter
