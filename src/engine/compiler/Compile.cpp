//===- Compile.cpp - from a model to a program ----------------------------===//

#include "backend/cpu/Compiler.h"
#include "backend/cpu/NameSizes.h"
#include "engine/compiler/CpuAdjustment.h"
#include "engine/compiler/MlirCompiler.h"
#include "engine/compiler/ObservedValues.h"
#include "engine/compiler/Simplification.h"
#include "graph/Source.h"
#include "graph/sdy/DropShardings.h"
#include "passes/InlineCalls.h"

#include "llvm/Support/Format.h"

using namespace mlir;

namespace sinter {

namespace {

/// "conv1: winograd 0.120 ms, direct 0.200 ms", "fc: matmul, no tiles (sizes
/// are open)".
std::string textOf(const std::string &layer,
                   const cpu::Alternatives &alternatives) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << layer << ": ";
  llvm::interleaveComma(
      alternatives, stream, [&](const cpu::Alternative &each) {
        if (!each.reason.empty())
          stream << "no ";
        stream << each.kernel;
        if (each.seconds != 0)
          stream << llvm::format(" %.3f ms", each.seconds * 1e3);
        if (!each.reason.empty())
          stream << " (" << each.reason << ")";
      });
  return oneLine(text);
}

} // namespace

CpuAdjustment &cpuAdjustment() {
  static CpuAdjustment adjustment = nullptr;
  return adjustment;
}

Result<void> specializeForPasses(Model &model, const SpecializeOptions &known) {
  // Nothing is written back.
  model.module()->removeAttr(wholeSourcesAttribute);
  model.module()->removeAttr(lastingSourcesAttribute);
  // On one machine, shardings mean nothing.
  sdy::dropShardings(model.module());
  if (model.module()
          .walk(
              [](sdy::ManualComputationOp) { return WalkResult::interrupt(); })
          .wasInterrupted())
    return unsupported(model.path +
                       ": sdy.manual_computation: computes on parts of its "
                       "operands, one a device");
  if (func::FuncOp entry = model.entry())
    if (Result<void> inlined = inlineCalls(entry); !inlined)
      return inlined;
  return specialize(model, known);
}

Result<Rewriting> rewriteForKernels(Model &model, const PassOptions &passes,
                                    ReplacementWatcher *watcher) {
  Rewriting done;
  uint64_t steps = 0;
  // Steps are counted through all stages.
  for (auto *stage : {raiseQuantizedWith, simplifyWith, raiseWith}) {
    // What repeats nothing for the same sizes stands between what is raised.
    if (stage == raiseWith && cpu::hasUnknownSizes(model.entry()))
      cpu::dropRepetitions(model.entry());
    PassOptions rest = passes;
    rest.mostSteps -= steps;
    Result<SimplifyReport> report = stage(model, rest, watcher);
    if (!report)
      return report.takeError();
    for (const auto &[pass, own] : report->passSteps)
      done.passSteps.emplace_back(pass, steps + own);
    if (!done.passSteps.empty())
      steps = done.passSteps.back().second;
    if (!report->lastStep.label.empty())
      done.lastStep = std::move(report->lastStep);
  }
  return done;
}

/// The program, or what is known of it without its code.
static Result<Program> programOf(Model model, const SpecializeOptions &known,
                                 const CompileRequest &request, bool withCode) {
  CompileStages stages(request.stages);
  if (Result<void> ready = specializeForPasses(model, known); !ready)
    return ready.takeError();
  stages.end("specialise");
  ObservedValues observed(model, request.observed);
  Result<Rewriting> rewritten =
      rewriteForKernels(model, request.passes, observed.watcher());
  if (!rewritten)
    return rewritten.takeError();
  observed.insertProbes(model);
  stages.end("simplify");
  cpu::CpuOptions options;
  options.threads = request.threads;
  options.precision = request.precision;
  if (!request.cpu.empty() || !request.features.empty()) {
    Result<cpu::Target> target =
        request.cpu.empty()
            ? cpu::Target::host(request.features)
            : cpu::Target::named("", request.cpu, request.features);
    if (!target)
      return target.takeError();
    options.target = std::move(*target);
  }
  options.denormals = request.denormals;
  options.ceilings = request.ceilings;
  if (request.choice)
    options.onChoice = [&](const std::string &layer,
                           const cpu::Alternatives &alternatives) {
      request.choice(textOf(layer, alternatives));
    };
  options.kernelFolder = request.kernelFolder;
  options.compiler = request.compiler;
  options.passes = simplifyOptions(request.passes);
  // Steps are those of rewriteForKernels; what a backend needs is done.
  options.passes.mostSteps = SimplifyOptions().mostSteps;
  options.stages = request.stages;
  options.onPrepared = [&](const SimplifyReport &report) {
    tellVerified(request.passes, "preparing for the CPU", report.verified);
  };
  if (request.progress)
    options.progress = [&](size_t done, size_t total) {
      request.progress(static_cast<unsigned>(done),
                       static_cast<unsigned>(total));
    };
  if (CpuAdjustment adjust = cpuAdjustment())
    adjust(options);
  Result<Program> program = withCode ? cpu::compileForCpu(model, options)
                                     : cpu::planForCpu(model, options);
  if (program)
    stages.end("generate code");
  return program;
}

