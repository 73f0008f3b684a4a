#include "passes/Pipelines.h"
#include "passes/DecomposeChlo.h"
#include "passes/ExpandComplex.h"

#include "graph/Constants.h"
#include "graph/FirstError.h"
#include "graph/Verification.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "passes/ChannelsFirst.h"
#include "passes/EliminateCommonSubexpressions.h"
#include "passes/EliminateDeadCode.h"
#include "passes/FoldBatchNorm.h"
#include "passes/Freeze.h"
#include "passes/InlineCalls.h"
#include "passes/MoveRescales.h"
#include "passes/MoveTransposes.h"
#include "passes/Observe.h"
#include "passes/RaiseAttention.h"
#include "passes/RaiseIdioms.h"
#include "passes/RaiseQuantized.h"
#include "passes/RefineShapes.h"
#include "passes/SimplifyAlgebra.h"
#include "passes/VerifyNumerics.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>

using namespace mlir;

namespace sinter {

/// The order: first what shows more of the graph (calls, shapes), then
/// constants, since patterns look at them;
/// batch norms next; then what they leave over.
static Passes simplificationPasses(const std::shared_ptr<PatternRun> &run,
                                   int64_t byteLimit) {
  Passes passes;
  auto tidy = [&] {
    passes.push_back(createSimplifyAlgebra(run));
    passes.push_back(createFoldConstants(run, byteLimit));
  };
  passes.push_back(createInlineCalls(run));
  passes.push_back(createRefineShapes(run));
  tidy();
  // Constants that were just made let more identities match.
  passes.push_back(createSimplifyAlgebra(run));
  passes.push_back(createFoldBatchNorm(run));
  passes.push_back(createMoveTransposes(run));
  passes.push_back(createMoveRescales(run));
  tidy();
  // Two equal products become one only now: one with two readers could not have
  // taken up what stands behind either.
  passes.push_back(createEliminateCommonSubexpressions(run));
  passes.push_back(createEliminateDeadCode(run));
  return passes;
}

/// What is quantised as the file spells it out: before anything else, since
/// other passes take its arithmetic apart. Then what shapes that are known
/// allow.
static Passes quantizedPasses(const std::shared_ptr<PatternRun> &run, int64_t) {
  Passes passes;
  passes.push_back(createInlineCalls(run));
  passes.push_back(createRaiseQuantized(run));
  passes.push_back(createRefineShapes(run));
  passes.push_back(createRaiseQuantized(run));
  passes.push_back(createEliminateDeadCode(run));
  return passes;
}

static void countOperations(ModuleOp module,
                            std::map<std::string, uint64_t> &counts,
                            int64_t &constantBytes) {
  module.walk([&](Operation *op) {
    if (isa<ModuleOp, func::FuncOp>(op) ||
        op->hasTrait<OpTrait::IsTerminator>())
      return;
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
      if (std::optional<Tensor> tensor = constantTensor(constant))
        constantBytes += op->use_empty() ? 0 : tensor->bytes();
      return;
    }
    ++counts[op->getName().getStringRef().str()];
  });
}

/// Runs one pass; what it says when it fails is the error.
static Result<void> runPass(std::unique_ptr<Pass> pass, ModuleOp module,
                            const PatternRun &run, bool verifies) {
  const std::string name = pass->getArgument().str();
  FirstError reported(module.getContext());
  PassManager manager(module.getContext());
  manager.enableVerifier(verifies);
  manager.addPass(std::move(pass));
  if (succeeded(manager.run(module)))
    return {};
  if (run.failure())
    return *run.failure();
  return invalidModel("pass " + name + " failed: " + reported.take());
}

/// The order: channels first, then what that leaves, then idioms, which are of
/// operations that have the channels first.
static Passes kernelPasses(const std::shared_ptr<PatternRun> &run,
                           int64_t byteLimit) {
  Passes passes;
  passes.push_back(createChannelsFirst(run));
  passes.push_back(createSimplifyAlgebra(run));
  passes.push_back(createMoveTransposes(run));
  passes.push_back(createFoldConstants(run, byteLimit));
  passes.push_back(createRaiseIdioms(run));
  passes.push_back(createRaiseAttention(run));
  // Idioms let rescales pass that what they stood for did not.
  passes.push_back(createMoveRescales(run));
  passes.push_back(createEliminateDeadCode(run));
  return passes;
}

/// The names of passes of other folders.
static llvm::StringSet<> &foreignPassNames() {
  static llvm::StringSet<> names;
  return names;
}

void registerPassNames(ArrayRef<StringRef> names) {
  for (StringRef name : names)
    foreignPassNames().insert(name);
}

