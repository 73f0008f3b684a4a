// Gradients of operations that move elements by a fixed pattern.

#include "graph/gradient/Gradient.h"
#include "graph/interfaces/Axes.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::gradient {

static SmallVector<int64_t> negated(ArrayRef<int64_t> numbers) {
  return llvm::map_to_vector(numbers, [](int64_t each) { return -each; });
}

static Gradients reshaped(ReshapeOp op, TensorBuilder &e, ValueRange dy) {
  return list({e.reshape(dy[0], tensorOf(op.getOperand()).getShape())});
}

static Gradients transposed(TransposeOp op, TensorBuilder &e, ValueRange dy) {
  const Axes axes = *axesOf(op);
  auto places = llvm::map_to_vector(
      allDimensions(op), [&](int64_t i) { return *axes.resultOf(0, i); });
  return list({e.transpose(dy[0], places)});
}

/// The sum over all copies of each element.
static Gradients repeated(BroadcastInDimOp op, TensorBuilder &e,
                          ValueRange dy) {
  ArrayRef<int64_t> from = tensorOf(op.getOperand()).getShape(),
                    to = tensorOf(op).getShape();
  SmallVector<int64_t> kept;
  const Axes axes = *axesOf(op);
  for (int64_t i = 0; i < static_cast<int64_t>(from.size()); ++i)
    if (auto place = axes.resultOf(0, i))
      kept.push_back(*place);
  SmallVector<int64_t> summed, left;
  for (int64_t i = 0; i < static_cast<int64_t>(to.size()); ++i)
    (llvm::is_contained(kept, i) ? left : summed).push_back(i);
  Value sum = summed.empty() ? dy[0] : e.sum(dy[0], summed);
  SmallVector<int64_t> order;
  for (int64_t place : kept)
    order.push_back(llvm::find(left, place) - left.begin());
  if (!llvm::is_sorted(order))
    sum = e.transpose(sum, order);
  return list({e.reshape(sum, from)});
}

static Gradients sliced(SliceOp op, TensorBuilder &e, ValueRange dy) {
  ArrayRef<int64_t> from = tensorOf(op.getOperand()).getShape(),
                    to = tensorOf(op).getShape();
  SmallVector<int64_t> low(op.getStartIndices()), high, interior;
  for (auto [i, stride] : llvm::enumerate(op.getStrides())) {
    int64_t span = to[i] == 0 ? 0 : (to[i] - 1) * stride + 1;
    high.push_back(from[i] - low[i] - span);
    interior.push_back(stride - 1);
  }
  Value zero = e.scalar(0, tensorOf(dy[0]).getElementType());
  return list({e.make<PadOp>(dy[0], zero, low, high, interior)});
}

static Gradients padded(PadOp op, TensorBuilder &e, ValueRange dy) {
  ArrayRef<int64_t> from = tensorOf(op.getOperand()).getShape();
  if (llvm::is_contained(from, 0))
    return list({Value(), e.sum(dy[0], allDimensions(dy[0]))});
  Value zero = e.scalar(0, tensorOf(dy[0]).getElementType());
  SmallVector<int64_t> strides, none(from.size(), 0);
  for (int64_t interior : op.getInteriorPadding())
    strides.push_back(interior + 1);
  Value inner = e.make<PadOp>(dy[0], zero, negated(op.getEdgePaddingLow()),
                              negated(op.getEdgePaddingHigh()), none);
  inner = e.make<SliceOp>(inner, none,
                          llvm::to_vector(tensorOf(inner).getShape()), strides);
  // The remaining elements come from the padding value.
  Value rest = e.sub(e.sum(dy[0], allDimensions(dy[0])),
                     e.sum(inner, allDimensions(inner)));
  return list({inner, rest});
}

static Gradients reversed(ReverseOp op, TensorBuilder &e, ValueRange dy) {
  return list({e.make<ReverseOp>(dy[0], op.getDimensions())});
}

static Gradients joined(ConcatenateOp op, TensorBuilder &e, ValueRange dy) {
  SmallVector<Value> parts;
  int64_t dimension = op.getDimension(), start = 0;
  for (Value input : op.getInputs()) {
    int64_t size = tensorOf(input).getShape()[dimension];
    parts.push_back(e.slice(dy[0], dimension, start, start + size));
    start += size;
  }
  return parts;
}

/// \p gradients of the first operands, and null for the others, which are
/// indices.
static Gradients withIndices(Operation *op, Gradients gradients) {
  gradients->resize(op->getNumOperands());
  return gradients;
}

static Gradients dynamicallySliced(DynamicSliceOp op, TensorBuilder &e,
                                   ValueRange dy) {
  Value zeros = e.splat(0, tensorOf(op.getOperand()));
  return withIndices(
      op,
      list({e.make<DynamicUpdateSliceOp>(zeros, dy[0], op.getStartIndices())}));
}

static Gradients dynamicallyUpdated(DynamicUpdateSliceOp op, TensorBuilder &e,
                                    ValueRange dy) {
  Value zeros = e.splat(0, tensorOf(op.getUpdate()));
  return withIndices(
      op,
      list({e.make<DynamicUpdateSliceOp>(dy[0], zeros, op.getStartIndices()),
            e.make<DynamicSliceOp>(dy[0], op.getStartIndices(),
                                   tensorOf(op.getUpdate()).getShape())}));
}

void attachMovement(MLIRContext *context) {
  attach<ReshapeOp, reshaped>(context);
  attach<TransposeOp, transposed>(context);
  attach<BroadcastInDimOp, repeated>(context);
  attach<SliceOp, sliced>(context);
  attach<PadOp, padded>(context);
  attach<ReverseOp, reversed>(context);
  attach<ConcatenateOp, joined>(context);
  attach<DynamicSliceOp, dynamicallySliced>(context);
  attach<DynamicUpdateSliceOp, dynamicallyUpdated>(context);
}

} // namespace sinter::gradient
