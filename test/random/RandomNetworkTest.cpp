//===- RandomNetworkTest.cpp - programs for all sizes against the oracle
//---===//
//
// Random networks whose batch and innermost dimensions are dynamic, half of
// their convolutions in 8 bits: one program for all sizes, as a session makes
// it, computes what the oracle does at each of several, or refuses what the
// oracle refuses. What it is not for, one for these sizes alone computes.
// SINTER_RANDOM_SEED and SINTER_RANDOM_PROGRAMS choose which networks, and how
// many (or SINTER_RANDOM_SECONDS for how long); a network that fails is written
// to a file, with its sizes.
//
//===----------------------------------------------------------------------===//

#include "random/RandomNetwork.h"

#include "backend/cpu/ir/DeadCode.h"
#include "backend/cpu/shapes/InferDimensions.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Interpreter.h"
#include "mlir/IR/Verifier.h"
#include "passes/Pipelines.h"
#include "passes/Specialize.h"
#include "random/Judging.h"
#include "runtime/DynamicProgram.h"
#include "runtime/Random.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iostream>

using namespace mlir;

namespace sinter {
namespace {

using namespace sinter::test;

/// What became of a network.
struct Tally {
  uint64_t networks = 0, dynamic = 0, runs = 0, refused = 0, beyond = 0;
};

/// \p network as passes leave it on the way to kernels, every other one as it
/// stands.
Result<std::shared_ptr<const Program>>
programFor(const Model &network, uint64_t seed,
           const SpecializeOptions &known) {
  Model model = network.clone();
  if (auto done = specialize(model, known); !done)
    return done.takeError();
  if (cpu::hasUnknownSizes(model.entry()))
    if (auto guarded = cpu::collectGuards(model.entry()); !guarded)
      return guarded.takeError();
  if (seed % 4 != 0) {
    if (auto report = simplify(model); !report)
      return report.takeError();
    if (cpu::hasUnknownSizes(model.entry()))
      if (auto dropped = cpu::dropRepetitions(model.entry()); !dropped)
        return dropped.takeError();
    if (auto report = raiseForKernels(model); !report)
      return report.takeError();
  }
  Result<Program> program =
      cpu::compileForCpu(model, optionsFor(machineOf(seed)));
  if (!program)
    return program.takeError();
  return std::make_shared<const Program>(std::move(*program));
}

Result<std::unique_ptr<ProgramExecutor>>
executorOf(const std::shared_ptr<const Program> &program) {
  return ProgramExecutor::create(program, std::make_shared<ThreadPool>(1));
}

std::vector<Tensor> inputsFor(const Model &model,
                              const std::vector<Shape> &shapes) {
  std::vector<Tensor> inputs;
  for (const TensorSpec &spec : model.inputs()) {
    inputs.emplace_back(spec.type, shapes[inputs.size()]);
    fillRandom(inputs.back(), inputs.size() + 1, {-2, 2, 5});
  }
  return inputs;
}

std::string shapesText(const std::vector<Shape> &shapes) {
  std::string text;
  for (const Shape &shape : shapes)
    text += (text.empty() ? "" : ", ") + toString(ElementType::F32, shape);
  return text;
}

/// The program for all sizes at \p shapes.
Judgement judgeAt(const RandomNetwork &network, uint64_t seed,
                  const std::shared_ptr<const Program> &program,
                  ProgramExecutor &executor, const std::vector<Shape> &shapes,
                  Tally &tally) {
  const std::string where = "at " + shapesText(shapes);
  const std::vector<Tensor> inputs = inputsFor(network.model, shapes);
  auto expected = interpret(network.model.entry(), inputs);
  auto parameters = parametersOf(*program, inputs);
  ++tally.runs;
  if (parameters && !checkGuards(*program, *parameters)) {
    // A session makes another program, if one can be made.
    ++tally.beyond;
    SpecializeOptions known;
    for (const TensorSpec &spec : network.model.inputs())
      known.shapes[spec.name] = shapes[known.shapes.size()];
    auto alone = programFor(network.model, seed, known);
    if (!alone && !expected)
      return {};
    if (!alone)
      return {Verdict::CompilerFails, where + ": " + alone.error().message()};
    auto own = executorOf(*alone);
    if (!own)
      return {Verdict::CompilerFails, where + ": " + own.error().message()};
    auto got = (*own)->run(inputs);
    if (!got || !expected)
      return bool(got) == bool(expected)
                 ? Judgement()
                 : Judgement{Verdict::Differs, where + ": only one computes"};
    return comparedWith(*got, *expected, where + ", alone");
  }
  auto got = executor.run(inputs);
  if (!expected) {
    ++tally.refused;
    return got ? Judgement{Verdict::Differs,
                           where + ": computes what the oracle refuses: " +
                               expected.error().message()}
               : Judgement();
  }
  if (!got)
    return {Verdict::CompilerFails, where + ": " + got.error().message()};
  return comparedWith(*got, *expected, where);
}

Judgement judgeNetwork(const RandomNetwork &network, uint64_t seed,
                       Tally &tally) {
  SpecializeOptions known;
  known.leavesDynamic = true;
  auto program = programFor(network.model, seed, known);
  if (!program)
    return program.error().kind == ErrorKind::Unsupported
               ? Judgement()
               : Judgement{Verdict::CompilerFails, program.error().message()};
  auto executor = executorOf(*program);
  if (!executor)
    return {Verdict::CompilerFails, executor.error().message()};
  ++tally.dynamic;
  for (const std::vector<Shape> &shapes : network.sizes)
    if (Judgement judgement =
            judgeAt(network, seed, *program, **executor, shapes, tally);
        judgement.verdict != Verdict::Agrees)
      return judgement;
  return {};
}

std::string networkPath(uint64_t seed) {
  return testing::TempDir() + "network-" + std::to_string(seed) + ".mlir";
}

TEST(RandomNetworkTest, OracleAndCpuAgreeAtAllSizes) {
  const uint64_t first = fromEnvironment("SINTER_RANDOM_SEED", 1);
  const uint64_t seconds = fromEnvironment("SINTER_RANDOM_SECONDS", 0);
  const uint64_t count = fromEnvironment("SINTER_RANDOM_PROGRAMS",
                                         seconds ? UINT64_MAX - first : 100);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(seconds);
  Tally tally;
  uint64_t seed = first;
  for (; seed < first + count; ++seed) {
    if (seconds && Clock::now() >= end)
      break;
    const RandomNetwork network = randomNetwork(seed);
    ASSERT_TRUE(network.model.module()) << "seed " << seed;
    ASSERT_TRUE(succeeded(verify(network.model.module()))) << "seed " << seed;
    // Dead code asks nothing of sizes that a program would have to hold.
    cpu::removeDeadCode(network.model.entry());
    ++tally.networks;
    // Stays behind if judging it ends this process.
    std::ofstream(networkPath(seed)) << test::textOf(network.model);
    const Judgement judgement = judgeNetwork(network, seed, tally);
    if (judgement.verdict == Verdict::Agrees)
      std::filesystem::remove(networkPath(seed));
    else
      ADD_FAILURE() << "seed " << seed << ": " << judgement.message << "\n"
                    << networkPath(seed);
  }
  std::cout << "networks " << first << " to " << seed - 1 << ": "
            << tally.dynamic << " of " << tally.networks << " for all sizes, "
            << tally.runs << " runs, " << tally.beyond
            << " of them beyond the program's sizes, " << tally.refused
            << " refused\n";
  if (tally.networks >= 50) {
    EXPECT_GT(tally.dynamic, tally.networks / 2);
    EXPECT_GT(tally.beyond, 0u);
  }
}

TEST(RandomNetworkTest, SameSeedSameNetwork) {
  EXPECT_EQ(test::textOf(randomNetwork(7).model),
            test::textOf(randomNetwork(7).model));
  EXPECT_EQ(randomNetwork(7).sizes, randomNetwork(7).sizes);
  EXPECT_NE(test::textOf(randomNetwork(7).model),
            test::textOf(randomNetwork(8).model));
}

} // namespace
} // namespace sinter
