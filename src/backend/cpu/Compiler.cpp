//===- Compiler.cpp - from a model to a program for the CPU ---------------===//

#include "backend/cpu/Compiler.h"

#include "backend/cpu/KernelCompilation.h"
#include "backend/cpu/NameSizes.h"
#include "backend/cpu/Prepare.h"
#include "backend/cpu/Registration.h"
#include "backend/cpu/Schedule.h"
#include "backend/cpu/ShareCode.h"
#include "backend/cpu/codegen/Image.h"
#include "backend/cpu/emit/KernelEmitter.h"
#include "backend/cpu/emit/OpenKernel.h"

#include "graph/nn/NnOps.h"
#include "runtime/CpuFeatures.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <map>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// Kernels that are the same but for their layers' names.
struct DistinctKernel {
  KernelPlan plan;
  /// What its code is made of, among all sources: that of each stage, where
  /// these are cut.
  std::vector<size_t> sources = {};
  /// Of code that kernels may share: what this one's functions take for
  /// granted, and what the table of each source has (SharedCode::tables).
  std::vector<KernelContract> contracts = {};
  std::vector<std::vector<int64_t>> tables = {};

  /// A stage is a function.
  size_t functions() const { return std::max<size_t>(1, plan.stages.size()); }
};

/// The kernels of a program, and what their code is made of.
struct PlannedKernels {
  std::vector<DistinctKernel> distinct;
  std::vector<KernelSource> sources;
  llvm::StringSet<> subroutines; ///< Those that are among the sources.
  KernelTable table;
};

bool hasElements(KernelOp kernel) {
  return llvm::any_of(kernel.getResults(), [](Value result) {
    return !llvm::is_contained(shapeOf(result), 0);
  });
}

/// Which operations \p kernel has, and of which types.
std::string operationsOf(KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (Operation &op : kernel.getBody().front()) {
    out << op.getName();
    for (Value result : op.getResults())
      out << ' ' << getElementTypeOrSelf(result);
  }
  return text;
}

unsigned threadCount(unsigned wanted) {
  return wanted ? wanted : std::max(1u, std::thread::hardware_concurrency());
}

/// What a program needs of \p target if no kernel uses matrix units: LLVM may
/// use everything else wherever it likes.
std::vector<std::string> commonFeatures(const Target &target) {
  std::vector<std::string> features = target.instructionSets;
  std::erase_if(features, isMatrixFeature);
  return features;
}

/// Lets \p program need \p features, too.
void addFeatures(Program &program, const std::vector<std::string> &features) {
  for (const std::string &feature : features)
    if (!llvm::is_contained(program.features, feature))
      program.features.push_back(feature);
}

/// How often subroutines are called by code that differs, by their texts.
using SubroutineUses = llvm::StringMap<unsigned>;

/// Names the subroutines of \p kernel, which has that \p draft, and adds those
/// that other code has, too; each once. Others stay in the kernel's code, which
/// saves a module.
void addSubroutines(const KernelDraft &draft, const SubroutineUses &uses,
                    const KernelCache &cache, KernelSource &kernel,
                    PlannedKernels &planned) {
  kernel.writtenSubroutines.resize(draft.subroutines.size());
  for (const auto &[number, each] : llvm::enumerate(draft.subroutines)) {
    if (uses.lookup(each.text) == 1) {
      kernel.subroutines.emplace_back();
      kernel.writtenSubroutines[number] = each.code;
      continue;
    }
    KernelSource source;
    source.key = cache.keyOf(each.text);
    source.name = "subroutine_" + source.key.text();
    source.functions = 0;
    source.bytecode = kernel.bytecode;
    source.subroutine = number;
    source.layer = kernel.layer;
    source.written = each.code;
    kernel.subroutines.push_back(source.name);
    if (planned.subroutines.insert(source.name).second)
      planned.sources.push_back(std::move(source));
  }
}

