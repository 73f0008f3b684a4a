#include "backend/cpu/weights/HalfWeights.h"

#include "backend/cpu/emit/ConvolutionKernel.h"
#include "backend/cpu/target/PassSetting.h"
#include "graph/Constants.h"
#include "runtime/Float.h"

#include <bit>

using namespace mlir;
using namespace sinter;

/// The weights converted to \p Narrow, if that is exact.
template <typename Narrow>
static std::optional<Tensor> exactlyIn(const Tensor &weights,
                                       ElementType type) {
  // The bits that the narrow type lacks: most f32 weights fail this test early.
  constexpr uint32_t dropped =
      (uint32_t(1) << (23 - Narrow::Format::mantissaBits)) - 1;
  constexpr auto leastNormal =
      static_cast<float>(std::numeric_limits<Narrow>::min());
  for (int64_t i = 0; i < weights.size(); ++i) {
    const auto number = weights.at<float>(i);
    if ((std::bit_cast<uint32_t>(number) & dropped) != 0 &&
        std::abs(number) >= leastNormal)
      return std::nullopt;
  }
  Tensor narrow(type, weights.shape());
  for (int64_t i = 0; i < weights.size(); ++i) {
    const auto number = weights.at<float>(i);
    const Narrow rounded(number);
    if (std::bit_cast<uint32_t>(static_cast<float>(rounded)) !=
        std::bit_cast<uint32_t>(number))
      return std::nullopt;
    narrow.set(i, rounded.bits());
  }
  return narrow;
}

std::optional<Tensor> cpu::inHalfPrecision(const Tensor &weights) {
  if (weights.type() != ElementType::F32)
    return std::nullopt;
  if (auto narrow = exactlyIn<BFloat16>(weights, ElementType::BF16))
    return narrow;
  return exactlyIn<Half>(weights, ElementType::F16);
}

static constexpr llvm::StringLiteral halfLabel = "half-weights";

ArrayRef<PatternInfo> cpu::halfWeightsPatterns() {
  static const PatternInfo infos[] = {
      {halfLabel, "cpu.convolution(x, w : f32) -> cpu.convolution(x, w : bf16)",
       "cpu-assign-layouts"}};
  return infos;
}

void cpu::storeInHalfPrecision(ConvolutionOp op, const PassSetting &setting,
                               PatternRun &run) {
  std::optional<Tensor> weights = constantTensor(op.getWeights());
  if (!run.isEnabled(halfLabel) || !weights ||
      weights->type() != ElementType::F32 || op.getPackedFrom())
    return;
  std::optional<Tensor> narrow = inHalfPrecision(*weights);
  if (!narrow)
    return;
  const StringRef kernel = kernelOf(op, setting.target, narrow->type());
  if (!readsLowBitWeights(kernel))
    return;
  // Without an instruction each conversion takes several integer operations.
  if (narrow->type() == ElementType::F16 && !setting.target.convertsF16)
    return;
  if (setting.choose(op.getLoc(),
                     alternativesForWeights(
                         nominalShape(op), {ElementType::F32, narrow->type()},
                         kernel, setting.target)) == "weights-f32")
    return;
  OpBuilder builder(op);
  op.getWeightsMutable().assign(makeConstant(builder, op.getLoc(), *narrow,
                                             constantName(op.getWeights())));
  run.count(halfLabel);
}
