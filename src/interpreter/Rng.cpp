//===- Rng.cpp - rng_bit_generator and rng --------------------------------===//

#include "interpreter/Rng.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Environment.h"
#include "interpreter/Numbers.h"
#include "runtime/RandomBits.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace sinter::interpreter {

Result<Tensors> randomBits(const Tensor &initial,
                           stablehlo::RngAlgorithm algorithm, ElementType type,
                           const Shape &shape) {
  // DEFAULT is XLA's choice for CPUs.
  const bool isThreefry = algorithm == stablehlo::RngAlgorithm::THREE_FRY;
  if (initial.type() != ElementType::UI64 || initial.rank() != 1 ||
      initial.size() < 2 || initial.size() > (isThreefry ? 2 : 3))
    return unsupported("initial_state is not two (or for Philox three) ui64");
  if (isComplex(type))
    return unsupported("there are no random bits of complex numbers");
  if (Result<void> ok = checkSize(ElementType::C128, shape); !ok)
    return ok.takeError();
  Tensor state(initial.type(), initial.shape());
  std::memcpy(state.mutableBytes(), initial.data(), initial.bytes());
  Tensor output(type, shape);
  if (output.size() != 0) {
    // Narrow types get the low bits of a 32-bit word.
    const size_t size = byteSize(type);
    const unsigned bits = size == 8 ? 64 : 32;
    const std::span<uint64_t> words = state.mutableValues<uint64_t>();
    const std::vector<uint64_t> drawn =
        isThreefry ? threefryWords(words, shape, bits)
                   : philoxWords(words, output.size(), bits);
    for (int64_t i = 0; i < output.size(); ++i)
      std::memcpy(elementsFrom(output, i), &drawn[i], size);
    normalizeSubByte(output);
  }
  return Tensors{std::move(state), std::move(output)};
}

static Result<Tensors> evaluateRngBitGenerator(const Call &call) {
  auto op = call.as<stablehlo::RngBitGeneratorOp>();
  Result<Shape> shape = staticShape(call.resultType(1));
  if (!shape)
    return shape.takeError();
  return randomBits(call[0], op.getRngAlgorithm(), call.resultElement(1),
                    *shape);
}

/// A number in [0, 1) of 53 random bits.
static double unitInterval(uint64_t word) {
  return static_cast<double>(word >> 11) * 0x1p-53;
}

static void fillUniform(Tensor &result, const Tensor &a, const Tensor &b,
                        std::span<const uint64_t> words) {
  if (isInteger(result.type())) {
    const auto low = static_cast<uint64_t>(integers(a)[0]);
    const uint64_t range = static_cast<uint64_t>(integers(b)[0]) - low;
    for (int64_t i = 0; i < result.size(); ++i) {
      const int64_t value[] = {
          static_cast<int64_t>(low + (range ? words[i] % range : 0))};
      storeIntegers(result, i, value);
    }
    return;
  }
  const double low = reals(a)[0], high = reals(b)[0];
  for (int64_t i = 0; i < result.size(); ++i) {
    double value[] = {low + unitInterval(words[i]) * (high - low)};
    storeReals(result, i, value);
    // Rounding may have reached the end, which is excluded.
    loadReals(result, i, value);
    if (value[0] >= high) {
      value[0] = low;
      storeReals(result, i, value);
    }
  }
}

/// Box and Muller, "A Note on the Generation of Random Normal Deviates" (1958).
static void fillNormal(Tensor &result, double mean, double deviation,
                       std::span<const uint64_t> words) {
  for (int64_t i = 0; i < result.size(); ++i) {
    const double radius =
        std::sqrt(-2 * std::log1p(-unitInterval(words[2 * i])));
    const double value[] = {
        mean +
        deviation * radius *
            std::cos(2 * std::numbers::pi * unitInterval(words[2 * i + 1]))};
    storeReals(result, i, value);
  }
}

/// Each run has its own stream: the seed is the key, and the counter continues
/// from operation to operation.
static Result<Tensors> evaluateRng(const Call &call) {
  auto op = call.as<stablehlo::RngOp>();
  const bool isNormal =
      op.getRngDistribution() == stablehlo::RngDistribution::NORMAL;
  const Shape shape = integers(call[2]);
  const ElementType type = call[0].type();
  if (isNormal && !isFloat(type))
    return invalidModel("a normal distribution is one of floats");
  if (isComplex(type) || call[1].type() != type)
    return invalidModel("the bounds are not two real numbers of one type");
  if (Result<void> ok = checkSize(ElementType::C128, shape); !ok)
    return ok.takeError();
  return produce(type, shape, [&](Tensor &result) {
    Environment &environment = environmentOf(call);
    uint64_t state[] = {environment.seed, environment.randomWords};
    const int64_t count[] = {result.size() * (isNormal ? 2 : 1)};
    const std::vector<uint64_t> words = threefryWords(state, count, 64);
    environment.randomWords = state[1];
    if (isNormal)
      fillNormal(result, reals(call[0])[0], reals(call[1])[0], words);
    else
      fillUniform(result, call[0], call[1], words);
  });
}

void registerRng(Registry &registry) {
  registry.add<stablehlo::RngBitGeneratorOp>(evaluateRngBitGenerator);
  registry.add<stablehlo::RngOp>(evaluateRng);
}

} // namespace sinter::interpreter
