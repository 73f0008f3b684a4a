#include "backend/cpu/weights/ScaledWeights.h"

#include "backend/cpu/emit/ConvolutionKernel.h"
#include "backend/cpu/target/PassSetting.h"
#include "backend/cpu/weights/HalfWeights.h"
#include "graph/Constants.h"
#include "graph/nn/TensorBuilder.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace sinter;
using nn::TensorBuilder;

static constexpr llvm::StringLiteral scaledWeightsLabel = "scale-behind-sums";

ArrayRef<PatternInfo> cpu::scaledWeightsPatterns() {
  static const PatternInfo infos[] = {
      {scaledWeightsLabel,
       "cpu.convolution(x, s * n) -> cpu.convolution(x, n : i8) * s",
       "cpu-assign-layouts"}};
  return infos;
}

namespace {
/// One channel's weights.
class Channel {
public:
  explicit Channel(llvm::ArrayRef<float> numbers) : numbers(numbers) {}

  /// Writes the integers to \p integers and returns the scale.
  std::optional<float> factor(int16_t *integers) const;

private:
  bool areNearMultiples(double scale) const;
  double bestScale(double near) const;
  int writeMultiples(double near, int16_t *integers) const;

  llvm::ArrayRef<float> numbers;
};
} // namespace

/// The greatest magnitude of 8-bit values minus any zero point; bf16 represents
/// such integers, too.
constexpr int greatestInteger = 255;

/// Whether all weights are about integer multiples of \p scale. Others mostly
/// fail within the first elements.
bool Channel::areNearMultiples(double scale) const {
  constexpr double mostDistance = greatestInteger * 0x1p-20;
  return llvm::all_of(numbers, [&](double number) {
    const double multiple = number / scale;
    return std::abs(multiple - std::nearbyint(multiple)) <= mostDistance;
  });
}

/// The least-squares scale for the integers that follow from \p near.
double Channel::bestScale(double near) const {
  double products = 0, squares = 0;
  for (double number : numbers) {
    const double integer = std::nearbyint(number / near);
    products += number * integer;
    squares += integer * integer;
  }
  return products / squares;
}

/// Writes the weights as multiples of \p near, divided by their greatest common
/// divisor, which is returned: 126 and -54 become 7 and -3.
int Channel::writeMultiples(double near, int16_t *integers) const {
  int divisor = 0;
  for (auto [i, number] : llvm::enumerate(numbers)) {
    integers[i] = static_cast<int16_t>(std::nearbyint(double(number) / near));
    divisor = std::gcd(divisor, int(integers[i]));
  }
  for (size_t i = 0; i < numbers.size(); ++i)
    integers[i] = static_cast<int16_t>(integers[i] / divisor);
  return divisor;
}

std::optional<float> Channel::factor(int16_t *integers) const {
  double greatest = 0;
  for (float number : numbers) {
    if (!std::isfinite(number))
      return std::nullopt;
    greatest = std::max(greatest, std::abs(double(number)));
  }
  if (greatest == 0) {
    std::fill_n(integers, numbers.size(), int16_t(0));
    return 1.0F;
  }
  // Try all integers for the weight of greatest magnitude.
  for (int integer = greatestInteger; integer > 0; --integer) {
    const double near = greatest / integer;
    if (!areNearMultiples(near))
      continue;
    const int divisor = writeMultiples(near, integers);
    const auto scale = static_cast<float>(bestScale(near) * divisor);
    if (!std::isnormal(scale))
      return std::nullopt;
    constexpr double mostRelative = 0x1p-22;
    for (auto [i, number] : llvm::enumerate(numbers))
      if (std::abs(integers[i] * double(scale) - number) >
          mostRelative * std::abs(double(number)))
        return std::nullopt;
    return scale;
  }
  return std::nullopt;
}

std::optional<cpu::ScaledIntegers>
cpu::asScaledIntegers(const Tensor &weights) {
  if (weights.type() != ElementType::F32 || weights.shape().empty() ||
      weights.size() == 0)
    return std::nullopt;
  const int64_t channels = weights.shape()[0], each = weights.size() / channels;
  ScaledIntegers result{Tensor(ElementType::I16, weights.shape()),
                        Tensor(ElementType::F32, {channels})};
  std::vector<float> numbers(each);
  for (int64_t channel = 0; channel < channels; ++channel) {
    for (int64_t i = 0; i < each; ++i)
      numbers[i] = weights.at<float>(channel * each + i);
    std::optional<float> scale = Channel(numbers).factor(
        reinterpret_cast<int16_t *>(result.integers.mutableBytes()) +
        channel * each);
    if (!scale)
      return std::nullopt;
    result.scales.set(channel, *scale);
  }
  return result;
}

