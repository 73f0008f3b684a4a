//===- RandomProgramTest.cpp - oracle against CPU backend -----------------===//
//
// Random programs on both; a program on which they differ is reduced and
// written to a file. SINTER_RANDOM_SEED and SINTER_RANDOM_PROGRAMS choose
// which programs, and how many; SINTER_DUMP is a folder for their kernels'
// code.
//
//===----------------------------------------------------------------------===//

#include "differential/RandomProgram.h"

#include "backend/cpu/Compiler.h"
#include "differential/Reduce.h"
#include "interpreter/Interpreter.h"
#include "mlir/IR/Verifier.h"
#include "passes/Specialize.h"
#include "runtime/ProgramExecutor.h"
#include "runtime/Random.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>

using namespace mlir;

namespace sinter {
namespace {

uint64_t fromEnvironment(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::string textOf(const Model &model) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  model.module().print(stream);
  return text;
}

std::vector<Tensor> inputsOf(const Model &model) {
  std::vector<Tensor> inputs;
  for (const TensorSpec &spec : model.inputs()) {
    inputs.emplace_back(spec.type, spec.shape);
    fillRandom(inputs.back(), inputs.size(), {-4, 4, 5});
  }
  return inputs;
}

/// The real and imaginary parts, or the numbers themselves.
std::vector<double> numbersOf(const Tensor &tensor) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < tensor.size(); ++i)
    if (tensor.type() == ElementType::C64)
      for (int part : {0, 1})
        numbers.push_back(tensor.at<std::array<float, 2>>(i)[part]);
    else if (tensor.type() == ElementType::C128)
      for (int part : {0, 1})
        numbers.push_back(tensor.at<std::array<double, 2>>(i)[part]);
    else
      numbers.push_back(tensor.toDouble(i));
  return numbers;
}

bool agree(const Tensor &got, const Tensor &expected) {
  if (got.type() != expected.type() || got.shape() != expected.shape())
    return false;
  const std::vector<double> a = numbersOf(got), b = numbersOf(expected);
  double largest = 1;
  for (double value : b)
    if (std::isfinite(value))
      largest = std::max(largest, std::abs(value));
  const double limit = comparisonTolerance(got.type()) * largest;
  for (size_t i = 0; i < a.size(); ++i)
    if (std::isfinite(a[i]) && std::isfinite(b[i])
            ? !(std::abs(a[i] - b[i]) <= limit)
            : !(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))))
      return false;
  return true;
}

enum class Verdict { Agrees, Differs, OracleFails, CompilerFails };

struct Judgement {
  Verdict verdict = Verdict::Agrees;
  std::string message;
};

Judgement judge(const Model &model) {
  const std::vector<Tensor> inputs = inputsOf(model);
  auto expected = interpret(model.entry(), inputs);
  if (!expected)
    return {Verdict::OracleFails, expected.error().message};
  cpu::CpuOptions options;
  options.threads = 1;
  if (const char *folder = std::getenv("SINTER_DUMP"))
    options.dumpFolder = folder;
  Model resolvedModel = model.clone();
  if (auto resolved = specialize(resolvedModel, SpecializeOptions()); !resolved)
    return {Verdict::CompilerFails, resolved.error().message};
  Result<Program> program = cpu::compileForCpu(resolvedModel, options);
  if (!program)
    return {Verdict::CompilerFails, program.error().message};
  auto executor =
      ProgramExecutor::create(std::make_shared<Program>(std::move(*program)),
                              std::make_shared<ThreadPool>(1));
  if (!executor)
    return {Verdict::CompilerFails, executor.error().message};
  auto got = (*executor)->run(inputs);
  if (!got)
    return {Verdict::CompilerFails, got.error().message};
  for (size_t i = 0; i < got->size(); ++i)
    if (!agree((*got)[i], (*expected)[i]))
      return {Verdict::Differs, "result " + std::to_string(i) + " differs"};
  return {};
}

