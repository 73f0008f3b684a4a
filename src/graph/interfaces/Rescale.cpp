#include "graph/interfaces/Rescale.h"

#include "graph/Types.h"
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
// Where a dimension goes
//===----------------------------------------------------------------------===//

using Place = std::optional<int64_t>;

Place nowhere(Operation *, unsigned, int64_t) { return std::nullopt; }
/// All tensors have one shape (but for scalars).
Place stays(Operation *op, unsigned operand, int64_t dimension) {
  auto type = tensorOf(op->getOperand(operand));
  return type.getRank() == tensorOf(op->getResult(0)).getRank()
             ? Place(dimension)
             : std::nullopt;
}
/// A dimension whose indices are changed has no place in the result.
template <typename Op, auto isKept>
Place staysIf(Operation *op, unsigned operand, int64_t dimension) {
  return isKept(cast<Op>(op), dimension) ? stays(op, operand, dimension)
                                         : std::nullopt;
}
Place transposed(Operation *op, unsigned, int64_t dimension) {
  ArrayRef<int64_t> order = cast<TransposeOp>(op).getPermutation();
  return llvm::find(order, dimension) - order.begin();
}
Place broadcast(Operation *op, unsigned, int64_t dimension) {
  auto wide = cast<BroadcastInDimOp>(op);
  int64_t place = wide.getBroadcastDimensions()[dimension];
  bool isSame = tensorOf(wide.getOperand()).getDimSize(dimension) ==
                tensorOf(wide.getResult()).getDimSize(place);
  return isSame ? Place(place) : std::nullopt;
}
/// A dimension that has as many elements before it, and as many indices.
Place reshaped(Operation *op, unsigned, int64_t dimension) {
  auto from = tensorOf(op->getOperand(0)), to = tensorOf(op->getResult(0));
  if (!from.hasStaticShape() || !to.hasStaticShape())
    return std::nullopt;
  auto before = [](RankedTensorType type, int64_t end) {
    int64_t count = 1;
    for (int64_t size : type.getShape().take_front(end))
      count *= size;
    return count;
  };
  for (int64_t i = 0; i < to.getRank(); ++i)
    if (to.getDimSize(i) == from.getDimSize(dimension) &&
        before(to, i) == before(from, dimension) && to.getNumElements() != 0)
      return i;
  return std::nullopt;
}
Place reduced(Operation *op, unsigned operand, int64_t dimension) {
  ArrayRef<int64_t> dimensions = cast<ReduceOp>(op).getDimensions();
  if (operand != 0 || llvm::is_contained(dimensions, dimension))
    return std::nullopt;
  return dimension - llvm::count_if(dimensions, [&](int64_t each) {
           return each < dimension;
         });
}
bool isWindowless(const WindowDimension &window) {
  return window.size == 1 && window.stride == 1 && window.baseDilation == 1 &&
         window.paddingLow == 0 && window.paddingHigh == 0;
}
Place windowed(Operation *op, unsigned operand, int64_t dimension) {
  auto window = cast<ReduceWindowOp>(op).getWindow();
  return operand == 0 && isWindowless(window[dimension]) ? Place(dimension)
                                                         : std::nullopt;
}
/// Free dimensions of either operand.
Place multiplied(Operation *op, unsigned operand, int64_t dimension) {
  auto dot = cast<DotGeneralOp>(op);
  DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
  auto freeBefore = [&](ArrayRef<int64_t> batching,
                        ArrayRef<int64_t> contracting, int64_t end) {
    return end -
           llvm::count_if(llvm::concat<const int64_t>(batching, contracting),
                          [&](int64_t each) { return each < end; });
  };
  auto lhsBatch = numbers.getLhsBatchingDimensions(),
       rhsBatch = numbers.getRhsBatchingDimensions(),
       lhsSum = numbers.getLhsContractingDimensions(),
       rhsSum = numbers.getRhsContractingDimensions();
  ArrayRef<int64_t> batching = operand == 0 ? lhsBatch : rhsBatch,
                    contracting = operand == 0 ? lhsSum : rhsSum;
  if (llvm::is_contained(contracting, dimension))
    return std::nullopt;
  if (auto found = llvm::find(batching, dimension); found != batching.end())
    return found - batching.begin();
  int64_t place =
      batching.size() + freeBefore(batching, contracting, dimension);
  if (operand == 1)
    place += freeBefore(lhsBatch, lhsSum, tensorOf(dot.getLhs()).getRank());
  return place;
}
/// A kernel's output features.
Place convolved(Operation *op, unsigned operand, int64_t dimension) {
  auto numbers = cast<ConvolutionOp>(op).getDimensionNumbers();
  if (operand == 1 && dimension == numbers.getKernelOutputFeatureDimension())
    return numbers.getOutputFeatureDimension();
  bool isBatch = operand == 0 && dimension == numbers.getInputBatchDimension();
  return isBatch && cast<ConvolutionOp>(op).getBatchGroupCount() == 1
             ? Place(numbers.getOutputBatchDimension())
             : std::nullopt;
}

