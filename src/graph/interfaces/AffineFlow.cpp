#include "graph/interfaces/AffineFlow.h"

#include "graph/Constants.h"
#include "graph/Types.h"
#include "graph/gradient/Gradient.h"
#include "graph/nn/NnOps.h"
#include "graph/nn/Pools.h"
#include "graph/stablehlo/StablehloOps.h"

#include "graph/interfaces/AffineFlow.cpp.inc"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {
namespace affineflow {
namespace {

using Ways = SmallVector<AffineWay>;
using Sources = std::optional<SmallVector<int64_t>>;

SmallVector<unsigned> operandsTo(unsigned count) {
  return llvm::to_vector(llvm::seq<unsigned>(0, count));
}

//===----------------------------------------------------------------------===//
// Ways
//===----------------------------------------------------------------------===//

/// Moves elements; operands after the first are indices.
Ways movedOf(Operation *) { return {{AffinePassage::Movement, {0}}}; }

/// Zero padding stays zero when scaled.
Ways paddedOf(Operation *op) {
  if (!isPositiveZero(op->getOperand(1)))
    return {};
  return {{AffinePassage::Movement, {0}, ScaleRule::Any, ShiftRule::None}};
}

Ways updatedOf(Operation *) { return {{AffinePassage::Movement, {0, 1}}}; }

Ways concatenatedOf(Operation *op) {
  return {{AffinePassage::Concatenation, operandsTo(op->getNumOperands()),
           ScaleRule::Any, ShiftRule::Every, /*isSeparate=*/true}};
}

Ways selectedOf(Operation *) { return {{AffinePassage::Selection, {1, 2}}}; }

Ways summedOf(Operation *) {
  return {{AffinePassage::Sum, {0, 1}, ScaleRule::Any, ShiftRule::One}};
}
Ways subtractedOf(Operation *) {
  return {{AffinePassage::Sum, {0, 1}, ScaleRule::Any, ShiftRule::First}};
}
/// A common factor of all elements also applies to the shift; no way where it
/// cannot be divided by.
AffineWay factored(unsigned operand, std::optional<double> factor) {
  AffineWay way{
      AffinePassage::Product, {operand}, ScaleRule::Any, ShiftRule::None};
  if (factor && std::isnormal(*factor)) {
    way.shift = ShiftRule::Every;
    way.gain = *factor;
  }
  return way;
}
Ways multipliedOf(Operation *op) {
  return {factored(0, splatNumber(op->getOperand(1))),
          factored(1, splatNumber(op->getOperand(0)))};
}
Ways dividedOf(Operation *op) {
  std::optional<double> factor = splatNumber(op->getOperand(1));
  if (factor)
    factor = 1 / *factor;
  return {factored(0, factor)};
}

/// max(x, 0): a shift or a negative scale would change the bound.
Ways rectifiedOf(Operation *) {
  return {{AffinePassage::Clip, {0}, ScaleRule::Positive, ShiftRule::None}};
}
Ways comparedOf(Operation *) {
  return {{AffinePassage::Clip, {0, 1}, ScaleRule::Positive}};
}
Ways clampedOf(Operation *) {
  return {{AffinePassage::Clip, {0, 1, 2}, ScaleRule::Positive}};
}
/// A different slope below zero.
Ways slopedOf(Operation *) {
  return {{AffinePassage::Slope, {0}, ScaleRule::Positive, ShiftRule::None}};
}

Ways pooledByMaximumOf(Operation *op) {
  if (!nn::meetsElements(cast<nn::MaxPoolOp>(op)))
    return {};
  return {{AffinePassage::Pool, {0}, ScaleRule::Positive}};
}
/// A shift passes through means, unless padding zeros are counted.
Ways pooledByMeanOf(Operation *op) {
  auto pool = cast<nn::AveragePoolOp>(op);
  const ArrayRef<int64_t> ceil = pool.getCeilPadding();
  bool countsZeros = false;
  for (auto [i, low, high] :
       llvm::enumerate(pool.getPaddingLow(), pool.getPaddingHigh()))
    countsZeros |= low != 0 || high != (ceil.empty() ? 0 : ceil[i]);
  countsZeros &= pool.getCountPadding();
  return {{AffinePassage::Pool,
           {0},
           ScaleRule::Any,
           countsZeros ? ShiftRule::None : ShiftRule::Every}};
}

/// Weights that sum to one.
Ways resizedOf(Operation *op) {
  auto resize = cast<nn::ResizeOp>(op);
  if ((resize.getMode() != "nearest" && resize.getMode() != "linear") ||
      resize.getCoordinates() == "tf_crop_and_resize")
    return {};
  return {{AffinePassage::Resize, {0}}};
}

bool isSplat(Value value, double number) {
  std::optional<Tensor> tensor = constantTensor(value);
  return tensor && tensor->size() == 1 && tensor->toDouble(0) == number;
}

/// The ways by the combining operation; the initial value must be neutral.
Ways combinedOf(Operation *op, std::optional<int64_t> count) {
  if (op->getNumOperands() != 2)
    return {};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const StringRef combiner = gradient::combinerOf(op->getRegion(0));
  const Value init = op->getOperand(1);
  if ((combiner == MaxOp::getOperationName() && isSplat(init, -infinity)) ||
      (combiner == MinOp::getOperationName() && isSplat(init, infinity)))
    return {{AffinePassage::Reduction, {0}, ScaleRule::Positive}};
  if (combiner != AddOp::getOperationName() || !isSplat(init, 0))
    return {};
  AffineWay way{AffinePassage::Reduction,
                {0},
                ScaleRule::Any,
                count ? ShiftRule::Every : ShiftRule::None};
  way.gain = static_cast<double>(count.value_or(1));
  return {way};
}

Ways reducedOf(Operation *op) {
  auto reduce = cast<ReduceOp>(op);
  std::optional<int64_t> count = 1;
  auto type = tensorOf(op->getOperand(0));
  for (int64_t dimension : reduce.getDimensions()) {
    const int64_t size = type.getDimSize(dimension);
    if (ShapedType::isDynamic(size) || size == 0 || !count ||
        llvm::MulOverflow(*count, size, *count))
      count = std::nullopt;
  }
  return combinedOf(op, count);
}

/// Windows in the padding have no element to be shifted.
Ways windowedOf(Operation *op) {
  auto windows = cast<ReduceWindowOp>(op);
  std::optional<int64_t> count = 1;
  for (int64_t size : windows.getWindowDimensions())
    if (!count || llvm::MulOverflow(*count, size, *count))
      count = std::nullopt;
  const bool isPadded = windows.getPadding() &&
                        llvm::any_of(windows.getPadding()->getValues<int64_t>(),
                                     [](int64_t each) { return each != 0; });
  const bool isSpread = windows.getBaseDilations() &&
                        llvm::any_of(*windows.getBaseDilations(),
                                     [](int64_t each) { return each != 1; });
  Ways ways = combinedOf(op, isPadded || isSpread ? std::nullopt : count);
  if (isSpread)
    ways.clear();
  return ways;
}

//===----------------------------------------------------------------------===//
// Sources of the slices of a resized dimension
//===----------------------------------------------------------------------===//

Sources ofConcatenation(Operation *op, unsigned operand, int64_t dimension) {
  auto concatenate = cast<ConcatenateOp>(op);
  if (dimension != static_cast<int64_t>(concatenate.getDimension()))
    return std::nullopt;
  SmallVector<int64_t> sources;
  for (auto [i, input] : llvm::enumerate(concatenate.getInputs())) {
    const int64_t size = tensorOf(input).getDimSize(dimension);
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    for (int64_t slice = 0; slice < size; ++slice)
      sources.push_back(i == operand ? slice : -1);
  }
  return sources;
}

Sources ofSlice(Operation *op, unsigned, int64_t dimension) {
  auto slice = cast<SliceOp>(op);
  const int64_t size = tensorOf(op->getResult(0)).getDimSize(dimension);
  if (ShapedType::isDynamic(size))
    return std::nullopt;
  SmallVector<int64_t> sources;
  for (int64_t i = 0; i < size; ++i)
    sources.push_back(slice.getStartIndices()[dimension] +
                      i * slice.getStrides()[dimension]);
  return sources;
}

/// At constant start indices.
Sources ofDynamicSlice(Operation *op, unsigned, int64_t dimension) {
  auto slice = cast<RealDynamicSliceOp>(op);
  const int64_t size = tensorOf(op->getResult(0)).getDimSize(dimension);
  const auto starts = constantTensor(slice.getStartIndices()),
             strides = constantTensor(slice.getStrides());
  if (ShapedType::isDynamic(size) || !starts || !strides)
    return std::nullopt;
  SmallVector<int64_t> sources;
  for (int64_t i = 0; i < size; ++i)
    sources.push_back(starts->toInteger(dimension) +
                      i * strides->toInteger(dimension));
  return sources;
}

Sources ofPadding(Operation *op, unsigned, int64_t dimension) {
  auto pad = cast<PadOp>(op);
  const int64_t size = tensorOf(op->getResult(0)).getDimSize(dimension),
                own = tensorOf(pad.getOperand()).getDimSize(dimension),
                low = pad.getEdgePaddingLow()[dimension],
                step = pad.getInteriorPadding()[dimension] + 1;
  if (ShapedType::isDynamic(size) || ShapedType::isDynamic(own))
    return std::nullopt;
  SmallVector<int64_t> sources;
  for (int64_t i = 0; i < size; ++i) {
    const int64_t place = i - low;
    const bool isInside = place >= 0 && place % step == 0 && place / step < own;
    sources.push_back(isInside ? place / step : -1);
  }
  return sources;
}

/// By constant indices.
Sources ofTake(Operation *op, unsigned, int64_t dimension) {
  auto take = cast<nn::TakeOp>(op);
  const auto indices = constantTensor(take.getIndices());
  const int64_t size = tensorOf(take.getOperand()).getDimSize(dimension);
  if (dimension != static_cast<int64_t>(take.getAxis()) || !indices ||
      indices->rank() != 1 || ShapedType::isDynamic(size))
    return std::nullopt;
  SmallVector<int64_t> sources;
  for (int64_t i = 0; i < indices->size(); ++i) {
    const int64_t index = indices->toInteger(i);
    if (index < 0 || index >= size)
      return std::nullopt;
    sources.push_back(index);
  }
  return sources;
}

//===----------------------------------------------------------------------===//
// The kinds
//===----------------------------------------------------------------------===//

/// Ways, and their text in the documentation.
struct FlowKind {
  Ways (*of)(Operation *);
  AffineFlowSummary summary;
  Sources (*sources)(Operation *, unsigned, int64_t) = nullptr;
};

constexpr FlowKind moved{movedOf, {"the first", "any", "any"}};
constexpr FlowKind converted{
    movedOf, {"the first, where it has as many digits", "any", "any"}};
constexpr FlowKind sliced{movedOf, {"the first", "any", "any"}, ofSlice};
constexpr FlowKind dynamicallySliced{
    movedOf, {"the first", "any", "any"}, ofDynamicSlice};
constexpr FlowKind taken{movedOf, {"the first", "any", "any"}, ofTake};
constexpr FlowKind padded{
    paddedOf, {"the first, padded with zeros", "any", "none"}, ofPadding};
constexpr FlowKind dynamicallyPadded{
    paddedOf, {"the first, padded with zeros", "any", "none"}};
constexpr FlowKind updated{updatedOf, {"the first two together", "any", "any"}};
constexpr FlowKind concatenated{
    concatenatedOf, {"each its slices", "any", "any"}, ofConcatenation};
constexpr FlowKind selected{
    selectedOf, {"those that are chosen from, together", "any", "any"}};
constexpr FlowKind summed{summedOf, {"both together", "any", "in one of them"}};
constexpr FlowKind subtracted{subtractedOf,
                              {"both together", "any", "in the first"}};
constexpr FlowKind multiplied{
    multipliedOf, {"either", "any", "none; any beside one number for all"}};
constexpr FlowKind divided{
    dividedOf, {"the first", "any", "none; any over one number for all"}};
constexpr FlowKind rectified{
    rectifiedOf,
    {"the first", "positive; any where it becomes a clamp",
     "none; any where it becomes a maximum or a clamp"}};
constexpr FlowKind compared{
    comparedOf, {"both together", "positive; any beside a constant", "any"}};
constexpr FlowKind clamped{
    clampedOf, {"all together", "positive; any between constants", "any"}};
constexpr FlowKind sloped{slopedOf, {"the first", "positive", "none"}};
constexpr FlowKind pooledByMaximum{
    pooledByMaximumOf,
    {"the first, if each window has an element", "positive", "any"}};
constexpr FlowKind pooledByMean{
    pooledByMeanOf, {"the first", "any", "any, unless zeros are counted"}};
constexpr FlowKind resized{resizedOf,
                           {"the first, nearest or linear", "any", "any"}};
constexpr FlowKind reduced{reducedOf,
                           {"the first",
                            "any of a sum, positive of a maximum or minimum",
                            "any, by the number of elements; of unknown sizes "
                            "across the division of a mean"}};
constexpr FlowKind windowed{
    windowedOf,
    {"the first", "any of a sum, positive of a maximum or minimum",
     "any, by the number of elements, unless zeros are counted"}};

template <typename Op, const FlowKind &kind>
struct FlowModel
    : AffineFlowOpInterface::ExternalModel<FlowModel<Op, kind>, Op> {
  Ways getAffineWays(Operation *op) const { return kind.of(op); }
  Sources getChannelSources(Operation *op, unsigned operand,
                            int64_t dimension) const {
    return kind.sources ? kind.sources(op, operand, dimension) : Sources();
  }
  static AffineFlowSummary summarizeAffineFlow() { return kind.summary; }
};

template <typename Op, const FlowKind &kind> void attach(MLIRContext *context) {
  Op::template attachInterface<FlowModel<Op, kind>>(*context);
}

} // namespace

static void attachAll(MLIRContext *c) {
  attach<ReshapeOp, moved>(c);
  attach<DynamicReshapeOp, moved>(c);
  attach<TransposeOp, moved>(c);
  attach<BroadcastInDimOp, moved>(c);
  attach<DynamicBroadcastInDimOp, moved>(c);
  attach<nn::BroadcastLikeOp, moved>(c);
  attach<SliceOp, sliced>(c);
  attach<RealDynamicSliceOp, dynamicallySliced>(c);
  attach<DynamicSliceOp, moved>(c);
  attach<ReverseOp, moved>(c);
  attach<GatherOp, moved>(c);
  attach<DynamicGatherOp, moved>(c);
  attach<nn::TakeOp, taken>(c);
  attach<nn::PadModeOp, moved>(c);
  attach<PadOp, padded>(c);
  attach<DynamicPadOp, dynamicallyPadded>(c);
  attach<DynamicUpdateSliceOp, updated>(c);
  attach<ConcatenateOp, concatenated>(c);
  attach<SelectOp, selected>(c);
  attach<ConvertOp, converted>(c);

  attach<AddOp, summed>(c);
  attach<SubtractOp, subtracted>(c);
  attach<MulOp, multiplied>(c);
  attach<DivOp, divided>(c);
  attach<nn::ReluOp, rectified>(c);
  attach<MaxOp, compared>(c);
  attach<MinOp, compared>(c);
  attach<ClampOp, clamped>(c);
  attach<nn::LeakyReluOp, sloped>(c);
  attach<nn::PReluOp, sloped>(c);
  attach<nn::MaxPoolOp, pooledByMaximum>(c);
  attach<nn::AveragePoolOp, pooledByMean>(c);
  attach<nn::ResizeOp, resized>(c);
  attach<ReduceOp, reduced>(c);
  attach<ReduceWindowOp, windowed>(c);
}

} // namespace affineflow

void attachAffineFlow(MLIRContext *context) { affineflow::attachAll(context); }

} // namespace sinter
