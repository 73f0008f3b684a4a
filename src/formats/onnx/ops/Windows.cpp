// Window functions and mel filters, computed as constants.

#include "formats/import/Building.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"
#include "graph/nn/TensorBuilder.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;

namespace sinter::onnx {

/// Maximum number of elements of a constant that is made here.
constexpr int64_t largestConstant = 1 << 26;

/// The same window for a size that is known only at run time.
static LogicalResult windowDynamic(NodeContext &node,
                                   ArrayRef<double> coefficients) {
  Type element = node.numberType(node.getInt("output_datatype", 1));
  Value count = node.reshape(node.operand(0), ArrayRef<int64_t>{1});
  if (!element || !count)
    return failure();
  nn::TensorBuilder emit(node.builder(), node.location());
  Type f64 = emit.builder.getF64Type();
  const nn::Size size =
      nn::Size::computed(emit.convert(count, emit.integerType(32)));
  Value one = emit.scalar(1, f64), period = emit.number(size, f64);
  if (!node.getBool("periodic", true))
    period = emit.sub(period, one);
  // A single element is 1, whatever its period.
  Value isSingle = emit.compare(stablehlo::ComparisonDirection::LE,
                                emit.number(size, f64), one);
  Value positions = emit.iota({size}, 0, f64);
  Value angle = emit.div(emit.mul(positions, 2 * llvm::numbers::pi),
                         emit.spreadLike(emit.max(period, one), positions));
  Value sum = emit.splatLike(coefficients[0], positions);
  for (size_t j = 1; j < coefficients.size(); ++j) {
    Value cosine =
        emit.make<stablehlo::CosineOp>(emit.mul(angle, static_cast<double>(j)));
    sum = emit.add(sum, emit.mul(cosine, coefficients[j]));
  }
  sum = emit.select(emit.spreadLike(isSingle, positions),
                    emit.splatLike(1, positions), sum);
  return node.result(emit.convert(sum, element));
}

/// sum of coefficients[j] * cos(2 pi j k / N) for k < size, where N is the size
/// or, for a symmetric window, one less.
static LogicalResult window(NodeContext &node, ArrayRef<double> coefficients) {
  if (node.expandsUnknown() && !node.knownIntegers(node.operand(0)))
    return windowDynamic(node, coefficients);
  auto size = node.integersFrom(0, "size");
  if (!size)
    return failure();
  if (size->size() != 1 || size->front() < 0 || size->front() > largestConstant)
    return node.fail("the size is not one number, or out of range");
  int64_t count = size->front();
  double period = node.getBool("periodic", true) ? count : count - 1;
  std::vector<double> values(count, coefficients[0]);
  for (int64_t k = 0; k < count && period > 0; ++k)
    for (size_t j = 1; j < coefficients.size(); ++j)
      values[k] +=
          coefficients[j] * std::cos(2 * llvm::numbers::pi * j * k / period);
  Type element = node.numberType(node.getInt("output_datatype", 1));
  if (!element)
    return failure();
  if (count == 1)
    values[0] = 1;
  return node.result(numbers(node, element, values, {count}));
}

static LogicalResult importHann(NodeContext &node) {
  return window(node, {0.5, -0.5});
}
static LogicalResult importHamming(NodeContext &node) {
  return window(node, {25.0 / 46, 25.0 / 46 - 1});
}
static LogicalResult importBlackman(NodeContext &node) {
  return window(node, {0.42, -0.5, 0.08});
}

namespace {
struct MelFilters {
  int64_t count = 0, length = 0, bins = 0;
  double rate = 0, low = 0, high = 0;
};
} // namespace

/// The spectrum's bins where the filters start, peak and end: equally far apart
/// on the mel scale, 2595 log10(1 + f / 700).
static std::vector<int64_t> melPoints(const MelFilters &mel) {
  double low = 2595 * std::log10(1 + mel.low / 700);
  double high = 2595 * std::log10(1 + mel.high / 700);
  double step = (high - low) / (mel.count + 2);
  std::vector<int64_t> points;
  for (int64_t i = 0; i < mel.count + 2; ++i) {
    double hertz = 700 * (std::pow(10, (i * step + low) / 2595) - 1);
    points.push_back(
        static_cast<int64_t>(std::floor((mel.length + 1) * hertz / mel.rate)));
  }
  return points;
}

static std::vector<double> melWeights(const MelFilters &mel,
                                      ArrayRef<int64_t> points) {
  std::vector<double> weights(mel.bins * mel.count, 0.0);
  for (int64_t i = 0; i < mel.count; ++i) {
    int64_t low = points[i], centre = points[i + 1], high = points[i + 2];
    auto at = [&](int64_t bin) -> double & {
      return weights[bin * mel.count + i];
    };
    if (low == centre)
      at(centre) = 1;
    for (int64_t bin = low; low != centre && bin <= centre; ++bin)
      at(bin) = static_cast<double>(bin - low) / (centre - low);
    for (int64_t bin = centre; bin < high; ++bin)
      at(bin) = static_cast<double>(high - bin) / (high - centre);
  }
  return weights;
}

static LogicalResult importMelWeightMatrix(NodeContext &node) {
  double inputs[5];
  for (int64_t i = 0; i < 5; ++i) {
    auto known = node.knownScalar(node.operand(i));
    if (!known)
      return node.unknown("input " + Twine(i) + " is known only at run time");
    inputs[i] = *known;
  }
  auto inRange = [](double x) { return x >= 1 && x <= largestConstant; };
  if (!inRange(inputs[0]) || !inRange(inputs[1]) || !(inputs[2] > 0))
    return node.fail("an input is out of range");
  MelFilters mel{static_cast<int64_t>(inputs[0]),
                 static_cast<int64_t>(inputs[1]),
                 static_cast<int64_t>(inputs[1]) / 2 + 1,
                 inputs[2],
                 inputs[3],
                 inputs[4]};
  if (mel.bins * mel.count > largestConstant)
    return node.unsupported("the matrix is too large");
  std::vector<int64_t> points = melPoints(mel);
  for (int64_t point : points)
    if (point < 0 || point >= mel.bins)
      return node.fail("a frequency lies outside of the spectrum");
  if (!llvm::is_sorted(points))
    return node.fail("the upper edge lies below the lower one");
  Type element = node.numberType(node.getInt("output_datatype", 1));
  if (!element)
    return failure();
  return node.result(
      numbers(node, element, melWeights(mel, points), {mel.bins, mel.count}));
}

llvm::ArrayRef<Operator> windowOperators() {
  static const Operator table[] = {
      {"BlackmanWindow", "", 17, importBlackman, 1, 1},
      {"HammingWindow", "", 17, importHamming, 1, 1},
      {"HannWindow", "", 17, importHann, 1, 1},
      {"MelWeightMatrix", "", 17, importMelWeightMatrix, 5, 5},
  };
  return table;
}

} // namespace sinter::onnx
