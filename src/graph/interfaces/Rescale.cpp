#include "graph/interfaces/Rescale.h"

#include "graph/gradient/Gradient.h"
#include "graph/nn/NnOps.h"
#include "graph/nn/Pools.h"

#include "graph/interfaces/Rescale.cpp.inc"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {
namespace {

using Ways = SmallVector<RescaleWay>;

RescaleWay together(unsigned count, RescaleRanges ranges) {
  return {llvm::to_vector(llvm::seq<unsigned>(0, count)), ranges};
}

//===----------------------------------------------------------------------===//
// The ways
//===----------------------------------------------------------------------===//

/// Only moves elements; operands after the first \p count are indices.
template <unsigned count> Ways movesOf(Operation *op) {
  return {
      together(count == 0 ? op->getNumOperands() : count, RescaleRanges::Any)};
}
/// A rescale is monotonic.
Ways maximumOf(Operation *) {
  return {{{0, 1}, RescaleRanges::Any, /*floors=*/{0, 1}}};
}
Ways minimumOf(Operation *) {
  return {{{0, 1}, RescaleRanges::Any, {}, /*ceilings=*/{0, 1}}};
}
/// min(max(x, low), high)
Ways clampedOf(Operation *) {
  return {{{0, 1, 2}, RescaleRanges::Any, /*floors=*/{0}, /*ceilings=*/{2}}};
}
/// max(x, 0)
Ways rectifiedOf(Operation *) {
  return {together(1, RescaleRanges::KeepsZero)};
}
/// Sums: all operands together.
Ways linearOf(Operation *op) {
  return {together(op->getNumOperands(), RescaleRanges::CutsNothing)};
}
/// Products: one of the two.
Ways bilinearOf(Operation *) {
  return {{{0}, RescaleRanges::CutsNothing}, {{1}, RescaleRanges::CutsNothing}};
}
/// Selects between operands 1 and 2 by the first operand.
Ways chosenOf(Operation *) { return {{{1, 2}, RescaleRanges::Any}}; }
/// Nonlinear functions: none.
Ways curvedOf(Operation *) { return {}; }
/// By the combining operation: maximum, minimum or sum.
Ways combinedOf(Operation *op) {
  if (op->getNumOperands() != 2)
    return {};
  StringRef combiner = gradient::combinerOf(op->getRegion(0));
  if (combiner == MaxOp::getOperationName())
    return {{{0, 1}, RescaleRanges::Any, /*floors=*/{1}}};
  if (combiner == MinOp::getOperationName())
    return {{{0, 1}, RescaleRanges::Any, {}, /*ceilings=*/{1}}};
  if (combiner == AddOp::getOperationName())
    return {together(2, RescaleRanges::CutsNothing)};
  return {};
}
Ways scatteredOf(Operation *op) {
  if (op->getNumOperands() != 3)
    return {};
  StringRef combiner = gradient::combinerOf(op->getRegion(0));
  bool isSum = combiner == AddOp::getOperationName();
  Block &block = op->getRegion(0).front();
  bool replaces = llvm::hasSingleElement(block) &&
                  block.back().getOperand(0) == block.getArgument(1);
  if (!isSum && !replaces)
    return {};
  return {{{0, 2}, isSum ? RescaleRanges::CutsNothing : RescaleRanges::Any}};
}
/// Max pooling, and average pooling, which is linear in its operand. The
/// maximum of an empty window is no element of the operand.
Ways pooledByMaximumOf(Operation *op) {
  if (!nn::meetsElements(cast<nn::MaxPoolOp>(op)))
    return {};
  return {together(1, RescaleRanges::Any)};
}
Ways pooledByMeanOf(Operation *) {
  return {together(1, RescaleRanges::CutsNothing)};
}
/// Interpolates between pixels or takes the nearest one.
Ways resizedOf(Operation *op) {
  auto resize = cast<nn::ResizeOp>(op);
  if (resize.getMode() != "nearest" ||
      resize.getCoordinates() == "tf_crop_and_resize")
    return {};
  return {together(1, RescaleRanges::Any)};
}

//===----------------------------------------------------------------------===//
// The kinds
//===----------------------------------------------------------------------===//

/// Ways, and their text in the documentation.
struct WayKind {
  Ways (*of)(Operation *);
  StringLiteral ways, ranges;
};

constexpr StringLiteral any = "any", none = "", keepsZero = "zero stays zero",
                        cutsNothing = "nothing is cut; rounding differs by one";

template <unsigned count>
constexpr WayKind moves{movesOf<count>,
                        count == 0   ? StringLiteral("all together")
                        : count == 1 ? StringLiteral("the first")
                                     : StringLiteral("the first two together"),
                        any};
constexpr WayKind maximum{maximumOf, "both together", any};
constexpr WayKind minimum{minimumOf, "both together", any};
constexpr WayKind clamped{clampedOf, "all together", any};
constexpr WayKind rectified{rectifiedOf, "the first", keepsZero};
constexpr WayKind linear{linearOf, "all together", cutsNothing};
constexpr WayKind bilinear{bilinearOf, "either", cutsNothing};
constexpr WayKind chosen{chosenOf, "those that are chosen from, together", any};
constexpr WayKind curved{curvedOf, "", none};
constexpr WayKind combined{
    combinedOf,
    "the first and what it begins with, of a maximum, minimum or sum",
    "any; of a sum: nothing is cut, rounding differs by one"};
constexpr WayKind scattered{
    scatteredOf, "the first and the updates, which replace or are added",
    "any; of a sum: nothing is cut, rounding differs by one"};
constexpr WayKind pooledByMaximum{
    pooledByMaximumOf, "the first, if each window has an element", any};
constexpr WayKind pooledByMean{pooledByMeanOf, "the first", cutsNothing};
constexpr WayKind resized{resizedOf,
                          "the first, if elements are chosen by place", any};

//===----------------------------------------------------------------------===//
// The models
//===----------------------------------------------------------------------===//

template <typename Op, const WayKind &kind, bool absorbs>
struct RescaleModel
    : RescaleOpInterface::ExternalModel<RescaleModel<Op, kind, absorbs>, Op> {
  Ways getRescaleWays(Operation *op) const { return kind.of(op); }
  bool absorbsRescaleOfOperand(Operation *, unsigned) const { return absorbs; }
  bool absorbsRescaleOfResult(Operation *) const { return absorbs; }
  static RescaleSummary summarizeRescales() {
    return {kind.ways, kind.ranges, absorbs, absorbs};
  }
};

template <typename Op, const WayKind &kind, bool absorbs = false>
void attach(MLIRContext *context) {
  Op::template attachInterface<RescaleModel<Op, kind, absorbs>>(*context);
}

/// Attaches the interface to functions that compute with real values of any
/// scale.
template <typename... Ops> void attachFunctions(MLIRContext *context) {
  (attach<Ops, curved, true>(context), ...);
}

} // namespace

