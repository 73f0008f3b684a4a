//===- RandomRescalesTest.cpp - rescales move in random programs ----------===//
//
// Random programs of quantised tensors: what is exact changes no bit, what is
// allowed as `requantize` is within a unit wherever it applied
// (--verify-numerics compares each application).
//
//===----------------------------------------------------------------------===//

#include "interpreter/Interpreter.h"
#include "mlir/Pass/PassManager.h"
#include "passes/MoveRescales.h"
#include "passes/Pipelines.h"
#include "random/RandomProgram.h"
#include "runtime/Random.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace mlir;

namespace sinter {
namespace {

constexpr uint64_t programs = 300;

Model quantizedProgram(uint64_t seed) {
  RandomProgramOptions options;
  options.operations = 12;
  options.only = {"stablehlo.uniform_quantize", "stablehlo.transpose",
                  "stablehlo.maximum"};
  return randomProgram(seed, options);
}

std::vector<Tensor> resultsOf(const Model &model) {
  std::vector<Tensor> inputs;
  for (const TensorSpec &spec : model.inputs()) {
    inputs.emplace_back(spec.type, spec.shape);
    fillRandom(inputs.back(), inputs.size(), {-4, 4, 5});
  }
  auto outputs = interpret(model.entry(), inputs);
  EXPECT_TRUE(outputs) << (outputs ? "" : outputs.error().message());
  return outputs ? std::move(*outputs) : std::vector<Tensor>();
}

TEST(RandomRescales, KeepEveryBitUnasked) {
  uint64_t fewer = 0;
  for (uint64_t seed = 0; seed < programs; ++seed) {
    const Model before = quantizedProgram(seed);
    Model after = before.clone();
    PassManager manager(after.context());
    manager.addPass(createMoveRescales());
    ASSERT_TRUE(succeeded(manager.run(after.module()))) << seed;
    const uint64_t was = countRescales(before.module()),
                   is = countRescales(after.module());
    ASSERT_LE(is, was) << seed;
    fewer += was - is;
    const auto expected = resultsOf(before), got = resultsOf(after);
    ASSERT_EQ(expected.size(), got.size());
    for (size_t k = 0; k < got.size(); ++k)
      ASSERT_EQ(std::memcmp(expected[k].data(), got[k].data(), got[k].bytes()),
                0)
          << "seed " << seed << ", output " << k;
  }
  EXPECT_GT(fewer, 20u);
}

TEST(RandomRescales, AreWithinAUnitWhereverTheyAreRequantized) {
  uint64_t applied = 0;
  SimplifyOptions options;
  options.allowed = {"requantize"};
  options.verifyNumerics = true;
  for (uint64_t seed = 0; seed < programs; ++seed) {
    Model model = quantizedProgram(seed);
    auto report = simplify(model, options);
    ASSERT_TRUE(report) << "seed " << seed << ": " << report.error().message();
    ASSERT_LE(report->rescalesAfter, report->rescalesBefore) << seed;
    for (const auto &[label, count] : report->patterns)
      applied += (needsOf(label) & requantize) ? count : 0;
  }
  EXPECT_GT(applied, 50u);
}

} // namespace
} // namespace sinter