/// Whether some pipeline has passes of these names.
static Result<void> checkPassNames(const std::vector<std::string> &names) {
  const auto run = std::make_shared<PatternRun>();
  Passes all = simplificationPasses(run, defaultConstantByteLimit);
  for (auto *pipeline : {kernelPasses, quantizedPasses})
    for (auto &pass : pipeline(run, defaultConstantByteLimit))
      all.push_back(std::move(pass));
  for (const std::string &name : names)
    if (name != "all" && !foreignPassNames().contains(name) &&
        llvm::none_of(
            all, [&](const auto &pass) { return pass->getArgument() == name; }))
      return usageError("--print-ir-after: there is no pass '" + name + "'");
  return {};
}

namespace {
/// One run of a pipeline, and who watches it.
class PipelineRun {
public:
  PipelineRun(ModuleOp module, const SimplifyOptions &options,
              std::shared_ptr<PatternRun> patterns, SimplifyReport &report)
      : module(module), options(options), patterns(std::move(patterns)),
        report(report) {}

  Result<void> begin() {
    if (!options.verifyNumerics && !options.verifyEach)
      return {};
    auto begun = VerifyNumerics::begin(
        module, *patterns, options.verifyDimension, options.verifyTolerance);
    if (!begun)
      return begun.takeError();
    check = std::move(*begun);
    // What may be another by a unit is looked at before anything else changes.
    if (options.verifyEach || patterns->allows(requantize))
      patterns->afterEach = [this](StringRef label) {
        if (wrong || !check)
          return;
        if (!options.verifyEach && !(needsOf(label) & requantize))
          return check->withoutLooking();
        if (auto same = check->afterApplication(label); !same)
          wrong = same.takeError();
      };
    return {};
  }

  Result<void> run(std::unique_ptr<Pass> pass) {
    const std::string name = pass->getArgument().str();
    auto start = std::chrono::steady_clock::now();
    if (auto done =
            runPass(std::move(pass), module, *patterns, verifiesEachPass());
        !done)
      return done.takeError();
    if (wrong && !canGoOn(name, *wrong)) {
      wrong->message = "pass " + name + ": " + wrong->message;
      return *wrong;
    }
    std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - start;
    report.passTimes.push_back({name, time.count()});
    report.passSteps.push_back({name, patterns->steps()});
    print(name);
    if (!check)
      return {};
    if (auto same = check->after(name); !same && !canGoOn(name, same.error()))
      return same.takeError();
    return {};
  }

  /// Verifies what the passes made, where nobody did so after each.
  Result<void> end() {
    if (verifiesEachPass())
      return {};
    FirstError reported(module.getContext());
    if (succeeded(mlir::verify(module)))
      return {};
    return invalidModel(
        "the graph is not sound after passes over it: " + reported.take() +
        " (--verify-numerics says after which)");
  }

  ~PipelineRun() {
    patterns->afterEach = {};
    if (check)
      report.verified = check->facts();
  }

private:
  /// Verifying takes as long as passes that find nothing to do, so each is
  /// verified only where somebody looks for what is wrong.
  bool verifiesEachPass() const {
    return verifiesEachStage() || options.verifyNumerics ||
           options.verifyEach || !options.printIrAfter.empty();
  }

  /// What the oracle cannot run it cannot compare: the rest is not verified,
  /// and the report says so.
  bool canGoOn(const std::string &pass, const Error &error) {
    if (!options.verifiesWhatRuns || error.kind != ErrorKind::Unsupported)
      return false;
    report.verified = check->facts();
    report.verified.endedBy = "pass " + pass + ": " + error.message;
    check.reset();
    wrong.reset();
    return true;
  }

  void print(const std::string &name) {
    if (!llvm::is_contained(options.printIrAfter, name) &&
        !llvm::is_contained(options.printIrAfter, "all"))
      return;
    llvm::raw_ostream &stream =
        options.irStream ? *options.irStream : llvm::errs();
    stream << "// after " << name << "\n" << module << "\n";
  }

  ModuleOp module;
  const SimplifyOptions &options;
  std::shared_ptr<PatternRun> patterns;
  SimplifyReport &report;
  std::unique_ptr<VerifyNumerics> check;
  std::optional<Error> wrong;
};
} // namespace

