#include "graph/ElementUses.h"
#include "graph/PermutedType.h"
#include "graph/nn/NnOps.h"
#include "passes/Groups.h"
#include "passes/Matching.h"
#include "passes/RuleTables.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

//===----------------------------------------------------------------------===//
// Transpose, reshape, broadcast, reverse
//===----------------------------------------------------------------------===//

static Value transposeIdentity(TransposeOp op, OpBuilder &) {
  return isIota(op.getPermutation()) ? Value(op.getOperand()) : Value();
}

static Value transposeTranspose(TransposeOp op, OpBuilder &builder) {
  auto inner = op.getOperand().getDefiningOp<TransposeOp>();
  if (!inner)
    return {};
  SmallVector<int64_t> both;
  for (int64_t dimension : op.getPermutation())
    both.push_back(inner.getPermutation()[dimension]);
  if (isIota(both) && inner.getOperand().getType() == op.getType())
    return inner.getOperand();
  return builder.create<TransposeOp>(op.getLoc(), op.getType(),
                                     inner.getOperand(), both);
}

/// Only dimensions of size 1 are permuted.
static Value transposeToReshape(TransposeOp op, OpBuilder &builder) {
  if (!tensorOf(op.getOperand()).hasStaticShape() ||
      isIota(op.getPermutation()) || !movesOnlyUnits(op))
    return {};
  return builder.create<ReshapeOp>(op.getLoc(), op.getType(), op.getOperand());
}

static Value reshapeSame(ReshapeOp op, OpBuilder &) {
  return isSetByCount(tensorOf(op)) ? Value(op.getOperand()) : Value();
}

static Value reshapeReshape(ReshapeOp op, OpBuilder &builder) {
  auto inner = op.getOperand().getDefiningOp<ReshapeOp>();
  if (!inner || !isSetByCount(tensorOf(op)))
    return {};
  if (inner.getOperand().getType() == op.getType())
    return inner.getOperand();
  return builder.create<ReshapeOp>(op.getLoc(), op.getType(),
                                   inner.getOperand());
}

static Value broadcastSame(BroadcastInDimOp op, OpBuilder &) {
  return tensorOf(op).hasStaticShape() && isIota(op.getBroadcastDimensions())
             ? Value(op.getOperand())
             : Value();
}

static Value broadcastBroadcast(BroadcastInDimOp op, OpBuilder &builder) {
  auto inner = op.getOperand().getDefiningOp<BroadcastInDimOp>();
  if (!inner)
    return {};
  SmallVector<int64_t> both;
  for (int64_t dimension : inner.getBroadcastDimensions())
    both.push_back(op.getBroadcastDimensions()[dimension]);
  return builder.create<BroadcastInDimOp>(op.getLoc(), op.getType(),
                                          inner.getOperand(), both);
}

/// A broadcast that only adds dimensions of size 1.
static Value broadcastToReshape(BroadcastInDimOp op, OpBuilder &builder) {
  auto from = tensorOf(op.getOperand()), to = tensorOf(op);
  if (!from.hasStaticShape() || !to.hasStaticShape() || from == to ||
      from.getElementType() != to.getElementType() || isQuantizedPerAxis(to) ||
      elementCount(from.getShape()) != elementCount(to.getShape()) ||
      !keepsOrder(from, op.getBroadcastDimensions(),
                  /*placesAreSources=*/false))
    return {};
  return builder.create<ReshapeOp>(op.getLoc(), to, op.getOperand());
}

static Value reverseNothing(ReverseOp op, OpBuilder &) {
  return op.getDimensions().empty() ? Value(op.getOperand()) : Value();
}
static Value reverseReverse(ReverseOp op, OpBuilder &) {
  auto inner = op.getOperand().getDefiningOp<ReverseOp>();
  if (!inner)
    return {};
  SmallVector<int64_t> outer(op.getDimensions()), same(inner.getDimensions());
  llvm::sort(outer);
  llvm::sort(same);
  return outer == same ? Value(inner.getOperand()) : Value();
}

//===----------------------------------------------------------------------===//
// Slice, concatenate, pad
//===----------------------------------------------------------------------===//

static Value sliceFull(SliceOp op, OpBuilder &) {
  auto type = tensorOf(op.getOperand());
  bool isFull = type.hasStaticShape() && areAll(op.getStartIndices(), 0) &&
                op.getLimitIndices() == type.getShape() &&
                areAll(op.getStrides(), 1);
  return isFull ? Value(op.getOperand()) : Value();
}

static Value sliceSlice(SliceOp op, OpBuilder &builder) {
  constexpr int64_t longestStride = std::numeric_limits<int32_t>::max();
  auto inner = op.getOperand().getDefiningOp<SliceOp>();
  if (!inner)
    return {};
  SmallVector<int64_t> starts, limits, strides;
  for (int64_t i = 0; i < tensorOf(op).getRank(); ++i) {
    int64_t step = inner.getStrides()[i];
    if (step > longestStride || op.getStrides()[i] > longestStride)
      return {};
    // The inner slice lies inside the operand: nothing overflows.
    int64_t count = tensorOf(op).getDimSize(i);
    int64_t first = inner.getStartIndices()[i] + op.getStartIndices()[i] * step;
    int64_t stride = step * op.getStrides()[i];
    starts.push_back(count == 0 ? 0 : first);
    limits.push_back(count == 0 ? 0 : first + (count - 1) * stride + 1);
    strides.push_back(stride);
  }
  return builder.create<SliceOp>(op.getLoc(), op.getType(), inner.getOperand(),
                                 starts, limits, strides);
}

