//===- Compile.cpp - from a model to a program ----------------------------===//

#include "backend/cpu/ahead/BundleCompiler.h"
#include "backend/cpu/program/Compiler.h"
#include "backend/cpu/shapes/InferDimensions.h"
#include "engine/compiler/CpuAdjustment.h"
#include "engine/compiler/MlirCompiler.h"
#include "engine/compiler/ObservedValues.h"
#include "engine/compiler/ProgramOptions.h"
#include "engine/compiler/Simplification.h"
#include "graph/ConstantScope.h"
#include "graph/Source.h"
#include "graph/Types.h"
#include "graph/sdy/DropShardings.h"
#include "passes/InlineCalls.h"

#include "llvm/Support/Format.h"

using namespace mlir;

namespace sinter {

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

CpuAdjustment &cpuAdjustment() {
  static CpuAdjustment adjustment = nullptr;
  return adjustment;
}

Result<void> specializeForPasses(Model &model, const SpecializeOptions &known) {
  // Nothing is written back.
  model.module()->removeAttr(wholeSourcesAttribute);
  model.module()->removeAttr(lastingSourcesAttribute);
  // On one machine, shardings have no effect.
  sdy::dropShardings(model.module());
  if (model.module()
          .walk(
              [](sdy::ManualComputationOp) { return WalkResult::interrupt(); })
          .wasInterrupted())
    return inFile(
        unsupported("sdy.manual_computation: computes on shards of its "
                    "operands, one per device"),
        model.path);
  if (func::FuncOp entry = model.entry())
    if (Result<void> inlined = inlineCalls(entry); !inlined)
      return inlined;
  return specialize(model, known);
}

Result<Rewriting> rewriteForKernels(Model &model, const PassOptions &passes,
                                    ReplacementWatcher *watcher) {
  Rewriting done;
  uint64_t steps = 0;
  // Steps are counted over all stages.
  for (auto *stage : {raiseQuantizedWith, simplifyWith, raiseWith}) {
    // A broadcast that repeats nothing hides operations that can be raised.
    if (stage == raiseWith && cpu::hasUnknownSizes(model.entry()))
      if (Result<void> dropped = cpu::dropRepetitions(model.entry()); !dropped)
        return dropped.takeError();
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

Result<cpu::CpuOptions> cpuOptionsOf(const CompileRequest &request) {
  cpu::CpuOptions options;
  options.threads = request.threads;
  options.precision = request.precision;
  if (!request.triple.empty() || !request.cpu.empty() ||
      !request.features.empty()) {
    Result<cpu::Target> target =
        request.triple.empty() && request.cpu.empty()
            ? cpu::Target::host(request.features)
            : cpu::Target::named(request.triple, request.cpu, request.features);
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
  // Steps are those of rewriteForKernels; the rest is required by a backend.
  options.passes.mostSteps = SimplifyOptions().mostSteps;
  options.stages = request.stages;
  options.onPrepared = [&](const SimplifyReport &report, ModuleOp) {
    tellVerified(request.passes, "preparing for the CPU", report.verified);
  };
  if (request.progress)
    options.progress = [&](size_t done, size_t total) {
      request.progress(static_cast<unsigned>(done),
                       static_cast<unsigned>(total));
    };
  return options;
}

/// Prepares \p model for the backend, and calls \p generate with it.
static Result<void> generateCode(
    Model model, const SpecializeOptions &known, const CompileRequest &request,
    llvm::function_ref<Result<void>(const Model &, const cpu::CpuOptions &)>
        generate) {
  CompileStages stages(request.stages);
  ConstantScope constants;
  if (Result<void> ready = specializeForPasses(model, known); !ready)
    return ready;
  if (func::FuncOp entry = model.entry(); entry && cpu::hasUnknownSizes(entry))
    if (Result<void> guarded = cpu::collectGuards(entry); !guarded)
      return guarded;
  constants.keepOnly(model.module());
  stages.end("specialise");
  ObservedValues observed(model, request.observed);
  Result<Rewriting> rewritten =
      rewriteForKernels(model, request.passes, observed.watcher());
  if (!rewritten)
    return rewritten.takeError();
  observed.insertProbes(model);
  constants.keepOnly(model.module());
  stages.end("simplify");
  Result<cpu::CpuOptions> options = cpuOptionsOf(request);
  if (!options)
    return options.takeError();
  if (CpuAdjustment adjust = cpuAdjustment())
    adjust(*options);
  options->constantScope = &constants;
  Result<void> done = generate(model, *options);
  if (done)
    stages.end("generate code");
  return done;
}

/// Stores what \p made has in \p place.
template <typename T>
static Result<void> storeResult(Result<T> made, std::optional<T> &place) {
  if (!made)
    return made.takeError();
  place = std::move(*made);
  return {};
}

/// What \p place has, if \p done.
template <typename T>
static Result<T> storedResult(Result<void> done, std::optional<T> place) {
  if (!done)
    return done.takeError();
  return std::move(*place);
}

Result<std::shared_ptr<const Program>>
compileModel(Model model, const SpecializeOptions &known,
             const CompileRequest &request) {
  std::optional<Program> program;
  Result<void> done = generateCode(
      std::move(model), known, request,
      [&](const Model &ready, const cpu::CpuOptions &options) {
        return storeResult(cpu::compileForCpu(ready, options), program);
      });
  if (!done)
    return done.takeError();
  return std::make_shared<const Program>(std::move(*program));
}

Result<Program> planModel(Model model, const SpecializeOptions &known,
                          const CompileRequest &request) {
  std::optional<Program> program;
  Result<void> done = generateCode(
      std::move(model), known, request,
      [&](const Model &ready, const cpu::CpuOptions &options) {
        return storeResult(cpu::planForCpu(ready, options), program);
      });
  return storedResult(std::move(done), std::move(program));
}

/// Changes the target of \p options, which may be that of the host.
static Result<void> changeTarget(cpu::CpuOptions &options,
                                 const TargetChanges &changes) {
  if (changes.l1Bytes == 0 && changes.l2Bytes == 0 && !changes.isSmall)
    return {};
  if (!options.target) {
    Result<cpu::Target> host = cpu::Target::host();
    if (!host)
      return host.takeError();
    options.target = std::move(*host);
    if (options.ceilings)
      options.target->setRates(*options.ceilings);
  }
  if (changes.l1Bytes > 0)
    options.target->l1Bytes = changes.l1Bytes;
  if (changes.l2Bytes > 0)
    options.target->l2Bytes = changes.l2Bytes;
  options.target->isSmall = changes.isSmall;
  return {};
}

/// Compiles \p model to the entry point \p name of a bundle; \p used: the
/// options of the backend.
static Result<cpu::BundlePart>
partOf(const std::string &name, Model model, const SpecializeOptions &known,
       const CompileRequest &request, const TargetChanges &changes,
       bool mayCallRuntime, std::optional<cpu::CpuOptions> &used) {
  std::optional<cpu::BundlePart> part;
  Result<void> done = generateCode(
      std::move(model), known, request,
      [&](const Model &ready, const cpu::CpuOptions &options) {
        used = options;
        if (Result<void> changed = changeTarget(*used, changes); !changed)
          return changed;
        return storeResult(cpu::compilePart(name, ready, *used, mayCallRuntime),
                           part);
      });
  return storedResult(std::move(done), std::move(part));
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

SpecializeOptions
MlirCompilerModel::dynamicOf(const CompileRequest &request) const {
  SpecializeOptions known;
  known.leavesDynamic = true;
  for (size_t i = 0; i < request.dynamic.size(); ++i)
    known.shapes[description().inputs[i].spec.name] = request.dynamic[i];
  return known;
}

/// The graph for passes, for \p request.
Result<Model> MlirCompilerModel::modelFor(const CompileRequest &request) {
  Result<ModelForValues> read =
      request.dynamic.empty() ? modelForValues(request, /*needsSizes=*/true)
                              : modelOfDynamicSizes(request);
  if (!read)
    return read.takeError();
  if (Result<void> ready = specializeForPasses(read->model, read->known);
      !ready)
    return ready.takeError();
  return std::move(read->model);
}

Result<void> MlirCompilerModel::accepts(const CompileRequest &request) {
  CompileRequest fixed = request;
  fixed.dynamic.clear();
  Result<Model> model = modelFor(fixed);
  return model ? Result<void>() : model.takeError();
}

Result<MlirCompilerModel::ModelForValues>
MlirCompilerModel::modelOfDynamicSizes(const CompileRequest &request) {
  Result<TranslatedGraph> read = translate(GraphKind::Dynamic, request);
  if (!read)
    return read.takeError();
  return ModelForValues{std::move(read->model), dynamicOf(request)};
}

/// The program for all sizes of the dimensions to keep dynamic.
Result<std::shared_ptr<const Program>>
MlirCompilerModel::compileDynamic(const CompileRequest &request) {
  Result<ModelForValues> read = modelOfDynamicSizes(request);
  if (!read)
    return read.takeError();
  return compileModel(std::move(read->model), read->known, request);
}

/// Compiles the graph for all values of inputs of these sizes.
Result<void>
MlirCompilerModel::compileForAnyValues(const CompileRequest &request,
                                       CompileGraph compileGraph,
                                       bool &hasDynamicSizes) {
  Result<TranslatedGraph> read = translate(GraphKind::AnyValues, request);
  hasDynamicSizes = !read || read->hasDynamicSizes;
  if (!read)
    return read.takeError();
  SpecializeOptions known = knownOf(request);
  known.leavesDynamic = hasDynamicSizes;
  return compileGraph(std::move(read->model), known);
}

/// Whether \p error is no property of the model: another attempt would fail as
/// well.
static bool endsAttempts(const Error &error) {
  return error.kind == ErrorKind::System || error.kind == ErrorKind::Cancelled;
}

/// Whether \p error is due to dynamic sizes, so that known sizes may help: not
/// a failed check of a pass.
static bool mayBeStatic(const Error &error, const PassOptions &passes) {
  return !endsAttempts(error) && error.kind != ErrorKind::WrongResult &&
         (!passes.verifyNumerics || error.kind == ErrorKind::Unsupported);
}

Result<std::shared_ptr<const Program>>
MlirCompilerModel::compile(const CompileRequest &request) {
  if (!request.dynamic.empty()) {
    Result<std::shared_ptr<const Program>> program = compileDynamic(request);
    if (program || request.shapes.empty() ||
        !mayBeStatic(program.error(), request.passes))
      return program;
    if (request.onStatic)
      request.onStatic(program.error().message());
  }
  // Observers identify values by the numbers of modelFor().
  if (!request.observed.empty()) {
    Result<ModelForValues> read = modelForValues(request, /*needsSizes=*/true);
    return read ? compileModel(std::move(read->model), read->known, request)
                : read.takeError();
  }
  std::optional<std::shared_ptr<const Program>> program;
  Result<void> done = compileForShapes(
      request, [&](Model model, const SpecializeOptions &known) {
        return storeResult(compileModel(std::move(model), known, request),
                           program);
      });
  return storedResult(std::move(done), std::move(program));
}

Result<Bundle> MlirCompilerModel::bundle(const BundleRequest &request) {
  std::vector<cpu::BundlePart> parts;
  std::optional<cpu::CpuOptions> used;
  for (const BundleRequest::Entry &entry : request.entries) {
    CompileRequest own = request;
    own.shapes = entry.shapes;
    own.dynamic = entry.dynamic;
    const std::string name =
        request.bundle.name + (entry.name.empty() ? "" : "_" + entry.name);
    std::optional<cpu::BundlePart> part;
    const auto compile = [&](Model model, const SpecializeOptions &known) {
      return storeResult(partOf(name, std::move(model), known, own,
                                request.changes, request.bundle.mayCallRuntime,
                                used),
                         part);
    };
    Result<void> done = own.dynamic.empty() ? compileForShapes(own, compile)
                                            : compileForSizes(own, compile);
    if (!done)
      return entry.name.empty()
                 ? done.takeError()
                 : inside("entry point '" + entry.name + "'", done.takeError());
    parts.push_back(std::move(*part));
  }
  return cpu::makeBundle(std::move(parts), *used, request.bundle);
}

/// Compiles the graph for all sizes of the dimensions to keep dynamic.
Result<void> MlirCompilerModel::compileForSizes(const CompileRequest &request,
                                                CompileGraph compileGraph) {
  Result<ModelForValues> read = modelOfDynamicSizes(request);
  return read ? compileGraph(std::move(read->model), read->known)
              : read.takeError();
}

/// Compiles the graph for inputs of the request's shapes and all values, or, if
/// that is impossible, for its values.
Result<void> MlirCompilerModel::compileForShapes(const CompileRequest &request,
                                                 CompileGraph compileGraph) {
  std::optional<std::string> whyForValues;
  if (!request.forValues) {
    bool hasDynamicSizes = false;
    Result<void> done =
        compileForAnyValues(request, compileGraph, hasDynamicSizes);
    if (done || !hasDynamicSizes || endsAttempts(done.error()))
      return done;
    whyForValues = done.error().message();
  }
  Result<TranslatedGraph> graph = translate(GraphKind::Static, request);
  if (!graph)
    return whyForValues && graph.error().kind == ErrorKind::Unsupported
               ? unsupported(*whyForValues)
               : graph.takeError();
  SpecializeOptions known = knownOf(request);
  Result<void> done = compileGraph(graph->model.clone(), known);
  if (!done && done.error().kind == ErrorKind::InvalidModel &&
      hasResultOfUnknownSize(graph->model.module())) {
    // A loop may carry sizes that change, whatever the values are.
    known.leavesDynamic = true;
    if (Result<void> again = compileGraph(std::move(graph->model), known);
        again)
      done = again;
  }
  if (done && whyForValues && request.perValues)
    request.perValues(*whyForValues);
  // The first reason says more than that sizes are unknown.
  if (!done && whyForValues && done.error().kind == ErrorKind::Unsupported)
    return unsupported(*whyForValues);
  return done;
}

} // namespace sinter
