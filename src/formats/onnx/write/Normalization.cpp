// Normalisation, softmax and similar.

#include "formats/onnx/file/DataTypes.h"
#include "formats/onnx/write/WriterRules.h"
#include "graph/Momentum.h"
#include "graph/nn/NnOps.h"

using namespace mlir;

namespace sinter::onnx {

/// Reshapes a vector of one element per feature for broadcasting with a tensor.
static Name perFeature(NodeWriter &e, Value vector, int64_t feature,
                       int64_t rank) {
  Ints axes;
  for (int64_t i = 1; i < rank - feature; ++i)
    axes.push_back(i);
  return e.unsqueeze(e.operand(vector), axes);
}

static LogicalResult
writeBatchNormInference(NodeWriter &e, stablehlo::BatchNormInferenceOp op) {
  int64_t rank = tensorOf(op.getOperand()).getRank();
  int64_t feature = op.getFeatureIndex();
  double epsilon = op.getEpsilon().convertToDouble();
  if (rank >= 2) {
    Ints order = identity(rank);
    order.erase(order.begin() + feature);
    order.insert(order.begin() + 1, feature);
    // The training attributes are written unless they have the default values.
    NodeAttributes attributes = {{"epsilon", epsilon}};
    if (const double momentum = momentumOf(op); momentum != usualMomentum)
      attributes.push_back({"momentum", momentum});
    if (feature == 1)
      return e.result("BatchNormalization", e.operands(), attributes);
    Names inputs = e.operands();
    inputs[0] = e.transpose(inputs[0], order);
    Name done = e.make("BatchNormalization", inputs, attributes);
    return e.alias(e.transpose(done, inverse(order)));
  }
  // (x - mean) / sqrt(variance + epsilon) * scale + offset
  Type element = elementOf(op.getOperand());
  Name variance =
      e.make("Add", {e.operand(op.getVariance()), e.scalar(element, epsilon)});
  Name centred =
      e.make("Sub", {e.operand(op.getOperand()), e.operand(op.getMean())});
  Name unit = e.make("Div", {centred, e.make("Sqrt", {variance})});
  Name scaled = e.make("Mul", {unit, e.operand(op.getScale())});
  return e.result("Add", {scaled, e.operand(op.getOffset())});
}

/// exp(x - max) and its sum along the axes.
static std::pair<Name, Name> exponentials(NodeWriter &e, const Name &x,
                                          ArrayRef<int64_t> axes,
                                          Name &centred) {
  Name max = e.reduce("ReduceMax", x, axes, true);
  centred = e.make("Sub", {x, max});
  Name exponential = e.make("Exp", {centred});
  return {exponential, e.reduce("ReduceSum", exponential, axes, true)};
}

static LogicalResult writeSoftmax(NodeWriter &e, nn::SoftmaxOp op) {
  if (op.getAxes().size() == 1)
    return e.result("Softmax", e.operands(), {{"axis", op.getAxes()[0]}});
  Name centred;
  auto [exponential, sum] =
      exponentials(e, e.operand(op.getOperand()), op.getAxes(), centred);
  return e.result("Div", {exponential, sum});
}

static LogicalResult writeLogSoftmax(NodeWriter &e, nn::LogSoftmaxOp op) {
  if (op.getAxes().size() == 1)
    return e.result("LogSoftmax", e.operands(), {{"axis", op.getAxes()[0]}});
  Name centred;
  auto [exponential, sum] =
      exponentials(e, e.operand(op.getOperand()), op.getAxes(), centred);
  return e.result("Sub", {centred, e.make("Log", {sum})});
}

static LogicalResult writeHardmax(NodeWriter &e, nn::HardmaxOp op) {
  return e.result("Hardmax", e.operands(),
                  {{"axis", static_cast<int64_t>(op.getAxis())}});
}

static LogicalResult writeLrn(NodeWriter &e, nn::LrnOp op) {
  return e.result("LRN", e.operands(),
                  {{"size", static_cast<int64_t>(op.getSize())},
                   {"alpha", op.getAlpha().convertToDouble()},
                   {"beta", op.getBeta().convertToDouble()},
                   {"bias", op.getBias().convertToDouble()}});
}

static Ints axesFrom(int64_t first, int64_t rank) {
  Ints axes = identity(rank);
  axes.erase(axes.begin(), axes.begin() + first);
  return axes;
}

/// (x - mean) * (1 / sqrt(variance + epsilon)) * scale + bias, step by step.
static LogicalResult decomposeLayerNorm(NodeWriter &e, nn::LayerNormOp op) {
  auto type = tensorOf(op.getOperand());
  Type element = type.getElementType(), compute = op.getComputeType();
  Ints axes = axesFrom(op.getAxis(), type.getRank());
  Name x = e.cast(e.operand(op.getOperand()), element, compute);
  Name mean = e.reduce("ReduceMean", x, axes, true);
  Name centred = e.make("Sub", {x, mean});
  Name variance =
      e.reduce("ReduceMean", e.make("Mul", {centred, centred}), axes, true);
  Name shifted = e.make(
      "Add", {variance, e.scalar(compute, op.getEpsilon().convertToDouble())});
  Name inverse = e.make("Reciprocal", {e.make("Sqrt", {shifted})});
  Name unit = e.cast(e.make("Mul", {centred, inverse}), compute, element);
  Name result = e.make("Mul", {unit, e.operand(op.getScale())});
  if (op.getBias())
    result = e.make("Add", {result, e.operand(op.getBias())});
  if (failed(e.alias(result, 0)) || failed(e.alias(mean, 1)))
    return failure();
  return e.alias(inverse, 2);
}

static LogicalResult writeLayerNorm(NodeWriter &e, nn::LayerNormOp op) {
  if (e.version() < 17 || !op.getComputeType().isF32())
    return decomposeLayerNorm(e, op);
  bool needsMean = !op.getMean().use_empty();
  bool needsInverse = !op.getInverseDeviation().use_empty();
  Names outputs =
      e.makeMany("LayerNormalization",
                 {e.operand(op.getOperand()), e.operand(op.getScale()),
                  op.getBias() ? e.operand(op.getBias()) : Name()},
                 {{"axis", static_cast<int64_t>(op.getAxis())},
                  {"epsilon", op.getEpsilon().convertToDouble()}},
                 needsInverse ? ArrayRef<bool>({true, needsMean, true})
                 : needsMean  ? ArrayRef<bool>({true, true})
                              : ArrayRef<bool>({true}));
  for (auto [i, output] : llvm::enumerate(outputs))
    if (!output.empty() && failed(e.alias(output, i)))
      return failure();
  return success();
}

static LogicalResult writeRmsNorm(NodeWriter &e, nn::RmsNormOp op) {
  auto type = tensorOf(op.getOperand());
  Type element = type.getElementType(), compute = op.getComputeType();
  double epsilon = op.getEpsilon().convertToDouble();
  if (e.version() >= 23 && compute.isF32())
    return e.result(
        "RMSNormalization", e.operands(),
        {{"axis", static_cast<int64_t>(op.getAxis())}, {"epsilon", epsilon}});
  Ints axes = axesFrom(op.getAxis(), type.getRank());
  Name x = e.cast(e.operand(op.getOperand()), element, compute);
  Name square = e.reduce("ReduceMean", e.make("Mul", {x, x}), axes, true);
  Name root =
      e.make("Sqrt", {e.make("Add", {square, e.scalar(compute, epsilon)})});
  Name unit = e.cast(e.make("Div", {x, root}), compute, element);
  return e.result("Mul", {unit, e.operand(op.getScale())});
}

/// InstanceNormalization, with groups in place of channels if there are fewer.
static LogicalResult writeGroupNorm(NodeWriter &e, nn::GroupNormOp op) {
  auto type = tensorOf(op.getOperand());
  double epsilon = op.getEpsilon().convertToDouble();
  int64_t groups = op.getGroups();
  if (groups == type.getDimSize(1) && type.getRank() > 2)
    return e.result("InstanceNormalization", e.operands(),
                    {{"epsilon", epsilon}});
  Type element = type.getElementType();
  Name x = e.operand(op.getOperand());
  Name split = e.make("Reshape", {x, e.integers({0, groups, -1})});
  Name unit = e.make(
      "InstanceNormalization",
      {split, e.splat(element, 1, {groups}), e.splat(element, 0, {groups})},
      {{"epsilon", epsilon}});
  Name whole = e.make("Reshape", {unit, e.make("Shape", {x})});
  Name scaled =
      e.make("Mul", {whole, perFeature(e, op.getScale(), 1, type.getRank())});
  return e.result("Add",
                  {scaled, perFeature(e, op.getBias(), 1, type.getRank())});
}

static LogicalResult writeLpNormalize(NodeWriter &e, nn::LpNormalizeOp op) {
  return e.result("LpNormalization", e.operands(),
                  {{"axis", static_cast<int64_t>(op.getAxis())},
                   {"p", static_cast<int64_t>(op.getP())}});
}

/// Batch statistics, and running ones: running * momentum + batch * (1 -
/// momentum).
static LogicalResult writeMeanVarNorm(NodeWriter &e, nn::MeanVarNormOp op) {
  auto type = tensorOf(op.getOperand());
  Type element = elementOf(op.getRunningMean());
  int64_t feature = op.getFeatureIndex();
  Ints axes = identity(type.getRank());
  axes.erase(axes.begin() + feature);
  if (op.getUnbiased() && !type.hasStaticShape())
    return op.emitOpError(
        "keeps the unbiased variance of an unknown number of elements");
  double momentum = op.getMomentum().convertToDouble();
  Name x = e.cast(e.operand(op.getOperand()), type.getElementType(), element);
  Name wideMean = e.reduce("ReduceMean", x, axes, true);
  Name centred = e.make("Sub", {x, wideMean});
  Name variance =
      e.reduce("ReduceMean", e.make("Mul", {centred, centred}), axes, false);
  Name mean = e.squeeze(wideMean, axes);
  auto moved = [&](Value running, const Name &batch) {
    Name old = e.make("Mul", {e.operand(running), e.scalar(element, momentum)});
    Name more = e.make("Mul", {batch, e.scalar(element, 1 - momentum)});
    return e.make("Add", {old, more});
  };
  Name newMean = moved(op.getRunningMean(), mean);
  Name kept = variance;
  if (op.getUnbiased()) {
    double count = 1;
    for (int64_t axis : axes)
      count *= static_cast<double>(type.getDimSize(axis));
    kept = e.make(
        "Mul", {variance, e.scalar(element, count / std::max(count - 1, 1.0))});
  }
  Name newVariance = moved(op.getRunningVariance(), kept);
  for (auto [i, name] :
       llvm::enumerate(Names{mean, variance, newMean, newVariance}))
    if (failed(e.alias(name, i)))
      return failure();
  return success();
}

WriterRules normalizationRules() {
  static const WriterRule rules[] = {writerRule<writeBatchNormInference>(),
                                     writerRule<writeSoftmax>(),
                                     writerRule<writeLogSoftmax>(),
                                     writerRule<writeHardmax>(),
                                     writerRule<writeLrn>(),
                                     writerRule<writeLayerNorm>(),
                                     writerRule<writeRmsNorm>(),
                                     writerRule<writeGroupNorm>(),
                                     writerRule<writeLpNormalize>(),
                                     writerRule<writeMeanVarNorm>()};
  return rules;
}

} // namespace sinter::onnx
