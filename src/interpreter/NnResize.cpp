//===- NnResize.cpp - resize ----------------------------------------------===//
//
// ONNX's Resize: each element of the result is a weighted sum of elements of
// the operand, and the weights are products of one weight a dimension, so that
// dimensions are resampled one after the other.
//
//===----------------------------------------------------------------------===//

#include "graph/nn/NnOps.h"
#include "interpreter/Evaluation.h"
#include "interpreter/Numbers.h"
#include "interpreter/Strided.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace sinter::interpreter {

namespace {

/// One index of a resized dimension, as a weighted sum.
struct Sample {
  std::vector<std::pair<int64_t, double>> terms; ///< Index and weight.
  /// Whether it is outside of the operand, and has the extrapolation value.
  bool isOutside = false;
};

/// How one dimension is resized.
struct Dimension {
  int64_t size = 0, newSize = 0;
  double scale = 1;
  double roiStart = 0, roiEnd = 1;
};

/// Weights of neighbouring elements; `weights[i]` is that of element `first +
/// i` counted from the one at or left of the coordinate.
struct Stencil {
  int64_t first = 0;
  std::vector<double> weights;
};

} // namespace

/// The scaled size before it is truncated to an integer, which
/// "half_pixel_symmetric" refers to. Where the scale was computed from the new
/// size, that size itself.
static double scaledSize(const Dimension &dimension) {
  const double scaled = dimension.scale * static_cast<double>(dimension.size);
  const auto written = static_cast<double>(dimension.newSize);
  return std::fabs(scaled - written) <= 1e-5 * written ? written : scaled;
}

/// The coordinate in the operand of index \p i of the result.
static double sourceCoordinate(StringRef mode, const Dimension &dimension,
                               int64_t i) {
  const auto x = static_cast<double>(i);
  const auto size = static_cast<double>(dimension.size);
  const auto newSize = static_cast<double>(dimension.newSize);
  const double halfPixel = (x + 0.5) / dimension.scale - 0.5;
  if (mode == "half_pixel")
    return halfPixel;
  if (mode == "half_pixel_symmetric") {
    // The centres of operand and result coincide.
    const double adjustment = newSize / scaledSize(dimension);
    return size / 2 * (1 - adjustment) + halfPixel;
  }
  if (mode == "pytorch_half_pixel")
    return dimension.newSize > 1 ? halfPixel : 0;
  if (mode == "tf_half_pixel_for_nn")
    return (x + 0.5) / dimension.scale;
  if (mode == "align_corners")
    return newSize == 1 ? 0 : x * (size - 1) / (newSize - 1);
  if (mode == "tf_crop_and_resize") {
    const double start = dimension.roiStart, end = dimension.roiEnd;
    if (newSize == 1)
      return 0.5 * (start + end) * (size - 1);
    return start * (size - 1) + x * (end - start) * (size - 1) / (newSize - 1);
  }
  return x / dimension.scale; // asymmetric
}

static int64_t nearestIndex(StringRef rounding, double x, double scale) {
  const double floor = std::floor(x);
  double index = floor;
  if (rounding == "ceil")
    index = std::ceil(x);
  else if (rounding == "round_prefer_floor")
    index = std::ceil(x - 0.5);
  else if (rounding == "round_prefer_ceil")
    index = std::floor(x + 0.5);
  else if (rounding == "simple")
    index = scale < 1 ? std::ceil(x) : std::trunc(x);
  return static_cast<int64_t>(index);
}