Result<std::shared_ptr<const Program>>
compileModel(Model model, const SpecializeOptions &known,
             const CompileRequest &request) {
  Result<Program> program =
      programOf(std::move(model), known, request, /*withCode=*/true);
  if (!program)
    return program.takeError();
  return std::make_shared<const Program>(std::move(*program));
}

Result<Program> planModel(Model model, const SpecializeOptions &known,
                          const CompileRequest &request) {
  return programOf(std::move(model), known, request, /*withCode=*/false);
}

SpecializeOptions
MlirCompilerModel::knownOf(const CompileRequest &request) const {
  SpecializeOptions known;
  for (size_t i = 0; i < request.shapes.size(); ++i) {
    const ModelInput &input = description().inputs[i];
    known.shapes[input.spec.name] = request.shapes[i];
    if (input.feedsShapes && request.values[i])
      known.values[input.spec.name] = *request.values[i];
  }
  return known;
}

/// The program for all sizes of the dimensions that are to stay open.
Result<std::shared_ptr<const Program>>
MlirCompilerModel::compileOpen(const CompileRequest &request) {
  Result<Model> model = source->spelledOutFor({request.shapes, request.values});
  if (!model)
    return model.takeError();
  SpecializeOptions known;
  known.leavesOpen = true;
  for (size_t i = 0; i < request.open.size(); ++i)
    known.shapes[description().inputs[i].spec.name] = request.open[i];
  return compileModel(std::move(*model), known, request);
}

/// The program for all values of inputs of these sizes.
Result<std::shared_ptr<const Program>>
MlirCompilerModel::compileForAnyValues(const CompileRequest &request,
                                       bool &hasOpenSizes) {
  Result<ModelSource::ForAnyValues> read =
      source->forAnyValues({request.shapes, request.values});
  hasOpenSizes = !read || read->hasOpenSizes;
  if (!read)
    return read.takeError();
  SpecializeOptions known = knownOf(request);
  known.leavesOpen = hasOpenSizes;
  return compileModel(std::move(read->model), known, request);
}

Result<std::shared_ptr<const Program>>
MlirCompilerModel::compile(const CompileRequest &request) {
  if (!request.open.empty()) {
    Result<std::shared_ptr<const Program>> program = compileOpen(request);
    if (program || program.error().kind == ErrorKind::System ||
        request.shapes.empty())
      return program;
    if (request.closed)
      request.closed(program.error().message);
  }
  std::optional<std::string> whyForValues;
  // Observers are told of values of known shapes.
  if (request.observed.empty() && !request.forValues) {
    bool hasOpenSizes = false;
    Result<std::shared_ptr<const Program>> program =
        compileForAnyValues(request, hasOpenSizes);
    if (program || !hasOpenSizes || program.error().kind == ErrorKind::System)
      return program;
    whyForValues = program.error().message;
  }
  Result<Model> model = source->specialized(request.shapes, request.values);
  if (!model)
    return whyForValues && model.error().kind == ErrorKind::Unsupported
               ? unsupported(*whyForValues)
               : model.takeError();
  Result<std::shared_ptr<const Program>> program =
      compileModel(std::move(*model), knownOf(request), request);
  if (program && whyForValues && request.perValues)
    request.perValues(*whyForValues);
  // That sizes are not known is what it was to do without.
  if (!program && whyForValues &&
      program.error().kind == ErrorKind::Unsupported)
    return unsupported(*whyForValues);
  return program;
}

} // namespace sinter