Result<void> runPasses(
    ModuleOp module, const SimplifyOptions &options,
    llvm::function_ref<Passes(const std::shared_ptr<PatternRun> &)> pipeline,
    SimplifyReport &report) {
  auto patterns = PatternRun::create(options.disabledPatterns,
                                     options.enabledPatterns, options.allowed);
  if (!patterns)
    return patterns.takeError();
  (*patterns)->mostSteps = options.mostSteps;
  (*patterns)->keepsQuantizedConstants = options.keepsQuantizedConstants;
  (*patterns)->changesOutputs = options.changesOutputs;
  (*patterns)->watcher = options.watcher;
  if (auto checked = checkPassNames(options.printIrAfter); !checked)
    return checked.takeError();
  PipelineRun run(module, options, *patterns, report);
  if (Result<void> begun = run.begin(); !begun)
    return begun;
  for (std::unique_ptr<Pass> &pass : pipeline(*patterns))
    if (Result<void> done = run.run(std::move(pass)); !done)
      return done;
  if (Result<void> ended = run.end(); !ended)
    return ended;
  report.patterns = (*patterns)->counts();
  report.lastStep = (*patterns)->lastStep();
  return {};
}

/// Runs the passes of one pipeline on a copy.
static Result<SimplifyReport>
runPipeline(Model &model, const SimplifyOptions &options,
            Passes (*pipeline)(const std::shared_ptr<PatternRun> &, int64_t)) {
  SimplifyReport report;
  Model result = model.clone();
  ModuleOp module = result.module();
  countOperations(module, report.operationsBefore, report.constantBytesBefore);
  report.rescalesBefore = countRescales(module);
  auto passes = [&](const std::shared_ptr<PatternRun> &run) {
    return pipeline(run, options.constantByteLimit);
  };
  if (Result<void> done = runPasses(module, options, passes, report); !done)
    return done.takeError();
  countOperations(module, report.operationsAfter, report.constantBytesAfter);
  report.rescalesAfter = countRescales(module);
  model = std::move(result);
  return report;
}

Result<SimplifyReport> simplify(Model &model, const SimplifyOptions &options) {
  return runPipeline(model, options, simplificationPasses);
}

Result<SimplifyReport> raiseQuantized(Model &model,
                                      const SimplifyOptions &options) {
  SimplifyOptions keeping = options;
  keeping.keepsQuantizedConstants = true;
  return runPipeline(model, keeping, quantizedPasses);
}

Result<SimplifyReport> raiseForKernels(Model &model,
                                       const SimplifyOptions &options) {
  return runPipeline(model, options, kernelPasses);
}

namespace {
struct SimplifyPipelineOptions : PassPipelineOptions<SimplifyPipelineOptions> {
  ListOption<std::string> disabled{
      *this, "disable-patterns",
      llvm::cl::desc("Patterns that do not apply (all: none)")};
  ListOption<std::string> enabled{
      *this, "enable-patterns",
      llvm::cl::desc("Patterns that apply though they do not by default")};
  ListOption<std::string> allowed{
      *this, "allow", llvm::cl::desc("What floats may be taken for")};
  Option<int64_t> byteLimit{
      *this, "byte-limit", llvm::cl::init(defaultConstantByteLimit),
      llvm::cl::desc("Largest constant made of smaller ones")};
};
} // namespace

void registerSimplificationPasses() {
  registerPass([] { return createInlineCalls(); });
  registerPass([] { return createRefineShapes(); });
  registerPass([] { return createSimplifyAlgebra(); });
  registerPass([] { return createFoldConstants(); });
  registerPass([] { return createEliminateCommonSubexpressions(); });
  registerPass([] { return createEliminateDeadCode(); });
  registerPass([] { return createFoldBatchNorm(); });
  registerPass([] { return createMoveTransposes(); });
  registerPass([] { return createMoveRescales(); });
  registerPass([] { return createChannelsFirst(); });
  registerPass([] { return createRaiseIdioms(); });
  registerPass([] { return createRaiseAttention(); });
  registerPass([] { return createRaiseQuantized(); });
  registerPass([] { return createDecomposeChlo(); });
  registerPass([] { return createExpandComplex(); });
  registerPass([] { return createFreeze(); });
  registerPass([] { return createObserve(); });
  PassPipelineRegistration<SimplifyPipelineOptions>(
      "simplify", "All simplifications, in order",
      [](OpPassManager &manager, const SimplifyPipelineOptions &options) {
        auto run = PatternRun::create(
            {options.disabled.begin(), options.disabled.end()},
            {options.enabled.begin(), options.enabled.end()},
            {options.allowed.begin(), options.allowed.end()});
        if (!run) {
          llvm::errs() << "error: " << run.error().message << "\n";
          return;
        }
        for (auto &pass : simplificationPasses(*run, options.byteLimit))
          manager.addPass(std::move(pass));
      });
}

} // namespace sinter
