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
// Which ways there are
//===----------------------------------------------------------------------===//

/// Only places change; operands behind the first \p count are indices.
template <unsigned count> Ways moves(Operation *op) {
  return {
      together(count == 0 ? op->getNumOperands() : count, RescaleRanges::Any)};
}
/// A rescale keeps the order.
Ways maximum(Operation *) {
  return {{{0, 1}, RescaleRanges::Any, /*floors=*/{0, 1}}};
}
Ways minimum(Operation *) {
  return {{{0, 1}, RescaleRanges::Any, {}, /*ceilings=*/{0, 1}}};
}
/// min(max(x, low), high)
Ways clamped(Operation *) {
  return {{{0, 1, 2}, RescaleRanges::Any, /*floors=*/{0}, /*ceilings=*/{2}}};
}
/// max(x, 0)
Ways rectified(Operation *) { return {together(1, RescaleRanges::KeepsZero)}; }
/// Sums: all alike.
Ways linear(Operation *op) {
  return {together(op->getNumOperands(), RescaleRanges::CutsNothing)};
}
/// Products: one of the two.
Ways bilinear(Operation *) {
  return {{{0}, RescaleRanges::CutsNothing}, {{1}, RescaleRanges::CutsNothing}};
}
/// Between tensors of one kind, chosen by the first operand.
Ways chosen(Operation *) { return {{{1, 2}, RescaleRanges::Any}}; }
/// A function that is not linear: none.
Ways curved(Operation *) { return {}; }
/// By what combines: the greatest, the least or the sum.
Ways combined(Operation *op) {
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
Ways scattered(Operation *op) {
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
/// A pool of greatest elements, and one of means: linear in its operand. What
/// is the greatest of no elements is no number of the operand.
Ways pooledByMaximum(Operation *op) {
  if (!nn::meetsElements(cast<nn::MaxPoolOp>(op)))
    return {};
  return {together(1, RescaleRanges::Any)};
}
Ways pooledByMean(Operation *) {
  return {together(1, RescaleRanges::CutsNothing)};
}
/// Between pixels or to the next one.
Ways resized(Operation *op) {
  auto resize = cast<nn::ResizeOp>(op);
  if (resize.getMode() != "nearest" ||
      resize.getCoordinates() == "tf_crop_and_resize")
    return {};
  return {together(1, RescaleRanges::Any)};
}

//===----------------------------------------------------------------------===//
// The models
//===----------------------------------------------------------------------===//

template <typename Op, auto ways, bool absorbs>
struct RescaleModel
    : RescaleOpInterface::ExternalModel<RescaleModel<Op, ways, absorbs>, Op> {
  Ways getRescaleWays(Operation *op) const { return ways(op); }
  bool absorbsRescaleOfOperand(Operation *, unsigned) const { return absorbs; }
  bool absorbsRescaleOfResult(Operation *) const { return absorbs; }
};

template <typename Op, auto ways, bool absorbs = false>
void attach(MLIRContext *context) {
  Op::template attachInterface<RescaleModel<Op, ways, absorbs>>(*context);
}

/// Functions that compute with real values of any scale.
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
