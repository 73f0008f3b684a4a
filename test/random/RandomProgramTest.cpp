//===- RandomProgramTest.cpp - oracle against CPU backend -----------------===//
//
// Random programs on both, every other one simplified before it is compiled,
// and half of them with inputs that are no numbers; a program on which they
// differ is reduced and written to a file. The same programs again with sizes
// unknown: simplified like that, then specialised; and for any number of
// samples, by one program for all sizes. SINTER_RANDOM_SEED and
// SINTER_RANDOM_PROGRAMS choose which programs, and how many (or
// SINTER_RANDOM_SECONDS for how long), SINTER_RANDOM_ONLY which operations
// (names without the dialect's, by commas); SINTER_DUMP is a folder for their
// kernels' code, and SINTER_CPU a machine to compile for (x86-64-v3; tiles:
// with emulated matrix units).
//
//===----------------------------------------------------------------------===//
//
// Covers: backend/cpu/emit Elemental ElementalModels ElementalTable
// Covers: backend/cpu/emit KernelEmitter LoopKernel LoopNest
// Covers: backend/cpu/kernels/common KernelBuilder

#include "random/RandomProgram.h"

#include "backend/cpu/shapes/InferDimensions.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Interpreter.h"
#include "mlir/IR/Verifier.h"
#include "passes/Pipelines.h"
#include "passes/Specialize.h"
#include "random/Batch.h"
#include "random/Dice.h"
#include "random/DynamicSizes.h"
#include "random/Judging.h"
#include "reducer/Reduce.h"
#include "runtime/ElementDispatch.h"
#include "runtime/Random.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iostream>
#include <limits>
#include <set>

using namespace mlir;

namespace sinter {
namespace {

using namespace sinter::test;

RandomProgramOptions optionsFromEnvironment() {
  RandomProgramOptions options;
  StringRef only = std::getenv("SINTER_RANDOM_ONLY");
  llvm::SmallVector<StringRef> names;
  only.split(names, ',', -1, /*KeepEmpty=*/false);
  for (StringRef name : names)
    options.only.push_back(("stablehlo." + name).str());
  return options;
}

/// How a program is judged.
struct Trial {
  /// Some elements of the inputs are no numbers, infinite or -0.
  bool hasSpecialInputs = false;
  /// What is compiled has been simplified, and raised to idioms.
  bool isSimplified = false;
  uint64_t seed = 0;

  static Trial ofSeed(uint64_t seed) {
    return {seed % 4 >= 2, seed % 2 == 1, seed};
  }
};

void addSpecials(Tensor &tensor, uint64_t seed) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  constexpr double specials[] = {std::numeric_limits<double>::quiet_NaN(),
                                 infinite, -infinite, -0.0};
  if (!isFloat(tensor.type()))
    return;
  Dice dice(seed);
  dispatch(tensor.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_constructible_v<T, double>)
      for (int64_t i = 0; i < tensor.size(); ++i)
        if (dice.oneIn(8))
          tensor.set<T>(i, T(dice.among(specials)));
  });
}

/// Whether \p op tells NaNs apart by sign though its operand is computed: which
/// of two NaNs an operation gives, and with which bits, it may choose.
bool tellsComputedNansApart(Operation *op) {
  auto compare = dyn_cast<stablehlo::CompareOp>(op);
  auto isInput = [](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
  };
  return compare &&
         compare.getCompareType() == stablehlo::ComparisonType::TOTALORDER &&
         !(isInput(compare.getLhs()) && isInput(compare.getRhs()));
}

/// Whether an implementation's choices may show in NaNs and infinities: what
/// convolutions multiply by zeros at the border and between groups, in which
/// order batch norms and transforms compute, which of two a reduction compares
/// with a third, what functions of complex numbers are there.
bool choosesBesideNumbers(Operation *op) {
  using namespace stablehlo;
  if (isa<ConvolutionOp, DynamicConvOp, BatchNormInferenceOp,
          BatchNormTrainingOp, BatchNormGradOp, FftOp, TriangularSolveOp>(op))
    return true;
  if (isa<ComplexOp, ConvertOp>(op) &&
      isa<ComplexType>(getElementTypeOrSelf(op->getResult(0))))
    return true;
  return tellsComputedNansApart(op) ||
         (isa<CompareOp>(op) && op->getParentOfType<ReduceOp>());
}