/// A slice that lies in one operand of a concatenate.
static Value sliceConcatenate(SliceOp op, OpBuilder &builder) {
  auto concatenate = op.getOperand().getDefiningOp<ConcatenateOp>();
  if (!concatenate)
    return {};
  int64_t dimension = concatenate.getDimension();
  int64_t start = op.getStartIndices()[dimension];
  int64_t limit = op.getLimitIndices()[dimension];
  int64_t offset = 0;
  for (Value input : concatenate.getInputs()) {
    int64_t size = tensorOf(input).getDimSize(dimension);
    if (ShapedType::isDynamic(size))
      return {};
    if (start >= offset && limit <= offset + size && start < limit) {
      SmallVector<int64_t> starts(op.getStartIndices());
      SmallVector<int64_t> limits(op.getLimitIndices());
      starts[dimension] -= offset;
      limits[dimension] -= offset;
      return builder.create<SliceOp>(op.getLoc(), op.getType(), input, starts,
                                     limits, op.getStrides());
    }
    offset += size;
  }
  return {};
}

static Value concatenateOne(ConcatenateOp op, OpBuilder &) {
  return op.getInputs().size() == 1 ? Value(op.getInputs().front()) : Value();
}

static Value concatenateNested(ConcatenateOp op, OpBuilder &builder) {
  SmallVector<Value> inputs;
  for (Value input : op.getInputs()) {
    auto inner = input.getDefiningOp<ConcatenateOp>();
    if (inner && hasOneElementUse(inner) &&
        inner.getDimension() == op.getDimension())
      llvm::append_range(inputs, inner.getInputs());
    else
      inputs.push_back(input);
  }
  if (inputs.size() == op.getInputs().size())
    return {};
  return builder.create<ConcatenateOp>(op.getLoc(), op.getType(), inputs,
                                       op.getDimension());
}

/// Whether \p second starts along \p dimension where \p first ends, and both
/// are otherwise equal.
static bool continues(SliceOp first, SliceOp second, int64_t dimension) {
  if (first.getOperand() != second.getOperand() ||
      !areAll(first.getStrides(), 1) || !areAll(second.getStrides(), 1) ||
      first.getLimitIndices()[dimension] != second.getStartIndices()[dimension])
    return false;
  for (int64_t i = 0; i < tensorOf(first).getRank(); ++i)
    if (i != dimension &&
        (first.getStartIndices()[i] != second.getStartIndices()[i] ||
         first.getLimitIndices()[i] != second.getLimitIndices()[i]))
      return false;
  return true;
}

/// A concatenate of adjacent slices of one tensor.
static Value concatenateSlices(ConcatenateOp op, OpBuilder &builder) {
  int64_t dimension = op.getDimension();
  for (size_t i = 1; i < op.getInputs().size(); ++i) {
    auto first = op.getInputs()[i - 1].getDefiningOp<SliceOp>();
    auto second = op.getInputs()[i].getDefiningOp<SliceOp>();
    if (!first || !second || !continues(first, second, dimension))
      continue;
    SmallVector<int64_t> limits(first.getLimitIndices());
    limits[dimension] = second.getLimitIndices()[dimension];
    SmallVector<Value> inputs(op.getInputs());
    inputs[i - 1] = builder.create<SliceOp>(op.getLoc(), first.getOperand(),
                                            first.getStartIndices(), limits,
                                            first.getStrides());
    inputs.erase(inputs.begin() + i);
    return builder.create<ConcatenateOp>(op.getLoc(), op.getType(), inputs,
                                         op.getDimension());
  }
  return {};
}

static Value padNothing(PadOp op, OpBuilder &) {
  bool isNothing = areAll(op.getEdgePaddingLow(), 0) &&
                   areAll(op.getEdgePaddingHigh(), 0) &&
                   areAll(op.getInteriorPadding(), 0);
  return isNothing ? Value(op.getOperand()) : Value();
}

