//===- Compiler.cpp - from a model to a program for the CPU ---------------===//

#include "backend/cpu/program/Compiler.h"
#include "backend/cpu/ir/LayerName.h"
#include "backend/cpu/program/Schedule.h"

#include "backend/cpu/codegen/Image.h"
#include "backend/cpu/pipeline/Prepare.h"
#include "backend/cpu/pipeline/Registration.h"
#include "backend/cpu/program/KernelPlanning.h"
#include "backend/cpu/shapes/InferDimensions.h"
#include "backend/cpu/shapes/NestPrograms.h"

#include "graph/ConstantScope.h"
#include "graph/nn/NnOps.h"
#include "runtime/CpuFeatures.h"

#include <thread>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static unsigned threadCount(unsigned wanted) {
  return wanted ? wanted : std::max(1u, std::thread::hardware_concurrency());
}

/// The features of \p target that a program needs if no kernel uses AMX: LLVM
/// may use everything else in any function.
static std::vector<std::string> commonFeatures(const Target &target) {
  std::vector<std::string> features = target.instructionSets;
  std::erase_if(features, isMatrixFeature);
  return features;
}

static void addFeatures(Program &program,
                        const std::vector<std::string> &features) {
  for (const std::string &feature : features)
    if (!llvm::is_contained(program.features, feature))
      program.features.push_back(feature);
}

static void addCode(std::vector<KernelCode> code, const PlannedKernels &planned,
                    Compiled &compiled) {
  compiled.program.kernels = planned.contractsOf(code);
  for (KernelCode &kernel : code) {
    compiled.objects.push_back(std::move(kernel.object));
    addFeatures(compiled.program, kernel.features);
  }
}

static PassSetting settingOf(const CpuOptions &options, const Target &target,
                             PassSetting::UnknownSizes unknown,
                             ProgramNesting &nesting) {
  PassSetting setting{target, options.precision, unknown, &nesting, nullptr};
  if (options.onChoice)
    setting.onChoice = [&](Location location, const Alternatives &all) {
      options.onChoice(layerOf(location), all);
    };
  return setting;
}

static Result<Compiled> compileTo(const Model &original,
                                  const CpuOptions &options, bool withCode);

/// Compiles what is nested in \p compiled, in the context of \p original.
static Result<void> compileNested(const Model &original,
                                  const CpuOptions &options, bool withCode,
                                  ProgramNesting &nesting, Compiled &compiled) {
  CpuOptions inner = options;
  inner.onPrepared = nullptr;
  inner.constantScope = nullptr;
  for (OwningOpRef<ModuleOp> &module : nesting.models) {
    Result<Compiled> each =
        compileTo(original.withModule(std::move(module)), inner, withCode);
    if (!each)
      return each.takeError();
    addFeatures(compiled.program, each->program.features);
    compiled.nested.push_back(std::move(*each));
  }
  return {};
}

