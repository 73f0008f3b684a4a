//===- NnNormalization.cpp - softmax, layer norm and the like -------------===//
//
// Computed in double and rounded once.
//
//===----------------------------------------------------------------------===//

#include "graph/nn/NnOps.h"
#include "interpreter/Evaluation.h"
#include "interpreter/Numbers.h"
#include "interpreter/Strided.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;

namespace sinter::interpreter {

//===----------------------------------------------------------------------===//
// Functions of the elements along axes
//===----------------------------------------------------------------------===//

/// The operand with `change(row)` applied to the elements along \p axes, for
/// each index into the other dimensions.
template <typename F>
static Result<Tensors> mapRows(const Tensor &operand, ArrayRef<int64_t> axes,
                               F change) {
  SmallVector<int64_t> permutation, sortedAxes(axes);
  llvm::sort(sortedAxes);
  int64_t rowSize = 1;
  for (int64_t d = 0; d < operand.rank(); ++d)
    if (!llvm::is_contained(axes, d))
      permutation.push_back(d);
  for (int64_t axis : sortedAxes) {
    permutation.push_back(axis);
    rowSize *= operand.dim(axis);
  }
  const Tensor rows = transposed(operand, permutation);
  Tensor changed(rows.type(), rows.shape());
  std::vector<double> row(rowSize);
  for (int64_t begin = 0; begin < rows.size(); begin += rowSize) {
    loadReals(rows, begin, row);
    change(std::span<double>(row));
    storeReals(changed, begin, row);
  }
  std::vector<int64_t> back(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i)
    back[permutation[i]] = static_cast<int64_t>(i);
  return single(transposed(changed, back));
}

/// The maximum is subtracted from all elements first, which only avoids
/// overflow.
static Result<Tensors> evaluateSoftmax(const Call &call) {
  return mapRows(call[0], call.as<nn::SoftmaxOp>().getAxes(),
                 [](std::span<double> row) {
                   const double most = *std::ranges::max_element(row);
                   double sum = 0;
                   for (double &x : row)
                     sum += x = std::exp(x - most);
                   for (double &x : row)
                     x /= sum;
                 });
}

static Result<Tensors> evaluateLogSoftmax(const Call &call) {
  return mapRows(call[0], call.as<nn::LogSoftmaxOp>().getAxes(),
                 [](std::span<double> row) {
                   const double most = *std::ranges::max_element(row);
                   double sum = 0;
                   for (double x : row)
                     sum += std::exp(x - most);
                   for (double &x : row)
                     x = x - most - std::log(sum);
                 });
}

static Result<Tensors> evaluateHardmax(const Call &call) {
  const auto axis = static_cast<int64_t>(call.as<nn::HardmaxOp>().getAxis());
  if (axis >= call[0].rank())
    return invalidModel("axis is not a dimension of the operand");
  return mapRows(call[0], axis, [](std::span<double> row) {
    auto none =
        std::ranges::find_if(row, [](double x) { return std::isnan(x); });
    const auto first =
        (none != row.end() ? none : std::ranges::max_element(row)) -
        row.begin();
    std::ranges::fill(row, 0.0);
    row[first] = 1;
  });
}

static Result<Tensors> evaluateLpNormalize(const Call &call) {
  auto op = call.as<nn::LpNormalizeOp>();
  const auto axis = static_cast<int64_t>(op.getAxis());
  const auto p = static_cast<double>(static_cast<int64_t>(op.getP()));
  if (axis >= call[0].rank())
    return invalidModel("axis is not a dimension of the operand");
  return mapRows(call[0], axis, [=](std::span<double> row) {
    double sum = 0;
    for (double x : row)
      sum += std::pow(std::fabs(x), p);
    const double norm = std::pow(sum, 1 / p);
    // ONNX: a vector of zeros stays one.
    for (double &x : row)
      x = norm == 0 ? x : x / norm;
  });
}

static Result<Tensors> evaluateLrn(const Call &call) {
  auto op = call.as<nn::LrnOp>();
  const auto size = static_cast<int64_t>(op.getSize());
  const double alpha = op.getAlpha().convertToDouble();
  const double beta = op.getBeta().convertToDouble();
  const double bias = op.getBias().convertToDouble();
  if (call[0].rank() < 2 || size < 1)
    return invalidModel("the operand is not [N, C, spatial...] or size is not "
                        "positive");
  const int64_t before = (size - 1) / 2, after = size - 1 - before;
  return mapRows(call[0], int64_t(1), [=](std::span<double> channels) {
    const std::vector<double> x(channels.begin(), channels.end());
    const auto count = static_cast<int64_t>(x.size());
    for (int64_t c = 0; c < count; ++c) {
      double sum = 0;
      for (int64_t i = std::max<int64_t>(0, c - before);
           i <= std::min(count - 1, c + after); ++i)
        sum += x[i] * x[i];
      channels[c] =
          x[c] / std::pow(bias + alpha / static_cast<double>(size) * sum, beta);
    }
  });
}

//===----------------------------------------------------------------------===//
// Mean and variance
//===----------------------------------------------------------------------===//

namespace {
struct Statistics {
  double mean = 0, variance = 0;
};
} // namespace

/// The mean and the (biased) variance, in two passes.
static Statistics statisticsOf(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  Statistics result;
  result.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  for (double x : values)
    result.variance += (x - result.mean) * (x - result.mean);
  result.variance /= count;
  return result;
}

/// \p tensor's elements, broadcast to \p shape.
static Result<std::vector<double>> broadcastReals(const Tensor &tensor,
                                                  const Shape &shape) {
  const auto common = broadcastShapes(shape, tensor.shape());
  if (!common || toShape(*common) != shape)
    return invalidModel("scale or bias does not broadcast to the normalised "
                        "dimensions");
  return reals(broadcastTo(tensor, shape));
}

static Result<Tensors> evaluateLayerNorm(const Call &call) {
  auto op = call.as<nn::LayerNormOp>();
  const Tensor &operand = call[0];
  const auto axis = static_cast<int64_t>(op.getAxis());
  const double epsilon = op.getEpsilon().convertToDouble();
  const Shape normalised(operand.shape().begin() + axis, operand.shape().end());
  Result<std::vector<double>> scale = broadcastReals(call[1], normalised);
  if (!scale)
    return scale.takeError();
  std::vector<double> bias(scale->size(), 0.0);
  if (op.getBias()) {
    Result<std::vector<double>> given = broadcastReals(call[2], normalised);
    if (!given)
      return given.takeError();
    bias = std::move(*given);
  }
  Shape statisticsShape = operand.shape();
  std::fill(statisticsShape.begin() + axis, statisticsShape.end(), 1);
  Tensor result(operand.type(), operand.shape());
  Tensor means(call.resultElement(1), statisticsShape);
  Tensor deviations(call.resultElement(2), statisticsShape);
  std::vector<double> row(scale->size());
  for (int64_t i = 0; i < means.size() && !row.empty(); ++i) {
    const auto begin = i * static_cast<int64_t>(row.size());
    loadReals(operand, begin, row);
    const Statistics statistics = statisticsOf(row);
    const double inverse = 1 / std::sqrt(statistics.variance + epsilon);
    for (size_t k = 0; k < row.size(); ++k)
      row[k] = (row[k] - statistics.mean) * inverse * (*scale)[k] + bias[k];
    storeReals(result, begin, row);
    storeReals(means, i, std::array{statistics.mean});
    storeReals(deviations, i, std::array{inverse});
  }
  return Tensors{std::move(result), std::move(means), std::move(deviations)};
}

static Result<Tensors> evaluateRmsNorm(const Call &call) {
  auto op = call.as<nn::RmsNormOp>();
  const Tensor &operand = call[0];
  const auto axis = static_cast<int64_t>(op.getAxis());
  const double epsilon = op.getEpsilon().convertToDouble();
  if (axis > operand.rank())
    return invalidModel("axis is not a dimension of the operand");
  const Shape normalised(operand.shape().begin() + axis, operand.shape().end());
  Result<std::vector<double>> scale = broadcastReals(call[1], normalised);
  if (!scale)
    return scale.takeError();
  auto axes = llvm::to_vector(llvm::seq(axis, operand.rank()));
  return mapRows(operand, axes, [&](std::span<double> row) {
    double sum = 0;
    for (double x : row)
      sum += x * x;
    const double root =
        std::sqrt(sum / static_cast<double>(row.size()) + epsilon);
    for (size_t k = 0; k < row.size(); ++k)
      row[k] = row[k] / root * (*scale)[k];
  });
}

static Result<Tensors> evaluateGroupNorm(const Call &call) {
  auto op = call.as<nn::GroupNormOp>();
  const Tensor &operand = call[0];
  const auto groups = static_cast<int64_t>(op.getGroups());
  const double epsilon = op.getEpsilon().convertToDouble();
  const int64_t channels = operand.dim(1);
  const std::vector<double> scale = reals(call[1]), bias = reals(call[2]);
  if (channels % groups != 0 || call[1].size() != channels ||
      call[2].size() != channels)
    return invalidModel("the channels do not fit the groups, scale or bias");
  return produce(operand.type(), operand.shape(), [&](Tensor &result) {
    if (result.size() == 0)
      return;
    const int64_t perGroup = channels / groups;
    const int64_t spatial = operand.size() / operand.dim(0) / channels;
    std::vector<double> row(perGroup * spatial);
    for (int64_t i = 0; i < operand.dim(0) * groups; ++i) {
      const auto begin = i * static_cast<int64_t>(row.size());
      loadReals(operand, begin, row);
      const Statistics statistics = statisticsOf(row);
      const double deviation = std::sqrt(statistics.variance + epsilon);
      for (size_t k = 0; k < row.size(); ++k) {
        const int64_t c =
            i % groups * perGroup + static_cast<int64_t>(k) / spatial;
        row[k] = (row[k] - statistics.mean) / deviation * scale[c] + bias[c];
      }
      storeReals(result, begin, row);
    }
  });
}

static Result<Tensors> evaluateMeanVarNorm(const Call &call) {
  auto op = call.as<nn::MeanVarNormOp>();
  const Tensor &operand = call[0];
  const auto feature = static_cast<int64_t>(op.getFeatureIndex());
  const double momentum = op.getMomentum().convertToDouble();
  if (feature >= operand.rank())
    return invalidModel("feature_index is not a dimension of the operand");
  const AxisView view(operand.shape(), feature);
  std::vector<double> runningMean = reals(call[1]);
  std::vector<double> runningVariance = reals(call[2]);
  if (call[1].size() != view.size || call[2].size() != view.size)
    return invalidModel("running statistics are not one number a feature");
  const std::vector<double> values = reals(operand);
  std::vector<double> means, variances;
  for (int64_t f = 0; f < view.size; ++f) {
    std::vector<double> ofFeature;
    for (int64_t o = 0; o < view.outer; ++o) {
      auto begin = values.begin() + (o * view.size + f) * view.inner;
      ofFeature.insert(ofFeature.end(), begin, begin + view.inner);
    }
    const Statistics statistics = statisticsOf(ofFeature);
    means.push_back(statistics.mean);
    variances.push_back(statistics.variance);
    runningMean[f] =
        runningMean[f] * momentum + statistics.mean * (1 - momentum);
    const auto count = static_cast<double>(ofFeature.size());
    const double kept = op.getUnbiased() ? statistics.variance * count /
                                               std::max(count - 1, 1.0)
                                         : statistics.variance;
    runningVariance[f] = runningVariance[f] * momentum + kept * (1 - momentum);
  }
  auto tensor = [&](unsigned index, const std::vector<double> &numbers) {
    return realTensor(call.resultElement(index), {view.size}, numbers);
  };
  return Tensors{tensor(0, means), tensor(1, variances), tensor(2, runningMean),
                 tensor(3, runningVariance)};
}

void registerNnNormalization(Registry &registry) {
  registry.add<nn::SoftmaxOp>(evaluateSoftmax);
  registry.add<nn::LogSoftmaxOp>(evaluateLogSoftmax);
  registry.add<nn::HardmaxOp>(evaluateHardmax);
  registry.add<nn::LpNormalizeOp>(evaluateLpNormalize);
  registry.add<nn::LrnOp>(evaluateLrn);
  registry.add<nn::LayerNormOp>(evaluateLayerNorm);
  registry.add<nn::RmsNormOp>(evaluateRmsNorm);
  registry.add<nn::GroupNormOp>(evaluateGroupNorm);
  registry.add<nn::MeanVarNormOp>(evaluateMeanVarNorm);
}

} // namespace sinter::interpreter
