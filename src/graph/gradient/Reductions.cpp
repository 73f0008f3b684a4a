// Gradients of reductions, windowed reductions and batch norms.

#include "graph/gradient/Gradient.h"

#include "graph/Constants.h"
#include "graph/nn/NnOps.h"
#include "graph/nn/Wide.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::gradient {

/// The maxima (minima) share the result's gradient; the initial value counts as
/// an element.
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
  // The elements may be added up in a wider type.
  bool isPlain = op.getInputs().size() == 1 && hasGradient(x) &&
                 tensorOf(x).getElementType() ==
                     tensorOf(op->getResult(0)).getElementType();
  if (!isPlain)
    return reducedByTree(op, e, dy);
  StringRef combiner = combinerOf(op.getBody());
  if (combiner == AddOp::getOperationName())
    return list({e.restore(dy[0], op.getDimensions(), tensorOf(x).getShape()),
                 e.sum(dy[0], allDimensions(dy[0]))});
  bool isMinOrMax = combiner == MaxOp::getOperationName() ||
                    combiner == MinOp::getOperationName();
  if (isMinOrMax && isDifferentiable(x))
    return extreme(op, e, dy[0]);
  return reducedByTree(op, e, dy);
}

/// A sum over windows: each element gets the sum of the gradients of its
/// windows, which is a sum over windows of dy, dilated by the stride.
static Gradients summedWindows(ReduceWindowOp op, TensorBuilder &e, Value dy) {
  Value x = op.getInputs()[0];
  ArrayRef<int64_t> shape = tensorOf(x).getShape(),
                    result = tensorOf(dy).getShape();
  ConvolutionWindow window = op.getWindow(), back;
  SmallVector<int64_t> low, high, interior, starts(shape.size(), 0), limits,
      strides;
  for (auto [i, each] : llvm::enumerate(window)) {
    if (shape[i] == 0 || result[i] == 0)
      return reducedWindowsByTree(op, e, dy);
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
  // Each window starts with the initial value, which also fills the padding.
  double places = 1;
  for (const WindowDimension &each : window)
    places *= static_cast<double>(each.size);
  Value met = e.reduceWindow<AddOp>(e.splat(1, tensorOf(x)), zero, window);
  Value initials = e.sub(e.splat(places + 1, tensorOf(met)), met);
  return list({sum, e.sum(e.mul(dy, initials), allDimensions(dy))});
}

/// Whether \p value is a constant and no element can be less (greater).
static bool isLimit(Value value, bool isLeast) {
  auto number = splatNumber(value);
  auto type = dyn_cast<FloatType>(tensorOf(value).getElementType());
  if (!number || !type)
    return false;
  const double most =
      APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
  return isLeast ? *number <= -most : *number >= most;
}

/// The first maximum (minimum) of each window gets the gradient. The initial
/// value has none if no element can be less (greater).
static Gradients minMaxOfWindows(ReduceWindowOp op, TensorBuilder &e, Value dy,
                                 ComparisonDirection wins) {
  if (!isLimit(op.getInitValues()[0], wins == ComparisonDirection::GE))
    return reducedWindowsByTree(op, e, dy);
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
  bool isPlain = op.getInputs().size() == 1 && hasGradient(op.getInputs()[0]) &&
                 tensorOf(op.getInputs()[0]).getElementType() ==
                     tensorOf(op->getResult(0)).getElementType();
  if (!isPlain)
    return reducedWindowsByTree(op, e, dy);
  StringRef combiner = combinerOf(op.getBody());
  if (combiner == AddOp::getOperationName())
    return summedWindows(op, e, dy[0]);
  if (isComplex(op.getInputs()[0]))
    return reducedWindowsByTree(op, e, dy);
  if (combiner == MaxOp::getOperationName())
    return minMaxOfWindows(op, e, dy[0], ComparisonDirection::GE);
  if (combiner == MinOp::getOperationName())
    return minMaxOfWindows(op, e, dy[0], ComparisonDirection::LE);
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

/// The statistics follow from the operand by
///     dx = dmean / n + dvariance * 2 (x - mean) / n;
/// the gradient of the variance by the mean is a sum of distances from the
/// mean, which is 0. No sums are needed.
static Gradients batchStatistics(nn::MeanVarNormOp op, TensorBuilder &e,
                                 ValueRange dy) {
  auto type = tensorOf(op.getOperand());
  ArrayRef<int64_t> shape = type.getShape();
  const int64_t feature = op.getFeatureIndex();
  Type statistic = tensorOf(op.getRunningMean()).getElementType();
  Type element = type.getElementType();
  if (nn::isNarrowFloat(element))
    element = e.builder.getF32Type();
  double count = 1;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (i != feature)
      count *= static_cast<double>(shape[i]);
  const double momentum = op.getMomentum().convertToDouble();
  // Combines the gradients by a batch statistic and by the running one, which
  // it updates with `share`; either may be null.
  auto ofBatch = [&](Value batch, Value moved, double share) {
    if (batch)
      batch = e.convert(batch, element);
    if (moved)
      moved = e.mul(e.convert(moved, element), share);
    return batch && moved ? e.add(batch, moved) : batch ? batch : moved;
  };
  auto ofRunning = [&](Value moved) {
    return moved ? e.convert(e.mul(moved, momentum), statistic) : Value();
  };
  auto spread = [&](Value vector) {
    return e.broadcast(vector, {feature}, shape);
  };
  const double kept = op.getUnbiased() ? count / std::max(count - 1, 1.0) : 1.0;
  Value dMean = ofBatch(dy[0], dy[2], 1 - momentum);
  Value dVariance = ofBatch(dy[1], dy[3], (1 - momentum) * kept);
  Value dx;
  if (dVariance) {
    Value x = e.convert(op.getOperand(), element);
    Value centred = e.sub(x, spread(e.convert(op.getMean(), element)));
    dx = e.mul(centred, spread(e.mul(dVariance, 2 / count)));
  }
  if (dMean) {
    Value share = spread(e.div(dMean, count));
    dx = dx ? e.add(dx, share) : share;
  }
  if (dx)
    dx = e.convert(dx, type.getElementType());
  return list({dx, ofRunning(dy[2]), ofRunning(dy[3])});
}

void attachReductions(MLIRContext *context) {
  attach<ReduceOp, reduced>(context);
  attach<ReduceWindowOp, reducedWindows>(context);
  attach<BatchNormInferenceOp, normalized>(context);
  attach<nn::MeanVarNormOp, batchStatistics>(context);
}

} // namespace sinter::gradient