void attachRescales(MLIRContext *c) {
  attach<ReshapeOp, moves<1>>(c);
  attach<DynamicReshapeOp, moves<1>>(c);
  attach<TransposeOp, moves<1>>(c);
  attach<BroadcastOp, moves<1>>(c);
  attach<BroadcastInDimOp, moves<1>>(c);
  attach<DynamicBroadcastInDimOp, moves<1>>(c);
  attach<SliceOp, moves<1>>(c);
  attach<RealDynamicSliceOp, moves<1>>(c);
  attach<DynamicSliceOp, moves<1>>(c);
  attach<DynamicUpdateSliceOp, moves<2>>(c);
  attach<ReverseOp, moves<1>>(c);
  attach<GatherOp, moves<1>>(c);
  attach<DynamicGatherOp, moves<1>>(c);
  attach<TorchIndexSelectOp, moves<1>>(c);
  attach<PadOp, moves<2>>(c);
  attach<DynamicPadOp, moves<2>>(c);
  attach<ConcatenateOp, moves<0>>(c);
  attach<ScatterOp, scattered>(c);
  attach<SelectOp, chosen>(c);
  attach<nn::BroadcastLikeOp, moves<1>>(c);
  attach<nn::TakeOp, moves<1>>(c);
  attach<nn::TakeAlongOp, moves<1>>(c);
  attach<nn::PadModeOp, moves<1>>(c);
  attach<nn::ResizeOp, resized, true>(c);

  attach<MaxOp, maximum, true>(c);
  attach<MinOp, minimum, true>(c);
  attach<ClampOp, clamped>(c);
  attach<nn::ReluOp, rectified, true>(c);
  attach<AddOp, linear, true>(c);
  attach<SubtractOp, linear, true>(c);
  attach<MulOp, bilinear, true>(c);
  attach<DotGeneralOp, bilinear, true>(c);
  attach<ConvolutionOp, bilinear, true>(c);
  attach<ReduceOp, combined>(c);
  attach<ReduceWindowOp, combined>(c);
  attach<nn::MaxPoolOp, pooledByMaximum, true>(c);
  attach<nn::AveragePoolOp, pooledByMean, true>(c);
  attachFunctions<UniformQuantizeOp, UniformDequantizeOp, nn::QuantizeOp>(c);
  attachFunctions<AbsOp, CbrtOp, CeilOp, CosineOp, ExpOp, Expm1Op, FloorOp,
                  LogOp, Log1pOp, LogisticOp, NegOp, RoundOp,
                  RoundNearestEvenOp, RsqrtOp, SignOp, SineOp, SqrtOp, TanOp,
                  TanhOp, Atan2Op, DivOp, PowOp, RemOp>(c);
  attachFunctions<nn::AcosOp, nn::AcoshOp, nn::AsinOp, nn::AsinhOp, nn::AtanOp,
                  nn::AtanhOp, nn::CoshOp, nn::SinhOp, nn::ErfOp, nn::ErfcOp,
                  nn::LeakyReluOp, nn::EluOp, nn::CeluOp, nn::SeluOp,
                  nn::ThresholdedReluOp, nn::HardSigmoidOp, nn::HardSwishOp,
                  nn::SiluOp, nn::MishOp, nn::SoftplusOp, nn::SoftsignOp,
                  nn::ShrinkOp, nn::GeluOp, nn::PReluOp>(c);
  attachFunctions<nn::LrnOp, nn::SoftmaxOp, nn::LogSoftmaxOp, nn::LayerNormOp,
                  nn::RmsNormOp, nn::GroupNormOp, nn::LpNormalizeOp,
                  nn::LpPoolOp>(c);
}

} // namespace sinter
