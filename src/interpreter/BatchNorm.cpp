//===- BatchNorm.cpp - batch_norm_inference, _training, _grad -------------===//
//
// Computed in double and rounded once.
//
//===----------------------------------------------------------------------===//

#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Evaluation.h"
#include "interpreter/Numbers.h"
#include "interpreter/Strided.h"

#include <cmath>

using namespace mlir;

namespace sinter::interpreter {

/// The operand as [outer, feature, inner], if operands \p first to \p last have
/// one element a feature.
static Result<AxisView> featuresOf(const Call &call, uint64_t featureIndex,
                                   size_t first, size_t last) {
  if (static_cast<int64_t>(featureIndex) >= call[0].rank())
    return invalidModel("feature_index is not a dimension of the operand");
  const AxisView view(call[0].shape(), static_cast<int64_t>(featureIndex));
  for (size_t i = first; i <= last; ++i)
    if (call[i].size() != view.size)
      return invalidModel("operand " + std::to_string(i) +
                          " is not one number a feature");
  return view;
}

/// Calls `body(feature, begin)` for each run of `inner` elements.
template <typename Body>
static void forEachRow(const AxisView &view, Body body) {
  if (view.inner == 0)
    return;
  for (int64_t i = 0; i < view.outer * view.size; ++i)
    body(i % view.size, i * view.inner);
}

/// (operand - mean) / sqrt(variance + epsilon) * scale + offset.
static Result<Tensors> evaluateInference(const Call &call) {
  auto op = call.as<stablehlo::BatchNormInferenceOp>();
  const Tensor &operand = call[0];
  Result<AxisView> view = featuresOf(call, op.getFeatureIndex(), 1, 4);
  if (!view)
    return view.takeError();
  const double epsilon = op.getEpsilon().convertToDouble();
  const auto scale = reals(call[1]), offset = reals(call[2]),
             mean = reals(call[3]), variance = reals(call[4]);
  return produce(operand.type(), operand.shape(), [&](Tensor &result) {
    std::vector<double> row(view->inner);
    forEachRow(*view, [&](int64_t f, int64_t begin) {
      const double deviation = std::sqrt(variance[f] + epsilon);
      loadReals(operand, begin, row);
      for (double &x : row)
        x = (x - mean[f]) / deviation * scale[f] + offset[f];
      storeReals(result, begin, row);
    });
  });
}

/// The same with the batch's own mean and variance, which are results, too.
static Result<Tensors> evaluateTraining(const Call &call) {
  auto op = call.as<stablehlo::BatchNormTrainingOp>();
  const Tensor &operand = call[0];
  Result<AxisView> view = featuresOf(call, op.getFeatureIndex(), 1, 2);
  if (!view)
    return view.takeError();
  if (Result<void> ok = checkSize(operand.type(), operand.shape()); !ok)
    return ok.takeError();
  const double epsilon = op.getEpsilon().convertToDouble();
  const auto scale = reals(call[1]), offset = reals(call[2]);
  const auto count = static_cast<double>(view->outer * view->inner);
  std::vector<double> mean(view->size), variance(view->size);
  std::vector<double> row(view->inner);
  forEachRow(*view, [&](int64_t f, int64_t begin) {
    loadReals(operand, begin, row);
    for (double x : row)
      mean[f] += x;
  });
  for (double &each : mean)
    each /= count;
  forEachRow(*view, [&](int64_t f, int64_t begin) {
    loadReals(operand, begin, row);
    for (double x : row)
      variance[f] += (x - mean[f]) * (x - mean[f]);
  });
  for (double &each : variance)
    each /= count;
  Tensor output(operand.type(), operand.shape());
  forEachRow(*view, [&](int64_t f, int64_t begin) {
    const double deviation = std::sqrt(variance[f] + epsilon);
    loadReals(operand, begin, row);
    for (double &x : row)
      x = (x - mean[f]) / deviation * scale[f] + offset[f];
    storeReals(output, begin, row);
  });
  const Shape features = {view->size};
  return Tensors{output, realTensor(call.resultElement(1), features, mean),
                 realTensor(call.resultElement(2), features, variance)};
}

/// The gradients of operand, scale and offset, from that of the result:
/// with c = operand - mean, s^2 = variance + epsilon, N elements a feature,
/// grad_operand = scale / s / N (N g - sum(g) - c sum(g c) / s^2).
static Result<Tensors> evaluateGrad(const Call &call) {
  auto op = call.as<stablehlo::BatchNormGradOp>();
  const Tensor &operand = call[0], &gradient = call[4];
  Result<AxisView> view = featuresOf(call, op.getFeatureIndex(), 1, 3);
  if (!view)
    return view.takeError();
  if (gradient.shape() != operand.shape())
    return invalidModel("grad_output has not the operand's shape");
  if (Result<void> ok = checkSize(operand.type(), operand.shape()); !ok)
    return ok.takeError();
  const double epsilon = op.getEpsilon().convertToDouble();
  const auto scale = reals(call[1]), mean = reals(call[2]),
             variance = reals(call[3]);
  const auto count = static_cast<double>(view->outer * view->inner);
  std::vector<double> sum(view->size), sumCentered(view->size);
  std::vector<double> x(view->inner), g(view->inner);
  forEachRow(*view, [&](int64_t f, int64_t begin) {
    loadReals(operand, begin, x);
    loadReals(gradient, begin, g);
    for (size_t i = 0; i < x.size(); ++i) {
      sum[f] += g[i];
      sumCentered[f] += g[i] * (x[i] - mean[f]);
    }
  });
  Tensor gradOperand(operand.type(), operand.shape());
  forEachRow(*view, [&](int64_t f, int64_t begin) {
    const double square = variance[f] + epsilon;
    loadReals(operand, begin, x);
    loadReals(gradient, begin, g);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] =
          scale[f] / std::sqrt(square) / count *
          (count * g[i] - sum[f] - (x[i] - mean[f]) * sumCentered[f] / square);
    storeReals(gradOperand, begin, x);
  });
  for (int64_t f = 0; f < view->size; ++f)
    sumCentered[f] /= std::sqrt(variance[f] + epsilon);
  const Shape features = {view->size};
  return Tensors{gradOperand,
                 realTensor(call.resultElement(1), features, sumCentered),
                 realTensor(call.resultElement(2), features, sum)};
}

void registerBatchNorm(Registry &registry) {
  registry.add<stablehlo::BatchNormInferenceOp>(evaluateInference);
  registry.add<stablehlo::BatchNormTrainingOp>(evaluateTraining);
  registry.add<stablehlo::BatchNormGradOp>(evaluateGrad);
}

} // namespace sinter::interpreter