std::string pathOf(uint64_t seed) {
  return testing::TempDir() + "random-" + std::to_string(seed) + ".mlir";
}

/// Reduces a program that failed and writes it in the place of the whole one.
std::string writeReduced(Model model, uint64_t seed, Verdict verdict) {
  ReduceOptions options;
  options.isInteresting = [&](const Model &candidate) {
    return judge(candidate).verdict == verdict;
  };
  options.mostAttempts = 500;
  if (auto reduced = reduceProgram(model, options); !reduced)
    return reduced.error().message;
  std::ofstream(pathOf(seed)) << textOf(model);
  return pathOf(seed) + ":\n" + textOf(model);
}

TEST(RandomProgramTest, OracleAndCpuAgree) {
  const uint64_t first = fromEnvironment("SINTER_RANDOM_SEED", 1);
  const uint64_t count = fromEnvironment("SINTER_RANDOM_PROGRAMS", 150);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    Model model = randomProgram(seed);
    ASSERT_TRUE(succeeded(verify(model.module()))) << "seed " << seed;
    // Stays behind if judging it ends this process.
    std::ofstream(pathOf(seed)) << textOf(model);
    const Judgement judgement = judge(model);
    if (judgement.verdict == Verdict::Agrees)
      std::filesystem::remove(pathOf(seed));
    else
      ADD_FAILURE() << "seed " << seed << ": " << judgement.message << "\n"
                    << writeReduced(std::move(model), seed, judgement.verdict);
  }
}

TEST(RandomProgramTest, SameSeedSameProgram) {
  EXPECT_EQ(textOf(randomProgram(7)), textOf(randomProgram(7)));
  EXPECT_NE(textOf(randomProgram(7)), textOf(randomProgram(8)));
}

/// Every recipe leads to an operation now and then.
TEST(RandomProgramTest, EveryRecipeDraws) {
  for (const std::string &name : drawableOperations()) {
    bool found = false;
    for (uint64_t seed = 0; seed < 40 && !found; ++seed) {
      RandomProgramOptions options;
      options.operations = 3;
      options.only = {name};
      randomProgram(seed, options).module().walk([&](Operation *op) {
        found |= op->getName().getStringRef() == name;
      });
    }
    EXPECT_TRUE(found) << name;
  }
}

/// A new operation needs a recipe, or a line here that says why it has none.
TEST(RandomProgramTest, EveryOperationHasARecipe) {
  const std::set<std::string> without = {
      // Part of others, or values in every program.
      "stablehlo.constant", "stablehlo.return",
      // Make values that are no tensors.
      "stablehlo.tuple", "stablehlo.get_tuple_element", "stablehlo.after_all",
      "stablehlo.create_token",
      // Need other processes, or the world outside.
      "stablehlo.all_gather", "stablehlo.all_reduce", "stablehlo.all_to_all",
      "stablehlo.async_done", "stablehlo.async_start",
      "stablehlo.collective_broadcast", "stablehlo.collective_permute",
      "stablehlo.collective_reduce", "stablehlo.cross-replica-sum",
      "stablehlo.custom_call", "stablehlo.infeed", "stablehlo.outfeed",
      "stablehlo.partition_id", "stablehlo.recv", "stablehlo.reduce_scatter",
      "stablehlo.replica_id", "stablehlo.send",
      // Calls a function; its random numbers are an implementation's choice;
      // makes a tensor of a size that is not its type's.
      "stablehlo.composite", "stablehlo.rng", "stablehlo.set_dimension_size"};
  const std::vector<std::string> drawable = drawableOperations();
  const std::set<std::string> known(drawable.begin(), drawable.end());
  const std::shared_ptr<MLIRContext> context = makeContext();
  for (RegisteredOperationName op : context->getRegisteredOperations())
    if (op.getDialectNamespace() == "stablehlo" &&
        !without.contains(op.getStringRef().str()))
      EXPECT_TRUE(known.contains(op.getStringRef().str()))
          << op.getStringRef().str();
}

} // namespace
} // namespace sinter