/// What is said of results that differ from those that are expected, of \p
/// model. A NaN that is computed has any sign, which a total order sees.
Judgement judged(const Model &model, const std::vector<Tensor> &got,
                 const std::vector<Tensor> &expected, StringRef what) {
  const Judgement judgement = comparedWith(got, expected, what.str());
  auto hasNan = [](const Tensor &tensor) {
    if (!isFloat(tensor.type()))
      return false;
    for (int64_t i = 0; i < tensor.size(); ++i)
      if (std::isnan(tensor.toDouble(i)))
        return true;
    return false;
  };
  const bool mayDiffer =
      judgement.verdict == Verdict::Differs && llvm::any_of(expected, hasNan) &&
      model.module()
          .walk([](Operation *op) {
            return tellsComputedNansApart(op) ? WalkResult::interrupt()
                                              : WalkResult::advance();
          })
          .wasInterrupted();
  return mayDiffer ? Judgement() : judgement;
}

bool takesSpecials(const Model &model) {
  return !model.module()
              .walk([](Operation *op) {
                return choosesBesideNumbers(op) ? WalkResult::interrupt()
                                                : WalkResult::advance();
              })
              .wasInterrupted();
}

std::vector<Tensor> inputsOf(const Model &model, Trial trial) {
  const bool addsSpecials = trial.hasSpecialInputs && takesSpecials(model);
  std::vector<Tensor> inputs;
  for (const TensorSpec &spec : model.inputs()) {
    inputs.emplace_back(spec.type, spec.shape);
    fillRandom(inputs.back(), inputs.size(), {-4, 4, 5});
    if (addsSpecials)
      addSpecials(inputs.back(), inputs.size());
  }
  return inputs;
}

Judgement judge(const Model &given, Trial trial) {
  // A part of a program, which nobody draws.
  if (cpu::isDynamic(given))
    return {};
  const std::vector<Tensor> inputs = inputsOf(given, trial);
  auto expected = interpret(given.entry(), inputs);
  if (!expected)
    return {Verdict::OracleFails, expected.error().message()};
  Model model = given.clone();
  SpecializeOptions known;
  known.leavesDynamic = hasResultOfUnknownSize(model.module());
  if (auto resolved = specialize(model, known); !resolved)
    return {Verdict::CompilerFails, resolved.error().message()};
  if (trial.isSimplified) {
    if (auto report = simplify(model); !report)
      return {Verdict::CompilerFails, report.error().message()};
    auto simplified = interpret(model.entry(), inputs);
    if (!simplified)
      return {Verdict::OracleFails, simplified.error().message()};
    if (Judgement judgement =
            judged(given, *simplified, *expected, "simplified");
        judgement.verdict != Verdict::Agrees)
      return judgement;
    if (auto report = raiseForKernels(model); !report)
      return {Verdict::CompilerFails, report.error().message()};
  }
  auto got = compiledResults(model, inputs, machineOf(trial.seed));
  if (!got)
    return {Verdict::CompilerFails, got.error().message()};
  return judged(given, *got, *expected, "compiled");
}

/// The sizes of the arguments of \p model.
std::map<std::string, Shape> shapesOf(const Model &model) {
  std::map<std::string, Shape> shapes;
  for (const TensorSpec &spec : model.inputs())
    shapes[spec.name] = spec.shape;
  return shapes;
}

/// Simplified while sizes are unknown, and specialised then, a program computes
/// what it did.
Judgement judgeDynamic(const Model &given, uint64_t seed) {
  const std::vector<Tensor> inputs = inputsOf(given, Trial::ofSeed(seed));
  auto expected = interpret(given.entry(), inputs);
  if (!expected)
    return {Verdict::OracleFails, expected.error().message()};
  Model model = withDynamicSizes(given, seed);
  if (failed(verify(model.module())))
    return {Verdict::OracleFails, "the open program is not valid"};
  auto open = interpret(model.entry(), inputs);
  if (!open)
    return {Verdict::OracleFails, "open: " + open.error().message()};
  if (Judgement judgement =
          comparedWith(*open, *expected, "with unknown dimensions");
      judgement.verdict != Verdict::Agrees)
    return judgement;
  if (auto report = simplify(model); !report)
    return {Verdict::CompilerFails, "simplifying: " + report.error().message()};
  auto simplified = interpret(model.entry(), inputs);
  if (!simplified)
    return {Verdict::OracleFails,
            "simplified: " + simplified.error().message()};
  if (Judgement judgement = comparedWith(*simplified, *expected,
                                         "simplified with unknown dimensions");
      judgement.verdict != Verdict::Agrees)
    return judgement;
  if (auto done = specialize(model, shapesOf(given)); !done)
    return {Verdict::CompilerFails, "specialising: " + done.error().message()};
  if (auto report = raiseForKernels(model); !report)
    return {Verdict::CompilerFails, "raising: " + report.error().message()};
  auto got = compiledResults(model, inputs, machineOf(seed));
  if (!got)
    return {Verdict::CompilerFails, got.error().message()};
  return comparedWith(*got, *expected, "specialised and compiled");
}