/// What code for \p kernels is made of, which are of open sizes, plain loops,
/// read a table or call subroutines: by their numbers among all, with the
/// source that each would have by itself.
Result<void> shareSources(ArrayRef<std::pair<size_t, KernelSource>> kernels,
                          const Target &target, const KernelCache &cache,
                          CodeContexts &contexts, PlannedKernels &planned) {
  std::vector<std::string> bytecodes;
  for (const auto &[number, source] : kernels)
    bytecodes.push_back(source.bytecode);
  Result<std::vector<std::vector<KernelDraft>>> drafts =
      draftKernels(bytecodes, target, contexts);
  if (!drafts)
    return drafts.takeError();
  // A kernel's draft, or that of one of its stages.
  struct Part {
    size_t kernel, stage;
  };
  std::vector<Part> parts;
  std::vector<CodeForm> forms;
  for (auto [kernel, stages] : llvm::enumerate(*drafts)) {
    DistinctKernel &each = planned.distinct[kernels[kernel].first];
    each.sources.resize(stages.size());
    each.tables.resize(stages.size());
    for (auto [stage, draft] : llvm::enumerate(stages)) {
      parts.push_back({kernel, stage});
      forms.push_back(std::move(draft.form));
      llvm::append_range(each.contracts, draft.code->contracts);
    }
  }
  std::vector<SharedCode> all = shareCode(forms);
  SubroutineUses uses;
  for (const SharedCode &code : all) {
    const auto [kernel, stage] = parts[code.kernels.front()];
    for (const KernelDraft::Subroutine &each :
         (*drafts)[kernel][stage].subroutines)
      ++uses[each.text];
  }
  for (SharedCode &code : all) {
    const auto [first, firstStage] = parts[code.kernels.front()];
    const KernelDraft &draft = (*drafts)[first][firstStage];
    KernelSource source = kernels[first].second;
    std::string text = code.textOf(forms[code.kernels.front()]);
    source.places = std::move(code.places);
    source.written = draft.code;
    source.stage = firstStage;
    source.functions = draft.code->contracts.size();
    addSubroutines(draft, uses, cache, source, planned);
    // Code that has its subroutines is other code than what calls them.
    for (const std::string &name : source.subroutines)
      text += name.empty() ? "own " : "shared ";
    source.key = cache.keyOf(text);
    source.name = "kernel_" + source.key.text();
    for (auto [part, table] : llvm::zip_equal(code.kernels, code.tables)) {
      DistinctKernel &each =
          planned.distinct[kernels[parts[part].kernel].first];
      each.sources[parts[part].stage] = planned.sources.size();
      each.tables[parts[part].stage] = std::move(table);
    }
    planned.sources.push_back(std::move(source));
  }
  return {};
}

/// Plans the kernels of \p function.
Result<PlannedKernels> planKernels(func::FuncOp function, const Target &target,
                                   const KernelCache &cache,
                                   const CpuOptions &options,
                                   CodeContexts &contexts, Compiled &compiled) {
  PlannedKernels planned;
  llvm::StringMap<uint32_t> known;
  SmallVector<std::pair<KernelOp, uint32_t>> uses;
  SmallVector<std::pair<size_t, KernelSource>> shared;
  // Those of known sizes, by what they compute. What nothing is like is not
  // written twice.
  std::map<std::string, SmallVector<std::pair<size_t, KernelSource>>>
      ofKnownSizes;
  Result<void> isKept = {};
  function.walk([&](KernelOp kernel) {
    if (isKept)
      isKept = checkOpen(kernel);
  });
  if (!isKept)
    return isKept.takeError();
  auto addSource = [&](KernelSource source) {
    source.key = cache.keyOf(source.bytecode);
    source.name = "kernel_" + source.key.text();
    planned.sources.push_back(std::move(source));
    return planned.sources.size() - 1;
  };
  function.walk([&](KernelOp kernel) {
    if (!hasElements(kernel))
      return;
    auto [entry, isNew] =
        known.try_emplace(kernel.structure(), planned.distinct.size());
    uses.push_back({kernel, entry->second});
    if (!isNew)
      return;
    DistinctKernel each{planKernel(kernel, target)};
    KernelSource source;
    source.bytecode = serialize(kernel);
    source.functions = each.functions();
    source.layer = layerOf(kernel->getLoc());
    if (isOpen(kernel) || each.plan.hasSubroutines)
      shared.push_back({planned.distinct.size(), std::move(source)});
    else if (isPlainLoop(kernel) || each.plan.readsTable)
      ofKnownSizes[operationsOf(kernel)].push_back(
          {planned.distinct.size(), std::move(source)});
    else
      each.sources = {addSource(std::move(source))};
    planned.distinct.push_back(std::move(each));
  });
  for (auto &[operations, alike] : ofKnownSizes)
    if (alike.size() > 1)
      llvm::append_range(shared, std::move(alike));
    else
      planned.distinct[alike[0].first].sources = {
          addSource(std::move(alike[0].second))};
  for (auto [kernel, index] : uses)
    if (Result<void> isOpen = checkOpen(kernel, planned.distinct[index].plan);
        !isOpen)
      return isOpen.takeError();
  if (Result<void> done =
          shareSources(shared, target, cache, contexts, planned);
      !done)
    return done.takeError();
  std::vector<uint32_t> firstEntries;
  for (const DistinctKernel &kernel : planned.distinct) {
    firstEntries.push_back(compiled.names.size());
    for (size_t source : kernel.sources)
      for (size_t i = 0; i < planned.sources[source].functions; ++i)
        compiled.names.push_back(stageName(planned.sources[source].name, i));
  }
  for (auto [kernel, index] : uses) {
    const DistinctKernel &each = planned.distinct[index];
    planned.table[kernel] = {firstEntries[index], &each.plan, each.tables};
    if (options.onChoice && !each.plan.alternatives.empty())
      options.onChoice(layerOf(kernel->getLoc()), each.plan.alternatives);
  }
  return planned;
}