/// Compiles \p original with the control flow in \p nesting as programs of its
/// own.
static Result<Compiled> compileOnce(const Model &original,
                                    const CpuOptions &options, bool withCode,
                                    ProgramNesting &nesting) {
  Result<Target> target = options.target ? *options.target : Target::host();
  if (!target)
    return target.takeError();
  // vcvtneps2bf16, vdpbf16ps and bfmmla take denormal numbers for zero whatever
  // the mode says.
  if (options.denormals == Denormals::Keep)
    target->convertsBF16 = target->hasBF16Dot = target->hasBF16Matrices = false;
  if (options.ceilings && !options.target)
    target->setRates(*options.ceilings);
  auto model = std::make_shared<Model>(original.clone());
  loadCpuDialect(model->context());
  SimplifyOptions passes = options.passes;
  passes.verifiesWhatRuns = true;
  SimplifyReport report;
  using enum PassSetting::UnknownSizes;
  const PassSetting::UnknownSizes unknown = isDynamic(original) ? OfInputs
                                            : hasUnknownSizes(original.entry())
                                                ? Computed
                                                : None;
  if (Result<void> done =
          prepare(*model, settingOf(options, *target, unknown, nesting), passes,
                  report);
      !done) {
    nesting.refused = refusedIn(model->module());
    return done.takeError();
  }
  if (options.onPrepared)
    options.onPrepared(report, model->module());
  // Nested programs share constants.
  ConstantScope *constantScope =
      nesting.models.empty() ? options.constantScope : nullptr;
  if (constantScope)
    constantScope->keepOnly(model->module());

  Compiled compiled;
  Program &program = compiled.program;
  program.triple = target->triple;
  program.features = commonFeatures(*target);
  program.producer = "sinter " SINTER_VERSION;
  program.isOfProcess = static_cast<bool>(options.onCode);
  program.inputs = original.inputs();
  program.outputs = original.outputs();
  const KernelCache cache(
      options.format == CodeFormat::Object ? options.kernelFolder : "",
      options.compiler, *target);
  CodeContexts contexts(threadCount(options.threads));
  Result<PlannedKernels> planned =
      planKernels(model->entry(), *target, cache, options, contexts);
  if (!planned)
    return planned.takeError();
  compiled.names = planned->symbols;
  // Weights are packed by this thread while others compile.
  KernelCompilation compilation(planned->sources, cache, *target, options,
                                contexts);
  if (withCode)
    compilation.start();
  if (Result<void> done =
          schedule(model, planned->table, constantScope, program);
      !done)
    return done.takeError();
  if (options.accepts)
    if (Result<void> accepted = options.accepts(program); !accepted)
      return accepted.takeError();
  if (withCode) {
    Result<std::vector<KernelCode>> code = compilation.finish();
    if (!code)
      return code.takeError();
    addCode(std::move(*code), *planned, compiled);
  }
  if (Result<void> done =
          compileNested(original, options, withCode, nesting, compiled);
      !done)
    return done.takeError();
  return compiled;
}

/// Whether control flow has to be a program of its own shows where its sizes
/// are followed.
static Result<Compiled> compileTo(const Model &original,
                                  const CpuOptions &options, bool withCode) {
  std::set<int64_t> chosen;
  for (;;) {
    ProgramNesting nesting{chosen, {}, std::nullopt};
    Result<Compiled> compiled =
        compileOnce(original, options, withCode, nesting);
    if (compiled || !nesting.refused || !chosen.insert(*nesting.refused).second)
      return compiled;
  }
}

Result<Compiled> cpu::compileToObjects(const Model &model,
                                       const CpuOptions &options) {
  return compileTo(model, options, /*withCode=*/true);
}

/// The program of \p compiled, whose code \p complete adds to each.
static Result<Program>
programOf(Compiled compiled,
          llvm::function_ref<Result<void>(Compiled &)> complete) {
  if (Result<void> done = complete(compiled); !done)
    return done.takeError();
  for (Compiled &each : compiled.nested) {
    Result<Program> inner = programOf(std::move(each), complete);
    if (!inner)
      return inner.takeError();
    compiled.program.nested.push_back(
        std::make_shared<Program>(std::move(*inner)));
  }
  return std::move(compiled.program);
}

Result<Program> cpu::planForCpu(const Model &model, const CpuOptions &options) {
  Result<Compiled> compiled = compileTo(model, options, /*withCode=*/false);
  if (!compiled)
    return compiled.takeError();
  return programOf(std::move(*compiled),
                   [](Compiled &) { return Result<void>(); });
}

Result<Program> cpu::linkProgram(Compiled compiled) {
  return programOf(std::move(compiled), [](Compiled &each) -> Result<void> {
    Result<CodeImage> image = link(each.objects, each.names);
    if (!image)
      return image.takeError();
    each.program.code = std::move(*image);
    return {};
  });
}

Result<Program> cpu::compileForCpu(const Model &model,
                                   const CpuOptions &options) {
  Result<Compiled> compiled = compileToObjects(model, options);
  if (!compiled)
    return compiled.takeError();
  return linkProgram(std::move(*compiled));
}
