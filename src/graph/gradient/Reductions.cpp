// Gradients of reductions, windows and batch norms.

#include "graph/gradient/Gradient.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::gradient {

/// The greatest (least) elements share what the result gets; the initial value
/// takes part.
static Gradients extreme(ReduceOp op, TensorBuilder &e, Value dy) {
  Value x = op.getInputs()[0], initial = op.getInitValues()[0];
  ArrayRef<int64_t> dimensions = op.getDimensions();
  ArrayRef<int64_t> shape = tensorOf(x).getShape();
  Type element = tensorOf(x).getElementType();
  Value y = op->getResult(0);
  Value best =
      e.compare(ComparisonDirection::EQ, x, e.restore(y, dimensions, shape));
  Value isInitial =
      e.compare(ComparisonDirection::EQ,
                e.broadcast(initial, {}, tensorOf(y).getShape()), y);
  Value share = e.div(dy, e.add(e.sum(e.convert(best, element), dimensions),
                                e.convert(isInitial, element)));
  Value spread = e.restore(share, dimensions, shape);
  Value byInitial = e.select(isInitial, share, e.splat(0, tensorOf(share)));
  return list({e.select(best, spread, e.splat(0, tensorOf(x))),
               e.sum(byInitial, allDimensions(byInitial))});
}

static Gradients reduced(ReduceOp op, TensorBuilder &e, ValueRange dy) {
  Value x = op.getInputs()[0];
  if (op.getInputs().size() != 1 || !isDifferentiable(x))
    return reducedByTree(op, e, dy);
  StringRef combiner = combinerOf(op.getBody());
  if (combiner == AddOp::getOperationName())
    return list({e.restore(dy[0], op.getDimensions(), tensorOf(x).getShape()),
                 e.sum(dy[0], allDimensions(dy[0]))});
  if (combiner == MaxOp::getOperationName() ||
      combiner == MinOp::getOperationName())
    return extreme(op, e, dy[0]);
  return reducedByTree(op, e, dy);
}

/// A sum of windows: each element gets the sum of the windows that it is in,
/// which is a sum of windows of dy with holes where there was a stride.
static Gradients summedWindows(ReduceWindowOp op, TensorBuilder &e, Value dy) {
  Value x = op.getInputs()[0];
  ArrayRef<int64_t> shape = tensorOf(x).getShape(),
                    result = tensorOf(dy).getShape();
  ConvolutionWindow window = op.getWindow(), back;
  SmallVector<int64_t> low, high, interior, starts(shape.size(), 0), limits,
      strides;
  for (auto [i, each] : llvm::enumerate(window)) {
    if (shape[i] == 0 || result[i] == 0)
      return failure();
    int64_t size = (shape[i] - 1) * each.baseDilation + 1;
    int64_t reach = (each.size - 1) * each.windowDilation + 1;
    int64_t covered = (result[i] - 1) * each.stride + 1;
    low.push_back(reach - 1 - each.paddingLow);
    high.push_back(size + reach - 1 - covered - low.back());
    interior.push_back(each.stride - 1);
    limits.push_back(size);
    strides.push_back(each.baseDilation);
    WindowDimension next;
    next.size = each.size;
    next.windowDilation = each.windowDilation;
    back.push_back(next);
  }
  Value zero = e.scalar(0, tensorOf(x).getElementType());
  Value spread = e.make<PadOp>(dy, zero, low, high, interior);
  Value sum = e.reduceWindow<AddOp>(spread, zero, back);
  sum = e.make<SliceOp>(sum, starts, limits, strides);
  // Each window starts with the initial value, and where it meets no element it
  // meets that value again.
  double places = 1;
  for (const WindowDimension &each : window)
    places *= static_cast<double>(each.size);
  Value met = e.reduceWindow<AddOp>(e.splat(1, tensorOf(x)), zero, window);
  Value initials = e.sub(e.splat(places + 1, tensorOf(met)), met);
  return list({sum, e.sum(e.mul(dy, initials), allDimensions(dy))});
}

/// The first greatest (least) element of each window gets it all. Nothing by
/// the initial value, which is less (greater) than any element.
static Gradients extremeOfWindows(ReduceWindowOp op, TensorBuilder &e, Value dy,
                                  ComparisonDirection wins) {
  for (const WindowDimension &each : op.getWindow())
    if (each.baseDilation != 1 || each.windowDilation != 1)
      return reducedWindowsByTree(op, e, dy);
  Value x = op.getInputs()[0];
  auto type = tensorOf(x);
  auto spread = e.builder.create<SelectAndScatterOp>(
      e.location, type, x, dy, e.scalar(0, type.getElementType()),
      op.getWindowDimensionsAttr(), op.getWindowStridesAttr(),
      op.getPaddingAttr());
  Type scalar = RankedTensorType::get({}, type.getElementType());
  e.fill(spread.getSelect(), {scalar, scalar},
         [&](TensorBuilder &inner, ValueRange pair) {
           return SmallVector<Value>{inner.compare(wins, pair[0], pair[1])};
         });
  e.fill(spread.getScatter(), {scalar, scalar},
         [](TensorBuilder &inner, ValueRange pair) {
           return SmallVector<Value>{inner.add(pair[0], pair[1])};
         });
  return list({spread.getResult(), Value()});
}

static Gradients reducedWindows(ReduceWindowOp op, TensorBuilder &e,
                                ValueRange dy) {
  if (op.getInputs().size() != 1 || !isDifferentiable(op.getInputs()[0]))
    return reducedWindowsByTree(op, e, dy);
  StringRef combiner = combinerOf(op.getBody());
  if (combiner == AddOp::getOperationName())
    return summedWindows(op, e, dy[0]);
  if (combiner == MaxOp::getOperationName())
    return extremeOfWindows(op, e, dy[0], ComparisonDirection::GE);
  if (combiner == MinOp::getOperationName())
    return extremeOfWindows(op, e, dy[0], ComparisonDirection::LE);
  return reducedWindowsByTree(op, e, dy);
}

/// x * factor + rest, where factor = scale / sqrt(variance + epsilon).
static Gradients normalized(BatchNormInferenceOp op, TensorBuilder &e,
                            ValueRange dy) {
  Value x = op.getOperand();
  int64_t feature = op.getFeatureIndex();
  ArrayRef<int64_t> shape = tensorOf(x).getShape();
  SmallVector<int64_t> others;
  for (int64_t i = 0; i < tensorOf(x).getRank(); ++i)
    if (i != feature)
      others.push_back(i);
  auto spread = [&](Value vector) {
    return e.broadcast(vector, {feature}, shape);
  };
  Value inverse = e.make<RsqrtOp>(
      e.add(op.getVariance(), op.getEpsilon().convertToDouble()));
  Value factor = e.mul(op.getScale(), inverse);
  Value centred = e.sub(x, spread(op.getMean()));
  Value sum = e.sum(dy[0], others);
  Value weighted = e.sum(e.mul(dy[0], centred), others);
  Value cube = e.mul(e.mul(factor, inverse), inverse);
  return list({e.mul(dy[0], spread(factor)), e.mul(weighted, inverse), sum,
               e.neg(e.mul(sum, factor)), e.mul(e.mul(weighted, cube), -0.5)});
}

void attachReductions(MLIRContext *context) {
  attach<ReduceOp, reduced>(context);
  attach<ReduceWindowOp, reducedWindows>(context);
  attach<BatchNormInferenceOp, normalized>(context);
}

} // namespace sinter::gradient