/// Zeros around the input of a convolution become its own padding.
static Value padConvolution(ConvolutionOp op, OpBuilder &builder) {
  auto pad = op.getLhs().getDefiningOp<PadOp>();
  auto numbers = op.getDimensionNumbers();
  const auto isDilated = [](const auto &window) {
    return window.baseDilation != 1;
  };
  if (!pad || llvm::any_of(op.getWindow(), isDilated) ||
      !areAll(pad.getInteriorPadding(), 0) ||
      splatValue(pad.getPaddingValue()) != 0.0 ||
      isa<quant::QuantizedType>(tensorOf(pad).getElementType()))
    return {};
  ArrayRef<int64_t> low = pad.getEdgePaddingLow();
  ArrayRef<int64_t> high = pad.getEdgePaddingHigh();
  for (int64_t dimension :
       {numbers.getInputBatchDimension(), numbers.getInputFeatureDimension()})
    if (low[dimension] || high[dimension])
      return {};
  SmallVector<int64_t> padding;
  for (auto [index, window] : llvm::enumerate(op.getWindow())) {
    int64_t dimension = numbers.getInputSpatialDimensions()[index];
    int64_t before, after;
    if (low[dimension] < 0 || high[dimension] < 0 || window.paddingLow < 0 ||
        window.paddingHigh < 0 ||
        llvm::AddOverflow(window.paddingLow, low[dimension], before) ||
        llvm::AddOverflow(window.paddingHigh, high[dimension], after))
      return {};
    padding.append({before, after});
  }
  auto type = RankedTensorType::get({op.getSpatialRank(), 2},
                                    builder.getIntegerType(64));
  auto merged = cast<ConvolutionOp>(cloneApart(builder, op));
  merged.getLhsMutable().assign(pad.getOperand());
  merged.setPaddingAttr(
      DenseIntElementsAttr::get(type, ArrayRef<int64_t>(padding)));
  return merged;
}

/// take of one index is a slice, which backends turn into an offset.
static Value takeToSlice(nn::TakeOp op, OpBuilder &builder) {
  auto type = tensorOf(op.getOperand());
  std::optional<SmallVector<int64_t>> indices =
      constantIntegers(op.getIndices());
  int64_t axis = op.getAxis();
  if (!indices || indices->size() != 1 || !type.hasStaticShape() ||
      !tensorOf(op).hasStaticShape() || type.getDimSize(axis) == 0)
    return {};
  int64_t size = type.getDimSize(axis), index = (*indices)[0];
  index = std::clamp<int64_t>(index < 0 ? index + size : index, 0, size - 1);
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()),
      strides(type.getRank(), 1);
  starts[axis] = index;
  limits[axis] = index + 1;
  Value slice = builder.create<SliceOp>(op.getLoc(), op.getOperand(), starts,
                                        limits, strides);
  return builder.create<ReshapeOp>(op.getLoc(), op.getType(), slice);
}

RuleTable movementRules() {
  static const std::vector<RewriteRule> rules = {
      rule<TransposeOp, transposeIdentity>("transpose-identity",
                                           "transpose(x, [0, 1]) -> x"),
      rule<TransposeOp, transposeTranspose>(
          "transpose-transpose",
          "transpose(transpose(x)) -> transpose(x), or x"),
      rule<TransposeOp, transposeToReshape>(
          "transpose-to-reshape",
          "transpose that moves only dimensions of size 1 -> reshape"),
      rule<ReshapeOp, reshapeSame>("reshape-same",
                                   "reshape(x) to its own shape -> x"),
      rule<ReshapeOp, reshapeReshape>(
          "reshape-reshape", "reshape(reshape(x)) -> reshape(x), or x"),
      rule<BroadcastInDimOp, broadcastSame>(
          "broadcast-same", "broadcast_in_dim(x) to its own shape -> x"),
      rule<BroadcastInDimOp, broadcastBroadcast>(
          "broadcast-broadcast", "broadcast(broadcast(x)) -> broadcast(x)"),
      form(rule<BroadcastInDimOp, broadcastToReshape>(
          "broadcast-to-reshape",
          "broadcast that only adds dimensions of size 1 -> reshape")),
      rule<ReverseOp, reverseNothing>("reverse-nothing", "reverse(x, []) -> x"),
      rule<ReverseOp, reverseReverse>("reverse-reverse",
                                      "reverse(reverse(x)) -> x"),
      rule<SliceOp, sliceFull>("slice-full", "slice(x) of all of it -> x"),
      rule<SliceOp, sliceSlice>("slice-slice", "slice(slice(x)) -> slice(x)"),
      rule<SliceOp, sliceConcatenate>(
          "slice-concatenate",
          "slice(concatenate(x, y)) -> slice(x), where it lies in x"),
      rule<ConcatenateOp, concatenateOne>("concatenate-one",
                                          "concatenate(x) -> x"),
      rule<ConcatenateOp, concatenateNested>(
          "concatenate-nested",
          "concatenate(concatenate(x, y), z) -> concatenate(x, y, z)"),
      rule<ConcatenateOp, concatenateSlices>(
          "concatenate-slices", "concatenate(x[0:2], x[2:5]) -> x[0:5]"),
      rule<PadOp, padNothing>("pad-nothing", "pad(x) by nothing -> x"),
      rule<ConvolutionOp, padConvolution>(
          "pad-convolution",
          "convolution(pad(x, 0)) -> convolution(x) with padding"),
      form(rule<nn::TakeOp, takeToSlice>("take-to-slice",
                                         "take(x, [3]) -> slice(x)")),
  };
  return {"Transposes, reshapes, broadcasts, slices, joins, padding", rules};
}

} // namespace sinter