//===----------------------------------------------------------------------===//
// The models
//===----------------------------------------------------------------------===//

template <typename Op, auto ways, auto place, bool absorbs>
struct RescaleModel
    : RescaleOpInterface::ExternalModel<RescaleModel<Op, ways, place, absorbs>,
                                        Op> {
  Ways getRescaleWays(Operation *op) const { return ways(op); }
  Place getRescaledDimension(Operation *op, unsigned operand,
                             int64_t dimension) const {
    return place(op, operand, dimension);
  }
  bool absorbsRescaleOfOperand(Operation *op, unsigned operand) const {
    return absorbs && operand < 2;
  }
  bool absorbsRescaleOfResult(Operation *) const { return absorbs; }
};

template <typename Op, auto ways, auto place, bool absorbs = false>
void attach(MLIRContext *context) {
  Op::template attachInterface<RescaleModel<Op, ways, place, absorbs>>(
      *context);
}

/// Functions of one operand, which compute with real values of any scale.
template <typename... Ops> void attachFunctions(MLIRContext *context) {
  (attach<Ops, curved, stays, true>(context), ...);
}

bool isWhole(SliceOp op, int64_t d) {
  return op.getStrides()[d] == 1 && op.getStartIndices()[d] == 0 &&
         op.getLimitIndices()[d] == tensorOf(op.getOperand()).getDimSize(d);
}
bool isUnpadded(PadOp op, int64_t d) {
  return op.getEdgePaddingLow()[d] == 0 && op.getEdgePaddingHigh()[d] == 0 &&
         op.getInteriorPadding()[d] == 0;
}
bool isForward(ReverseOp op, int64_t d) {
  return !llvm::is_contained(op.getDimensions(), d);
}
bool isBeside(ConcatenateOp op, int64_t d) {
  return static_cast<int64_t>(op.getDimension()) != d;
}

} // namespace

void attachRescales(MLIRContext *c) {
  attach<ReshapeOp, moves<1>, reshaped>(c);
  attach<TransposeOp, moves<1>, transposed>(c);
  attach<BroadcastInDimOp, moves<1>, broadcast>(c);
  attach<SliceOp, moves<1>, staysIf<SliceOp, isWhole>>(c);
  attach<DynamicSliceOp, moves<1>, nowhere>(c);
  attach<DynamicUpdateSliceOp, moves<2>, nowhere>(c);
  attach<ReverseOp, moves<1>, staysIf<ReverseOp, isForward>>(c);
  attach<GatherOp, moves<1>, nowhere>(c);
  attach<PadOp, moves<2>, staysIf<PadOp, isUnpadded>>(c);
  attach<ConcatenateOp, moves<0>, staysIf<ConcatenateOp, isBeside>>(c);
  attach<ScatterOp, scattered, nowhere>(c);
  attach<SelectOp, chosen, nowhere>(c);

  attach<MaxOp, ordered, stays, true>(c);
  attach<MinOp, ordered, stays, true>(c);
  attach<ClampOp, ordered, stays>(c);
  attach<nn::ReluOp, rectified, stays, true>(c);
  attach<AddOp, linear, stays, true>(c);
  attach<SubtractOp, linear, stays, true>(c);
  attach<MulOp, bilinear, stays, true>(c);
  attach<DotGeneralOp, bilinear, multiplied, true>(c);
  attach<ConvolutionOp, bilinear, convolved, true>(c);
  attach<ReduceOp, combined, reduced>(c);
  attach<ReduceWindowOp, combined, windowed>(c);
  attach<nn::MaxPoolOp, pooledByMaximum, nowhere, true>(c);
  attach<nn::AveragePoolOp, pooledByMean, nowhere, true>(c);
  attachFunctions<nn::AcosOp, nn::AcoshOp, nn::AsinOp, nn::AsinhOp, nn::AtanOp,
                  nn::AtanhOp, nn::CoshOp, nn::SinhOp, nn::ErfOp, nn::ErfcOp,
                  nn::LeakyReluOp, nn::EluOp, nn::CeluOp, nn::SeluOp,
                  nn::ThresholdedReluOp, nn::HardSigmoidOp, nn::HardSwishOp,
                  nn::SiluOp, nn::MishOp, nn::SoftplusOp, nn::SoftsignOp,
                  nn::ShrinkOp, nn::GeluOp>(c);
}

} // namespace sinter