/// Sample \p number of \p tensor, alone.
Tensor sampleAlone(const Tensor &tensor, int64_t number) {
  Shape shape = tensor.shape();
  const size_t bytes = tensor.bytes() / static_cast<size_t>(shape[0]);
  shape[0] = 1;
  return Tensor::of<std::byte>(tensor.type(), shape,
                               {tensor.data() + number * bytes, bytes});
}

bool haveSameBits(const Tensor &a, const Tensor &b) {
  return a.shape() == b.shape() &&
         (a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

/// The program for all sizes of \p batch, as a session makes it; Unsupported
/// where there is none.
Result<std::unique_ptr<ProgramExecutor>> openExecutor(const Model &batch,
                                                      uint64_t seed) {
  Model model = batch.clone();
  SpecializeOptions known;
  known.leavesDynamic = true;
  if (auto done = specialize(model, known); !done)
    return done.takeError();
  if (seed % 2 == 1) {
    if (auto report = simplify(model); !report)
      return report.takeError();
    cpu::dropRepetitions(model.entry());
    if (auto report = raiseForKernels(model); !report)
      return report.takeError();
  }
  Result<Program> program =
      cpu::compileForCpu(model, optionsFor(machineOf(seed)));
  if (!program)
    return program.takeError();
  return ProgramExecutor::create(std::make_shared<Program>(std::move(*program)),
                                 std::make_shared<ThreadPool>(1));
}

/// Random inputs of \p model, of which N and S are unknown.
std::vector<Tensor> inputsOfSizes(const Model &model, int64_t n, int64_t s) {
  std::vector<Tensor> inputs;
  for (const TensorSpec &spec : model.inputs()) {
    Shape shape = spec.shape;
    for (size_t i = 0; i < shape.size(); ++i)
      if (shape[i] < 0)
        shape[i] = i == 0 ? n : s;
    inputs.emplace_back(spec.type, shape);
    // Products of many do not grow: nothing is known of a large one's cosine.
    fillRandom(inputs.back(), inputs.size(), {-2, 2, 5});
  }
  return inputs;
}

/// Whether each sample of what \p executor gives for \p inputs has the same
/// bits if it is alone. A sample is what \p model computes by itself.
Judgement judgeSamples(const Model &model, ProgramExecutor &executor,
                       const std::vector<Tensor> &inputs,
                       const std::vector<Tensor> &results, int64_t samples) {
  const std::vector<TensorSpec> specs = model.outputs();
  for (int64_t i = 0; i < samples; ++i) {
    std::vector<Tensor> alone;
    for (const Tensor &input : inputs)
      alone.push_back(sampleAlone(input, i));
    auto got = executor.run(alone);
    if (!got)
      return {Verdict::CompilerFails, "alone: " + got.error().message()};
    for (size_t k = 0; k < results.size(); ++k) {
      const Shape &shape = specs[k].shape;
      const bool isBatched = !shape.empty() && shape[0] < 0;
      if (!haveSameBits((*got)[k],
                        isBatched ? sampleAlone(results[k], i) : results[k]))
        return {Verdict::Differs, "result " + std::to_string(k) + ": sample " +
                                      std::to_string(i) +
                                      " has other bits alone"};
    }
  }
  return {};
}

/// One program for all sizes computes what the oracle does, and each sample
/// whatever its company is. \p isDynamic: whether there is one.
Judgement judgeBatch(const Model &given, uint64_t seed, bool &isDynamic) {
  isDynamic = false;
  const std::optional<Model> batch =
      withBatch(given, static_cast<int>(1 + seed / 2 % 2));
  if (!batch || batch->inputs().empty())
    return {};
  auto executor = openExecutor(*batch, seed);
  if (!executor)
    return executor.error().kind == ErrorKind::Unsupported
               ? Judgement()
               : Judgement{Verdict::CompilerFails, executor.error().message()};
  isDynamic = true;
  for (auto [n, s] : {std::pair<int64_t, int64_t>(3, 2),
                      {1, 5},
                      {0, 1},
                      {2, 0},
                      {17, 1},
                      {3, 2}}) {
    const std::string sizes =
        "with N = " + std::to_string(n) + ", S = " + std::to_string(s);
    const std::vector<Tensor> inputs = inputsOfSizes(*batch, n, s);
    auto expected = interpret(batch->entry(), inputs);
    if (!expected)
      return {Verdict::OracleFails, sizes + ": " + expected.error().message()};
    auto got = (*executor)->run(inputs);
    if (!got)
      return {Verdict::CompilerFails, sizes + ": " + got.error().message()};
    if (Judgement judgement = comparedWith(*got, *expected, sizes);
        judgement.verdict != Verdict::Agrees)
      return judgement;
    if (Judgement judgement = judgeSamples(*batch, **executor, inputs, *got, n);
        judgement.verdict != Verdict::Agrees)
      return {judgement.verdict, sizes + ": " + judgement.message};
  }
  return {};
}

std::string pathOf(uint64_t seed) {
  return testing::TempDir() + "random-" + std::to_string(seed) + ".mlir";
}

/// Reduces a program that failed and writes it in the place of the whole one.
std::string
writeReduced(Model model, uint64_t seed, Verdict verdict,
             const std::function<Judgement(const Model &)> &judgeAgain) {
  ReduceOptions options;
  options.isInteresting = [&](const Model &candidate) {
    return judgeAgain(candidate).verdict == verdict;
  };
  options.mostAttempts = 500;
  if (auto reduced = reduceProgram(model, options); !reduced)
    return reduced.error().message();
  std::ofstream(pathOf(seed)) << textOf(model);
  return pathOf(seed) + ":\n" + textOf(model);
}

/// Draws programs and reports those that \p judgeIt finds wrong.
void checkPrograms(
    const std::function<Judgement(const Model &, uint64_t seed)> &judgeIt,
    RandomProgramOptions options = optionsFromEnvironment(),
    bool mayComputeSizes = false) {
  const uint64_t first = fromEnvironment("SINTER_RANDOM_SEED", 1);
  const uint64_t seconds = fromEnvironment("SINTER_RANDOM_SECONDS", 0);
  const uint64_t count = fromEnvironment("SINTER_RANDOM_PROGRAMS",
                                         seconds ? UINT64_MAX - first : 150);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(seconds);
  uint64_t seed = first;
  for (; seed < first + count; ++seed) {
    if (seconds && Clock::now() >= end)
      break;
    options.computesSizes = mayComputeSizes && seed % 3 == 0;
    Model model = randomProgram(seed, options);
    ASSERT_TRUE(succeeded(verify(model.module()))) << "seed " << seed;
    // Stays behind if judging it ends this process.
    std::ofstream(pathOf(seed)) << textOf(model);
    const Judgement judgement = judgeIt(model, seed);
    if (judgement.verdict == Verdict::Agrees)
      std::filesystem::remove(pathOf(seed));
    else
      ADD_FAILURE() << "seed " << seed << ": " << judgement.message << "\n"
                    << writeReduced(std::move(model), seed, judgement.verdict,
                                    [&](const Model &candidate) {
                                      return judgeIt(candidate, seed);
                                    });
  }
  std::cout << "programs " << first << " to " << seed - 1 << "\n";
}

/// A third of the programs have sizes that follow from values.
TEST(RandomProgramTest, OracleAndCpuAgree) {
  uint64_t drawn = 0, computed = 0;
  checkPrograms(
      [&](const Model &model, uint64_t seed) {
        ++drawn;
        computed += hasResultOfUnknownSize(model.module());
        return judge(model, Trial::ofSeed(seed));
      },
      optionsFromEnvironment(), /*mayComputeSizes=*/true);
  std::cout << computed << " of " << drawn << " with sizes of values\n";
  if (drawn >= 100) {
    EXPECT_GT(computed, drawn / 4);
  }
}

TEST(RandomProgramTest, DynamicSizesAgree) { checkPrograms(judgeDynamic); }

TEST(RandomProgramTest, ProgramsForAllSizesAgree) {
  RandomProgramOptions options = optionsFromEnvironment();
  if (options.only.empty())
    options.only = batchableOperations();
  options.operations = 6;
  uint64_t drawn = 0, opened = 0;
  checkPrograms(
      [&](const Model &model, uint64_t seed) {
        bool isDynamic = false;
        const Judgement judgement = judgeBatch(model, seed, isDynamic);
        ++drawn;
        opened += isDynamic;
        return judgement;
      },
      options);
  std::cout << opened << " of " << drawn << " for all sizes\n";
  if (drawn >= 100) {
    EXPECT_GT(opened, drawn / 3);
  }
}

/// Sizes are unknown in many a program, and some operations still run on
/// unknown sizes.
TEST(RandomProgramTest, DynamicSizesReachOperations) {
  int open = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed)
    withDynamicSizes(randomProgram(seed), seed)
        .module()
        .walk([&](Operation *op) {
          open += llvm::any_of(op->getResultTypes(), [](Type type) {
            auto tensor = dyn_cast<RankedTensorType>(type);
            return tensor && !tensor.hasStaticShape();
          });
        });
  EXPECT_GT(open, 40);
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
