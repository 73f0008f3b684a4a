// Batch, layer and group normalisation; softmax.

#include "formats/paddle/write/WriterRules.h"
#include "graph/Momentum.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;

namespace sinter::paddle {

static LogicalResult writeBatchNorm(OperatorWriter &e,
                                    stablehlo::BatchNormInferenceOp op) {
  auto type = tensorOf(op.getResult());
  const int64_t rank = type.getRank(), feature = op.getFeatureIndex();
  if (rank < 2 || rank > 5 || (feature != 1 && feature != rank - 1))
    return e.unsupported("of this layout");
  Var mean = e.operand(op.getMean()), variance = e.operand(op.getVariance());
  std::vector<Given> inputs = {{"X", e.operand(op.getOperand())},
                               {"Scale", e.operand(op.getScale())},
                               {"Bias", e.operand(op.getOffset())},
                               {"Mean", mean},
                               {"Variance", variance}};
  return e.resultsOf("batch_norm", std::move(inputs),
                     {{"epsilon", op.getEpsilon().convertToDouble()},
                      {"momentum", momentumOf(op)},
                      {"is_test", true},
                      {"data_layout", feature == 1 ? "NCHW" : "NHWC"},
                      {"use_global_stats", true},
                      {"trainable_statistics", false}},
                     {{"Y", Var()},
                      {"MeanOut", mean},
                      {"VarianceOut", variance},
                      {"SavedMean", e.declare(mean.type)},
                      {"SavedVariance", e.declare(variance.type)}});
}

/// Scale and bias are vectors with one element for each element of the
/// normalised dimensions.
static LogicalResult writeLayerNorm(OperatorWriter &e, nn::LayerNormOp op) {
  auto type = tensorOf(op.getOperand());
  const auto axis = static_cast<int64_t>(op.getAxis());
  ArrayRef<int64_t> tail = type.getShape().drop_front(axis);
  auto isWhole = [&](Value value) {
    return tensorOf(value).getShape() == tail;
  };
  if (!op.getMean().use_empty() || !op.getInverseDeviation().use_empty() ||
      ShapedType::isDynamicShape(tail) || !isWhole(op.getScale()) ||
      (op.getBias() && !isWhole(op.getBias())))
    return e.unsupported("with results besides the normalised values, or "
                         "over unknown sizes");
  const int64_t count = productOf(tail),
                rows = productOf(type.getShape().take_front(axis));
  std::vector<Given> inputs = {
      {"X", e.operand(op.getOperand())},
      {"Scale", e.reshape(e.operand(op.getScale()), {count})}};
  if (op.getBias())
    inputs.push_back({"Bias", e.reshape(e.operand(op.getBias()), {count})});
  auto statistic = e.typed({rows}, op.getComputeType());
  return e.resultsOf("layer_norm", std::move(inputs),
                     {{"epsilon", op.getEpsilon().convertToDouble()},
                      {"begin_norm_axis", axis}},
                     {{"Y", Var()},
                      {"Mean", e.declare(statistic)},
                      {"Variance", e.declare(statistic)}});
}

static LogicalResult writeGroupNorm(OperatorWriter &e, nn::GroupNormOp op) {
  auto type = tensorOf(op.getResult());
  auto statistic =
      e.typed({type.getDimSize(0), static_cast<int64_t>(op.getGroups())},
              type.getElementType());
  return e.resultsOf("group_norm",
                     {{"X", e.operand(op.getOperand())},
                      {"Scale", e.operand(op.getScale())},
                      {"Bias", e.operand(op.getBias())}},
                     {{"epsilon", op.getEpsilon().convertToDouble()},
                      {"groups", op.getGroups()},
                      {"data_layout", "NCHW"}},
                     {{"Y", Var()},
                      {"Mean", e.declare(statistic)},
                      {"Variance", e.declare(statistic)}});
}

template <typename Op>
static LogicalResult alongOne(OperatorWriter &e, Op op, StringRef name) {
  if (op.getAxes().size() != 1)
    return e.unsupported("over several dimensions");
  return e.result(name, {{"X", e.operand(op.getOperand())}},
                  {{"axis", op.getAxes()[0]}});
}
static LogicalResult writeSoftmax(OperatorWriter &e, nn::SoftmaxOp op) {
  return alongOne(e, op, "softmax");
}
static LogicalResult writeLogSoftmax(OperatorWriter &e, nn::LogSoftmaxOp op) {
  return alongOne(e, op, "log_softmax");
}

WriterRules normalizationRules() {
  static const WriterRule rules[] = {
      writerRule<writeBatchNorm>(), writerRule<writeLayerNorm>(),
      writerRule<writeGroupNorm>(), writerRule<writeSoftmax>(),
      writerRule<writeLogSoftmax>()};
  return rules;
}

} // namespace sinter::paddle
