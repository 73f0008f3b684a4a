#include "passes/Pipelines.h"
#include "passes/DecomposeChlo.h"
#include "passes/ExpandComplex.h"

#include "graph/Constants.h"
#include "graph/FirstError.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "passes/ChannelsFirst.h"
#include "passes/EliminateCommonSubexpressions.h"
#include "passes/EliminateDeadCode.h"
#include "passes/FoldBatchNorm.h"
#include "passes/Freeze.h"
#include "passes/InlineCalls.h"
#include "passes/MoveTransposes.h"
#include "passes/Observe.h"
#include "passes/RaiseAttention.h"
#include "passes/RaiseIdioms.h"
#include "passes/RefineShapes.h"
#include "passes/SimplifyAlgebra.h"
#include "passes/VerifyNumerics.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>

using namespace mlir;

namespace sinter {

using Passes = std::vector<std::unique_ptr<Pass>>;

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
  tidy();
  // Two equal products become one only now: one with two readers could not have
  // taken up what stands behind either.
  passes.push_back(createEliminateCommonSubexpressions(run));
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
static Result<void> runPass(std::unique_ptr<Pass> pass, ModuleOp module) {
  const std::string name = pass->getArgument().str();
  FirstError reported(module.getContext());
  PassManager manager(module.getContext());
  manager.addPass(std::move(pass));
  if (succeeded(manager.run(module)))
    return {};
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
  passes.push_back(createEliminateDeadCode(run));
  return passes;
}

/// Whether some pipeline has passes of these names.
static Result<void> checkPassNames(const std::vector<std::string> &names) {
  const auto run = std::make_shared<PatternRun>();
  Passes all = simplificationPasses(run, defaultConstantByteLimit);
  for (auto &pass : kernelPasses(run, defaultConstantByteLimit))
    all.push_back(std::move(pass));
  for (const std::string &name : names)
    if (name != "all" && llvm::none_of(all, [&](const auto &pass) {
          return pass->getArgument() == name;
        }))
      return usageError("--print-ir-after: there is no pass '" + name + "'");
  return {};
}

/// Runs the passes of one pipeline.
static Result<SimplifyReport>
runPipeline(Model &model, const SimplifyOptions &options,
            Passes (*pipeline)(const std::shared_ptr<PatternRun> &, int64_t)) {
  auto run = PatternRun::create(options.disabledPatterns,
                                options.enabledPatterns, options.allowed);
  if (!run)
    return run.takeError();
  (*run)->mostSteps = options.mostSteps;
  (*run)->watcher = options.watcher;
  Passes passes = pipeline(*run, options.constantByteLimit);
  if (auto checked = checkPassNames(options.printIrAfter); !checked)
    return checked.takeError();

  SimplifyReport report;
  Model result = model.clone();
  ModuleOp module = result.module();
  countOperations(module, report.operationsBefore, report.constantBytesBefore);
  std::unique_ptr<VerifyNumerics> check;
  std::optional<Error> wrong;
  if (options.verifyNumerics || options.verifyEach) {
    auto begun = VerifyNumerics::begin(module, **run, options.verifyDimension,
                                       options.verifyTolerance);
    if (!begun)
      return begun.takeError();
    check = std::move(*begun);
  }
  if (options.verifyEach)
    (*run)->afterEach = [&](StringRef label) {
      if (wrong)
        return;
      if (auto same = check->afterApplication(label); !same)
        wrong = same.takeError();
    };
  for (std::unique_ptr<Pass> &pass : passes) {
    std::string name = pass->getArgument().str();
    auto start = std::chrono::steady_clock::now();
    if (auto done = runPass(std::move(pass), module); !done)
      return done.takeError();
    if (wrong) {
      wrong->message = "pass " + name + ": " + wrong->message;
      return *wrong;
    }
    std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - start;
    report.passTimes.push_back({name, time.count()});
    report.passSteps.push_back({name, (*run)->steps()});
    if (llvm::is_contained(options.printIrAfter, name) ||
        llvm::is_contained(options.printIrAfter, "all")) {
      llvm::raw_ostream &stream =
          options.irStream ? *options.irStream : llvm::errs();
      stream << "// after " << name << "\n" << module << "\n";
    }
    if (!check)
      continue;
    if (auto same = check->after(name); !same)
      return same.takeError();
  }
  if (check)
    report.verified = check->facts();
  check.reset();
  countOperations(module, report.operationsAfter, report.constantBytesAfter);
  report.patterns = (*run)->counts();
  report.lastStep = (*run)->lastStep();
  model = std::move(result);
  return report;
}

Result<SimplifyReport> simplify(Model &model, const SimplifyOptions &options) {
  return runPipeline(model, options, simplificationPasses);
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
  registerPass([] { return createChannelsFirst(); });
  registerPass([] { return createRaiseIdioms(); });
  registerPass([] { return createRaiseAttention(); });
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
