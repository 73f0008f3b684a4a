//===- WeightCodes.cpp - weights as integers ------------------------------===//

#include "quantize/WeightCodes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace sinter::quantize {

namespace {

/// Maps an element to its slice along a dimension.
struct Slices {
  int64_t count = 1, inner = 1;

  Slices(const Tensor &tensor, std::optional<int64_t> axis) {
    if (!axis)
      return;
    count = tensor.dim(*axis);
    for (int64_t i = *axis + 1; i < tensor.rank(); ++i)
      inner *= std::max<int64_t>(1, tensor.dim(i));
  }
  size_t of(int64_t index) const {
    return static_cast<size_t>(index / inner % count);
  }
};

} // namespace

double WeightCode::number(int64_t index) const {
  const Slices slices(elements, axis);
  return static_cast<double>(elements.toInteger(index)) *
         scales[slices.of(index)];
}

static double nearestInteger(double number, double scale, double most) {
  return std::clamp(std::nearbyint(number / scale), -most, most);
}

/// A scale for each slice, which maps the greatest magnitude to the greatest
/// element.
static std::vector<double> scalesOf(const Tensor &weights, const Slices &slices,
                                    double most) {
  std::vector<double> scales(slices.count, 0);
  for (int64_t i = 0; i < weights.size(); ++i) {
    double &scale = scales[slices.of(i)];
    scale = std::max(scale, std::abs(weights.toDouble(i)));
  }
  // A normal number, whose reciprocal is one, too.
  constexpr double least = 0x1p-120;
  for (double &scale : scales)
    scale = scale > 0 ? static_cast<float>(std::max(least, scale / most)) : 1;
  return scales;
}

/// Multiplies each scale by the factor, of a few, that minimises the squared
/// errors of its slice.
static void shrink(std::vector<double> &scales, const Tensor &weights,
                   const Slices &slices, double most) {
  constexpr int steps = 20;
  constexpr double step = 0.025;
  std::vector<double> best(scales.size(),
                           std::numeric_limits<double>::infinity()),
      chosen = scales, errors(scales.size());
  for (int i = 0; i < steps; ++i) {
    const double factor = 1 - step * i;
    std::fill(errors.begin(), errors.end(), 0);
    for (int64_t k = 0; k < weights.size(); ++k) {
      const size_t slice = slices.of(k);
      const double number = weights.toDouble(k),
                   scale = static_cast<float>(scales[slice] * factor),
                   off = nearestInteger(number, scale, most) * scale - number;
      errors[slice] += off * off;
    }
    for (size_t slice = 0; slice < scales.size(); ++slice)
      if (errors[slice] < best[slice]) {
        best[slice] = errors[slice];
        chosen[slice] = static_cast<float>(scales[slice] * factor);
      }
  }
  scales = std::move(chosen);
}

std::optional<WeightCode>
encodeWeights(const Tensor &weights, std::optional<int64_t> axis,
              const QuantizeOptions &options,
              const std::vector<double> &leastScales) {
  for (int64_t i = 0; i < weights.size(); ++i)
    if (!std::isfinite(weights.toDouble(i)))
      return std::nullopt;
  const double most = options.weights == ElementType::I4 ? 7 : 127;
  const Slices slices(weights, axis);
  WeightCode code;
  code.axis = axis;
  code.scales = scalesOf(weights, slices, most);
  const bool isPowerOfTwo = options.scheme == Scheme::PowerOfTwo;
  if (!isPowerOfTwo && (options.range == RangeMethod::Best ||
                        options.range == RangeMethod::SquaredError))
    shrink(code.scales, weights, slices, most);
  for (size_t i = 0; i < leastScales.size() && i < code.scales.size(); ++i)
    code.scales[i] =
        std::max(code.scales[i],
                 static_cast<double>(static_cast<float>(leastScales[i])));
  if (isPowerOfTwo)
    for (double &scale : code.scales)
      scale = std::exp2(std::ceil(std::log2(scale)));
  code.elements = Tensor(options.weights, weights.shape());
  for (int64_t i = 0; i < weights.size(); ++i)
    code.elements.set(
        i, static_cast<int8_t>(nearestInteger(
               weights.toDouble(i), code.scales[slices.of(i)], most)));
  return code;
}

/// The blocks are slices of the same elements seen as [outer, blocks, block,
/// inner], with these two in front.
std::optional<BlockCode> encodeBlocks(const Tensor &weights, int64_t axis,
                                      const QuantizeOptions &options) {
  const int64_t size = weights.dim(axis), block = options.block;
  if (block <= 0 || size % block != 0 || weights.size() == 0)
    return std::nullopt;
  int64_t inner = 1;
  for (int64_t i = axis + 1; i < weights.rank(); ++i)
    inner *= weights.dim(i);
  const int64_t count = weights.size() / block;
  // The index of element i of block k of \p count, in the order of the scales.
  const auto indexOf = [&](int64_t k, int64_t i) {
    const int64_t outer = k / inner, within = k % inner;
    return (outer * block + i) * inner + within;
  };
  Tensor gathered(ElementType::F64, {count, block});
  for (int64_t k = 0; k < count; ++k)
    for (int64_t i = 0; i < block; ++i)
      gathered.set(k * block + i, weights.toDouble(indexOf(k, i)));
  std::optional<WeightCode> code = encodeWeights(gathered, 0, options);
  if (!code)
    return std::nullopt;
  Shape shape = weights.shape();
  shape[axis] = size / block;
  BlockCode blocks{Tensor(options.weights, weights.shape()),
                   Tensor(ElementType::F64, shape)};
  for (int64_t k = 0; k < count; ++k) {
    blocks.scales.set(k, code->scales[k]);
    for (int64_t i = 0; i < block; ++i)
      blocks.elements.set(indexOf(k, i),
                          code->elements.at<int8_t>(k * block + i));
  }
  return blocks;
}

Tensor encodeBias(const Tensor &bias, const std::vector<double> &scales) {
  Tensor encoded(ElementType::I32, bias.shape());
  for (int64_t i = 0; i < bias.size(); ++i) {
    const double scale = static_cast<float>(scales[scales.size() == 1 ? 0 : i]);
    encoded.set(
        i, static_cast<int32_t>(nearestInteger(
               bias.toDouble(i), scale, std::numeric_limits<int32_t>::max())));
  }
  return encoded;
}

} // namespace sinter::quantize