void addCode(std::vector<KernelCode> code, PlannedKernels &planned,
             Compiled &compiled) {
  std::vector<KernelContract> &contracts = compiled.program.kernels;
  for (DistinctKernel &kernel : planned.distinct)
    llvm::append_range(contracts, kernel.contracts.empty()
                                      ? code[kernel.sources[0]].contracts
                                      : kernel.contracts);
  for (KernelCode &kernel : code) {
    compiled.objects.push_back(std::move(kernel.object));
    addFeatures(compiled.program, kernel.features);
  }
}

} // namespace

static PassSetting settingOf(const CpuOptions &options, const Target &target,
                             PassSetting::UnknownSizes unknown) {
  PassSetting setting{target, options.precision, unknown, nullptr};
  if (options.onChoice)
    setting.onChoice = [&](Location location, const Alternatives &all) {
      options.onChoice(layerOf(location), all);
    };
  return setting;
}

static Result<Compiled> compileTo(const Model &original,
                                  const CpuOptions &options, bool withCode) {
  Result<Target> target = options.target ? *options.target : Target::host();
  if (!target)
    return target.takeError();
  // vcvtneps2bf16 and vdpbf16ps take denormal numbers for zero whatever the
  // mode says.
  if (options.denormals == Denormals::Keep)
    target->convertsBF16 = target->hasBF16Dot = false;
  if (options.ceilings && !options.target)
    target->setRates(*options.ceilings);
  auto model = std::make_shared<Model>(original.clone());
  loadCpuDialect(model->context());
  SimplifyOptions passes = options.passes;
  passes.verifiesWhatRuns = true;
  SimplifyReport report;
  using enum PassSetting::UnknownSizes;
  const PassSetting::UnknownSizes unknown = isOpen(original) ? OfInputs
                                            : hasUnknownSizes(original.entry())
                                                ? Computed
                                                : None;
  if (Result<void> done =
          prepare(*model, settingOf(options, *target, unknown), passes, report);
      !done)
    return done.takeError();
  if (options.onPrepared)
    options.onPrepared(report);

  Compiled compiled;
  Program &program = compiled.program;
  program.triple = target->triple;
  program.features = commonFeatures(*target);
  program.producer = "sinter " SINTER_VERSION;
  program.isOfProcess = static_cast<bool>(options.onCode);
  program.inputs = original.inputs();
  program.outputs = original.outputs();
  const KernelCache cache(options.kernelFolder, options.compiler, *target);
  CodeContexts contexts(threadCount(options.threads));
  Result<PlannedKernels> planned =
      planKernels(model->entry(), *target, cache, options, contexts, compiled);
  if (!planned)
    return planned.takeError();
  // Weights are packed by this thread while others compile.
  KernelCompilation compilation(planned->sources, cache, *target, options,
                                contexts);
  if (withCode)
    compilation.start();
  if (Result<void> done = schedule(model, planned->table, program); !done)
    return done.takeError();
  if (!withCode)
    return compiled;
  Result<std::vector<KernelCode>> code = compilation.finish();
  if (!code)
    return code.takeError();
  addCode(std::move(*code), *planned, compiled);
  return compiled;
}

Result<Compiled> cpu::compileToObjects(const Model &model,
                                       const CpuOptions &options) {
  return compileTo(model, options, /*withCode=*/true);
}

Result<Program> cpu::planForCpu(const Model &model, const CpuOptions &options) {
  Result<Compiled> compiled = compileTo(model, options, /*withCode=*/false);
  if (!compiled)
    return compiled.takeError();
  return std::move(compiled->program);
}

Result<Program> cpu::linkProgram(Compiled compiled) {
  Result<CodeImage> image = link(compiled.objects, compiled.names);
  if (!image)
    return image.takeError();
  compiled.program.code = std::move(*image);
  return std::move(compiled.program);
}

Result<Program> cpu::compileForCpu(const Model &model,
                                   const CpuOptions &options) {
  Result<Compiled> compiled = compileToObjects(model, options);
  if (!compiled)
    return compiled.takeError();
  return linkProgram(std::move(*compiled));
}