/// \p scales, one per channel, in blocks, padded with 0.
static Tensor inBlocks(const Tensor &scales, int64_t blocks, int64_t lanes) {
  Tensor blocked(ElementType::F32, {blocks, lanes});
  for (int64_t i = 0; i < blocked.size(); ++i)
    blocked.set<float>(i, i < scales.size() ? scales.at<float>(i) : 0.0F);
  return blocked;
}

static bool fitBits(const Tensor &integers, int bits) {
  const int most = 1 << (bits - 1);
  for (int64_t i = 0; i < integers.size(); ++i)
    if (const int integer = integers.at<int16_t>(i);
        integer < -most || integer >= most)
      return false;
  return true;
}

/// \p integers in the storage type of the alternative \p kind, which holds
/// them.
static Tensor storedAs(const Tensor &integers, StringRef kind) {
  if (kind == "weights-i8" || kind == "weights-i4") {
    Tensor narrow(kind == "weights-i8" ? ElementType::I8 : ElementType::I4,
                  integers.shape());
    auto *bytes = reinterpret_cast<int8_t *>(narrow.mutableBytes());
    for (int64_t i = 0; i < integers.size(); ++i)
      bytes[i] = static_cast<int8_t>(integers.at<int16_t>(i));
    return narrow;
  }
  Tensor wide(ElementType::F32, integers.shape());
  for (int64_t i = 0; i < wide.size(); ++i)
    wide.set(i, static_cast<float>(integers.toInteger(i)));
  return *cpu::inHalfPrecision(wide);
}

Value cpu::scaleBehindSums(ConvolutionOp op, const PassSetting &setting,
                           PatternRun &run) {
  // Smaller weights gain nothing measurable.
  constexpr size_t leastBytes = 1 << 16;
  std::optional<Tensor> weights = constantTensor(op.getWeights());
  const StringRef kernel = kernelOf(op, setting.target);
  if (!run.isEnabled(scaledWeightsLabel) || !weights ||
      weights->type() != ElementType::F32 || weights->bytes() < leastBytes ||
      op.getPackedFrom() || !tensorOf(op.getInput()).getElementType().isF32() ||
      !readsLowBitWeights(kernel))
    return {};
  auto estimates = [&](llvm::ArrayRef<ElementType> types) {
    return alternativesForWeights(nominalShape(op), types, kernel,
                                  setting.target);
  };
  SmallVector<ElementType> types = {ElementType::F32, ElementType::BF16};
  const bool takesFourBits = op.takesGroupsOfEight() && kernel == "direct";
  // For most weights the estimates alone show that f32 is as fast.
  const auto mayBe = [&](std::initializer_list<ElementType> narrow) {
    auto all = types;
    llvm::append_range(all, narrow);
    return estimates(all).front().kernel != "weights-f32";
  };
  if (!mayBe({ElementType::I8}) &&
      !(takesFourBits && mayBe({ElementType::I8, ElementType::I4})))
    return {};
  std::optional<ScaledIntegers> scaled = asScaledIntegers(*weights);
  if (!scaled)
    return {};
  if (fitBits(scaled->integers, 8))
    types.push_back(ElementType::I8);
  if (takesFourBits && fitBits(scaled->integers, 4))
    types.push_back(ElementType::I4);
  const Alternatives all = estimates(types);
  if (all.front().kernel == "weights-f32")
    return {};
  const Tensor stored =
      storedAs(scaled->integers, setting.choose(op.getLoc(), all));
  OpBuilder builder(op);
  op.getWeightsMutable().assign(makeConstant(builder, op.getLoc(), stored,
                                             constantName(op.getWeights())));
  builder.setInsertionPointAfter(op);
  TensorBuilder emit(builder, op.getLoc());
  auto type = tensorOf(op.getResult());
  Value scales = makeConstant(
      builder, op.getLoc(),
      inBlocks(scaled->scales, type.getDimSize(1), type.getDimSize(4)),
      (constantName(op.getWeights()) + "_scale").str());
  run.count(scaledWeightsLabel);
  return emit.mul(op.getResult(),
                  emit.broadcast(scales, {1, 4}, emit.sizes(op.getResult())));
}