/// Keys' cubic convolution ("Cubic Convolution Interpolation for Digital Image
/// Processing", 1981) with parameter \p a.
static double cubicWeight(double x, double a) {
  x = std::fabs(x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2)
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

/// The weights of the elements around a coordinate \p fraction to the right of
/// an element. With \p stretch below 1 (antialiasing) the filter is wider.
static Stencil stencil(bool isCubic, double fraction, double stretch,
                       double cubicCoefficient) {
  const int64_t reach = isCubic ? 2 : 1;
  Stencil result;
  result.first =
      static_cast<int64_t>(std::floor(-static_cast<double>(reach) / stretch)) +
      1;
  double sum = 0;
  for (int64_t i = result.first; i <= 1 - result.first; ++i) {
    const double distance = (static_cast<double>(i) - fraction) * stretch;
    const double weight = isCubic ? cubicWeight(distance, cubicCoefficient)
                                  : std::max(0.0, 1 - std::fabs(distance));
    result.weights.push_back(weight);
    sum += weight;
  }
  for (double &weight : result.weights)
    weight /= sum;
  return result;
}

static Sample sampleAt(nn::ResizeOp op, const Dimension &dimension, int64_t i) {
  const double x = sourceCoordinate(op.getCoordinates(), dimension, i);
  const int64_t last = dimension.size - 1;
  auto clamped = [&](int64_t index) {
    return std::clamp<int64_t>(index, 0, last);
  };
  Sample sample;
  sample.isOutside = op.getCoordinates() == "tf_crop_and_resize" &&
                     (x < 0 || x > static_cast<double>(last));
  // Far outside, only the clamped ends contribute.
  const double bounded =
      std::clamp(x, -1e6, static_cast<double>(dimension.size) + 1e6);
  if (op.getMode() == "nearest") {
    const int64_t index =
        nearestIndex(op.getNearest(), bounded, dimension.scale);
    sample.terms.push_back({clamped(index), 1});
    return sample;
  }
  // A coordinate on an element counts as just left of it, with fraction 1.
  const double left = std::ceil(bounded) - 1;
  const double stretch = op.getAntialias() ? std::min(dimension.scale, 1.0) : 1;
  Stencil weights = stencil(op.getMode() == "cubic", bounded - left, stretch,
                            op.getCubicCoefficient().convertToDouble());
  double sum = 0;
  for (auto [k, weight] : llvm::enumerate(weights.weights)) {
    const int64_t index =
        static_cast<int64_t>(left) + weights.first + static_cast<int64_t>(k);
    if (op.getExcludeOutside() && index != clamped(index))
      continue;
    sample.terms.push_back({clamped(index), weight});
    sum += weight;
  }
  if (op.getExcludeOutside())
    for (auto &term : sample.terms)
      term.second /= sum;
  return sample;
}

/// \p values of \p shape with axis \p axis resampled.
static std::vector<double> resampled(const std::vector<double> &values,
                                     const Shape &shape, int64_t axis,
                                     ArrayRef<Sample> samples) {
  const AxisView view(shape, axis);
  const auto newSize = static_cast<int64_t>(samples.size());
  // Starts at -0, so that a sum of a single -0 is -0.
  std::vector<double> result(view.outer * newSize * view.inner, -0.0);
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t i = 0; i < newSize; ++i)
      for (auto [index, weight] : samples[i].terms) {
        const double *from =
            values.data() + (o * view.size + index) * view.inner;
        double *to = result.data() + (o * newSize + i) * view.inner;
        // Times 1 exactly, so that infinity does not meet a weight of 0.
        for (int64_t k = 0; k < view.inner && weight != 0; ++k)
          to[k] += weight * from[k];
      }
  return result;
}

/// The result's shape: the type's or, for dynamic dimensions, the truncated
/// scaled size (of the region of interest), in f32 as in ONNX.
static Shape resizedShape(nn::ResizeOp op, const Call &call) {
  Shape shape = toShape(call.resultType().getShape());
  ArrayRef<double> scales = op.getScales(), roi = op.getRoi();
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!ShapedType::isDynamic(shape[d]))
      continue;
    double size = static_cast<double>(call[0].dim(d)) * scales[d];
    if (op.getCoordinates() == "tf_crop_and_resize")
      size *= roi[shape.size() + d] - roi[d];
    size = std::floor(static_cast<float>(size));
    shape[d] = static_cast<int64_t>(std::clamp(size, 0.0, 1e15));
  }
  return shape;
}

static Result<Tensors> evaluateResize(const Call &call) {
  auto op = call.as<nn::ResizeOp>();
  const Tensor &operand = call[0];
  const Shape newShape = resizedShape(op, call);
  if (Result<void> ok = checkSize(ElementType::F64, newShape); !ok)
    return ok.takeError();
  if (operand.size() == 0 && elementCount(newShape) != 0)
    return invalidModel("the operand has no elements to sample");
  const bool crops = op.getCoordinates() == "tf_crop_and_resize";
  Shape shape = operand.shape();
  std::vector<double> values = reals(operand);
  std::vector<std::vector<Sample>> samples(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    Dimension dimension{shape[d], newShape[d], op.getScales()[d], 0, 1};
    if (crops) {
      dimension.roiStart = op.getRoi()[d];
      dimension.roiEnd = op.getRoi()[shape.size() + d];
    }
    const bool isWhole = dimension.roiStart == 0 && dimension.roiEnd == 1;
    if (shape[d] == newShape[d] && dimension.scale == 1 && isWhole)
      continue;
    for (int64_t i = 0; i < newShape[d]; ++i)
      samples[d].push_back(sampleAt(op, dimension, i));
    values = resampled(values, shape, static_cast<int64_t>(d), samples[d]);
    shape[d] = newShape[d];
  }
  if (crops) {
    const double outside = op.getExtrapolationValue().convertToDouble();
    IndexCounter index(newShape);
    for (double &value : values) {
      for (size_t d = 0; d < newShape.size(); ++d)
        if (!samples[d].empty() && samples[d][index[d]].isOutside)
          value = outside;
      index.next();
    }
  }
  return single(realTensor(operand.type(), newShape, values));
}

void registerNnResize(Registry &registry) {
  registry.add<nn::ResizeOp>(evaluateResize);
}

} // namespace sinter::interpreter
