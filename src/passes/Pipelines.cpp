#include "passes/Pipelines.h"
#include "passes/DecomposeChlo.h"
#include "passes/ExpandComplex.h"

#include "graph/Constants.h"
#include "graph/FirstError.h"
#include "graph/Model.h"
#include "graph/Types.h"
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
#include "passes/MoveAffine.h"
#include "passes/MoveAffineJointly.h"
#include "passes/MoveRescales.h"
#include "passes/MoveTransposes.h"
#include "passes/Observe.h"
#include "passes/OldNames.h"
#include "passes/RaiseAttention.h"
#include "passes/RaiseIdioms.h"
#include "passes/RaiseQuantized.h"
#include "passes/RefineShapes.h"
#include "passes/SimplifyAlgebra.h"
#include "passes/VerifyNumerics.h"
#include "runtime/OptionNames.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>

using namespace mlir;

namespace sinter {

/// The order: first calls and shapes, then constants, since patterns look at
/// them; then batch norms; then everything else.
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
  // Moves affine steps next to products, and folds them.
  passes.push_back(createMoveAffine(run));
  passes.push_back(createFoldBatchNorm(run));
  // The remaining ones, together with others.
  passes.push_back(createMoveAffineJointly(run));
  passes.push_back(createFoldBatchNorm(run));
  passes.push_back(createMoveTransposes(run));
  passes.push_back(createMoveRescales(run));
  tidy();
  // Two equal products become one only now: one with two users could not have
  // absorbed the steps behind either.
  passes.push_back(createEliminateCommonSubexpressions(run));
  passes.push_back(createEliminateDeadCode(run));
  return passes;
}

/// Explicit quantisation arithmetic: before anything else, since other passes
/// decompose it. Then what static shapes allow.
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

/// Runs one pass. If it fails, its diagnostic is the error.
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

/// The order: convert to channels first, simplify the rest, then raise idioms,
/// whose patterns have the channels first.
static Passes kernelPasses(const std::shared_ptr<PatternRun> &run,
                           int64_t byteLimit) {
  Passes passes;
  passes.push_back(createChannelsFirst(run));
  passes.push_back(createSimplifyAlgebra(run));
  passes.push_back(createMoveTransposes(run));
  passes.push_back(createFoldConstants(run, byteLimit));
  passes.push_back(createRaiseIdioms(run));
  passes.push_back(createRaiseAttention(run));
  // Rescales can pass raised idioms where they could not pass the decomposed
  // ones.
  passes.push_back(createMoveRescales(run));
  passes.push_back(createEliminateDeadCode(run));
  return passes;
}

static Passes runtimePasses(const std::shared_ptr<PatternRun> &run,
                            int64_t /*byteLimit*/) {
  Passes passes;
  passes.push_back(createRaiseIdioms(run));
  passes.push_back(createRaiseAttention(run));
  passes.push_back(createEliminateDeadCode(run));
  return passes;
}

/// The registered names of passes from other folders.
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
  for (const std::string &given : names) {
    const StringRef name = currentName(given);
    if (name != "all" && !foreignPassNames().contains(name) &&
        llvm::none_of(
            all, [&](const auto &pass) { return pass->getArgument() == name; }))
      return usageError(optionText("print-ir-after") + ": there is no pass '" +
                        given + "'");
  }
  return {};
}

namespace {
/// One run of a pipeline, with its watcher.
class PipelineRun {
public:
  PipelineRun(ModuleOp module, const SimplifyOptions &options,
              std::shared_ptr<PatternRun> patterns, SimplifyReport &report)
      : module(module), options(options), patterns(std::move(patterns)),
        report(report) {}

  Result<void> begin() {
    if (!options.verifyNumerics && !options.verifyEach)
      return {};
    auto begun = VerifyNumerics::begin(module, *patterns, options.verifySizes,
                                       options.verifyTolerance);
    if (!begun)
      return begun.takeError();
    check = std::move(*begun);
    // Values that may differ by a unit are compared before anything else
    // changes.
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
    if (Result<void> goesOn = Cancellation::check(options.cancellation.get(),
                                                  "the model's rewriting");
        !goesOn)
      return goesOn;
    const std::string name = pass->getArgument().str();
    auto start = std::chrono::steady_clock::now();
    if (auto done =
            runPass(std::move(pass), module, *patterns, verifiesEachPass());
        !done)
      return done.takeError();
    if (wrong && !canGoOn(name, *wrong))
      return inside("pass " + name, *wrong);
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

  /// Verifies the module, if it was not verified after each pass.
  Result<void> end() {
    if (verifiesEachPass())
      return {};
    FirstError reported(module.getContext());
    if (succeeded(mlir::verify(module)))
      return {};
    return invalidModel(
        "the graph is not sound after passes over it: " + reported.take() +
        " (" + optionText("verify-numerics") + " says after which)");
  }

  ~PipelineRun() {
    patterns->afterEach = {};
    if (check)
      report.verified = check->facts();
  }

private:
  /// Verifying takes as long as passes that find nothing to do, so each is
  /// verified only where the caller looks for errors.
  bool verifiesEachPass() const {
    return verifiesEachStage() || options.verifyNumerics ||
           options.verifyEach || !options.printIrAfter.empty();
  }

  bool hasDynamicDimensions() const {
    func::FuncOp entry = entryOf(module);
    return entry && llvm::any_of(entry.getArgumentTypes(), isOfUnknownSize);
  }

  /// If the interpreter cannot run the graph, the remaining passes are not
  /// verified, and the report has the reason.
  bool canGoOn(const std::string &pass, const Error &error) {
    // The interpreter does not know what a backend assumes about dynamic
    // dimensions.
    const bool cannotRun =
        error.kind == ErrorKind::Unsupported ||
        (error.kind == ErrorKind::InvalidModel && hasDynamicDimensions());
    if (!options.verifiesWhatRuns || !cannotRun)
      return false;
    report.verified = check->facts();
    report.verified.endedBy = "pass " + pass + ": " + error.message();
    check.reset();
    wrong.reset();
    return true;
  }

  void print(const std::string &name) {
    if (llvm::none_of(options.printIrAfter, [&](StringRef given) {
          return given == "all" || currentName(given) == name;
        }))
      return;
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << "// after " << name << "\n" << module << "\n";
    if (options.printIr)
      options.printIr(text);
    else
      llvm::errs() << text;
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

Result<SimplifyReport> raiseForRuntime(Model &model,
                                       const SimplifyOptions &options) {
  return runPipeline(model, options, runtimePasses);
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
  registerPass([] { return createMoveAffine(); });
  registerPass([] { return createMoveAffineJointly(); });
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
          llvm::errs() << "error: " << run.error().message() << "\n";
          return;
        }
        for (auto &pass : simplificationPasses(*run, options.byteLimit))
          manager.addPass(std::move(pass));
      });
}

} // namespace sinter
