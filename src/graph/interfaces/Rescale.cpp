#include "graph/interfaces/Rescale.h"

#include "graph/gradient/Gradient.h"
#include "graph/nn/NnOps.h"

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
Ways ordered(Operation *op) {
  return {together(op->getNumOperands(), RescaleRanges::Any)};
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
  if (combiner == MaxOp::getOperationName() ||
      combiner == MinOp::getOperationName())
    return {together(2, RescaleRanges::Any)};
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
/// A pool of greatest elements, and one of means: linear in its operand.
Ways pooledByMaximum(Operation *) { return {together(1, RescaleRanges::Any)}; }
Ways pooledByMean(Operation *) {
  return {together(1, RescaleRanges::CutsNothing)};
}

//===----------------------------------------------------------------------===//
// The models
//===----------------------------------------------------------------------===//

template <typename Op, auto ways, bool absorbs>
struct RescaleModel
    : RescaleOpInterface::ExternalModel<RescaleModel<Op, ways, absorbs>, Op> {
  Ways getRescaleWays(Operation *op) const { return ways(op); }
  bool absorbsRescaleOfOperand(Operation *op, unsigned operand) const {
    return absorbs && operand < 2;
  }
  bool absorbsRescaleOfResult(Operation *) const { return absorbs; }
};

template <typename Op, auto ways, bool absorbs = false>
void attach(MLIRContext *context) {
  Op::template attachInterface<RescaleModel<Op, ways, absorbs>>(*context);
}

/// Functions of one operand, which compute with real values of any scale.
template <typename... Ops> void attachFunctions(MLIRContext *context) {
  (attach<Ops, curved, true>(context), ...);
}

} // namespace

void attachRescales(MLIRContext *c) {
  attach<ReshapeOp, moves<1>>(c);
  attach<TransposeOp, moves<1>>(c);
  attach<BroadcastInDimOp, moves<1>>(c);
  attach<SliceOp, moves<1>>(c);
  attach<DynamicSliceOp, moves<1>>(c);
  attach<DynamicUpdateSliceOp, moves<2>>(c);
  attach<ReverseOp, moves<1>>(c);
  attach<GatherOp, moves<1>>(c);
  attach<PadOp, moves<2>>(c);
  attach<ConcatenateOp, moves<0>>(c);
  attach<ScatterOp, scattered>(c);
  attach<SelectOp, chosen>(c);

  attach<MaxOp, ordered, true>(c);
  attach<MinOp, ordered, true>(c);
  attach<ClampOp, ordered>(c);
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
  attachFunctions<nn::AcosOp, nn::AcoshOp, nn::AsinOp, nn::AsinhOp, nn::AtanOp,
                  nn::AtanhOp, nn::CoshOp, nn::SinhOp, nn::ErfOp, nn::ErfcOp,
                  nn::LeakyReluOp, nn::EluOp, nn::CeluOp, nn::SeluOp,
                  nn::ThresholdedReluOp, nn::HardSigmoidOp, nn::HardSwishOp,
                  nn::SiluOp, nn::MishOp, nn::SoftplusOp, nn::SoftsignOp,
                  nn::ShrinkOp, nn::GeluOp>(c);
}

} // namespace sinter
