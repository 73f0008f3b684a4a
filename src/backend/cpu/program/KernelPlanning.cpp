#include "backend/cpu/program/KernelPlanning.h"

#include "backend/cpu/emit/DynamicKernel.h"
#include "backend/cpu/emit/KernelEmitter.h"
#include "backend/cpu/ir/LayerName.h"
#include "backend/cpu/program/ShareCode.h"
#include "llvm/ADT/StringMap.h"

#include <map>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static bool hasElements(KernelOp kernel) {
  return llvm::any_of(kernel.getResults(), [](Value result) {
    return !llvm::is_contained(dimsOf(result), Dim(0));
  });
}

/// The operations of \p kernel and the element types of their results.
static std::string operationsOf(KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (Operation &op : kernel.getBody().front()) {
    out << op.getName();
    for (Value result : op.getResults())
      out << ' ' << getElementTypeOrSelf(result);
  }
  return text;
}

namespace {

class KernelPlanner {
public:
  KernelPlanner(const Target &target, const KernelCache &cache,
                const CpuOptions &options, CodeContexts &contexts)
      : target(target), cache(cache), options(options), contexts(contexts) {}

  Result<PlannedKernels> plan(func::FuncOp function);

private:
  /// A distinct kernel that may share code, and its source if it does not.
  struct Candidate {
    size_t kernel;
    KernelSource source;
  };
  /// The template of a candidate, or of one of its separate stages.
  struct Template {
    const Candidate &of;
    size_t stage;
    KernelTemplate code;
  };

  void addKernel(KernelOp kernel);
  void classify(KernelOp kernel);
  void chooseCandidates();
  size_t addSource(KernelSource source);

  Result<void> shareSources();
  Result<void> makeTemplates();
  void countSubroutineCalls(ArrayRef<SharedCode> all);
  void addShared(SharedCode code);
  std::vector<CalledSubroutine> addSubroutines(const KernelTemplate &made,
                                               const KernelSource &kernel);

  void nameFunctions();

  const Target &target;
  const KernelCache &cache;
  const CpuOptions &options;
  CodeContexts &contexts;

  PlannedKernels planned;
  /// The distinct kernel of each operation, and of each structure.
  SmallVector<std::pair<KernelOp, uint32_t>> uses;
  llvm::StringMap<uint32_t> byStructure;
  std::vector<Candidate> candidates;
  /// Kernels of static sizes by what they compute. One that no other is like
  /// shares nothing, so that its template would be written in vain.
  std::map<std::string, std::vector<Candidate>> byOperations;

  std::vector<Template> templates;
  std::vector<CodeForm> forms; ///< Of the templates.
  /// The number of sources that call a subroutine, by its text.
  llvm::StringMap<unsigned> subroutineCalls;
  llvm::StringSet<> subroutines; ///< Those that are sources.
};

} // namespace

size_t KernelPlanner::addSource(KernelSource source) {
  source.key = cache.keyOf(source.bytecode);
  source.name = "kernel_" + source.key.text();
  planned.sources.push_back(std::move(source));
  return planned.sources.size() - 1;
}

void KernelPlanner::addKernel(KernelOp kernel) {
  if (!hasElements(kernel))
    return;
  const auto [entry, isNew] =
      byStructure.try_emplace(kernel.structure(), planned.distinct.size());
  uses.push_back({kernel, entry->second});
  if (isNew)
    classify(kernel);
}

/// Decides whether a new kernel has a source of its own or may share one.
void KernelPlanner::classify(KernelOp kernel) {
  DistinctKernel each{planKernel(kernel, target)};
  KernelSource source;
  source.bytecode = serialize(kernel);
  source.part = KernelFunctions{0, each.plan.functions()};
  source.layer = layerOf(kernel->getLoc());
  const size_t number = planned.distinct.size();
  const CodeSharing sharing = each.plan.sharing;
  if (isDynamic(kernel) || sharing == CodeSharing::Subroutines)
    candidates.push_back({number, std::move(source)});
  else if (sharing != CodeSharing::None)
    byOperations[operationsOf(kernel)].push_back({number, std::move(source)});
  else
    each.code = {SourceUse{addSource(std::move(source))}};
  planned.distinct.push_back(std::move(each));
}

void KernelPlanner::chooseCandidates() {
  for (auto &[operations, alike] : byOperations)
    if (alike.size() > 1)
      std::move(alike.begin(), alike.end(), std::back_inserter(candidates));
    else
      planned.distinct[alike[0].kernel].code = {
          SourceUse{addSource(std::move(alike[0].source))}};
}

Result<void> KernelPlanner::makeTemplates() {
  std::vector<std::string> bytecodes;
  for (const Candidate &each : candidates)
    bytecodes.push_back(each.source.bytecode);
  Result<std::vector<std::vector<KernelTemplate>>> made = writeTemplates(
      bytecodes, target, contexts, options.passes.cancellation.get());
  if (!made)
    return made.takeError();
  for (auto [candidate, ofStages] : llvm::zip_equal(candidates, *made)) {
    DistinctKernel &kernel = planned.distinct[candidate.kernel];
    kernel.code.resize(ofStages.size());
    for (auto [stage, each] : llvm::enumerate(ofStages)) {
      llvm::append_range(kernel.contracts, each.code->contracts);
      forms.push_back(std::move(each.form));
      templates.push_back({candidate, stage, std::move(each)});
    }
  }
  return {};
}

void KernelPlanner::countSubroutineCalls(ArrayRef<SharedCode> all) {
  for (const SharedCode &code : all)
    for (const KernelTemplate::Subroutine &each :
         templates[code.kernels.front()].code.subroutines)
      ++subroutineCalls[each.text];
}

/// The subroutines that \p made calls. Adds those that other sources call, too;
/// \p kernel is the source of \p made.
std::vector<CalledSubroutine>
KernelPlanner::addSubroutines(const KernelTemplate &made,
                              const KernelSource &kernel) {
  std::vector<CalledSubroutine> called;
  for (const auto &[number, each] : llvm::enumerate(made.subroutines)) {
    if (subroutineCalls.lookup(each.text) == 1) {
      called.push_back({"", each.code});
      continue;
    }
    KernelSource source;
    source.key = cache.keyOf(each.text);
    source.name = "subroutine_" + source.key.text();
    source.bytecode = kernel.bytecode;
    source.layer = kernel.layer;
    source.part = SubroutineOfKernel{number};
    source.written = each.code;
    called.push_back({source.name});
    if (subroutines.insert(source.name).second)
      planned.sources.push_back(std::move(source));
  }
  return called;
}

/// Adds the source of \p code, and lets the kernels that run it know.
void KernelPlanner::addShared(SharedCode code) {
  const Template &first = templates[code.kernels.front()];
  KernelSource source = first.of.source;
  std::string text = code.textOf(forms[code.kernels.front()]);
  KernelFunctions functions{first.stage, first.code.code->contracts.size(),
                            std::move(code.places),
                            addSubroutines(first.code, source)};
  // Code that contains its subroutines is other code than what calls them.
  for (const CalledSubroutine &each : functions.subroutines)
    text += each.name.empty() ? "own " : "shared ";
  source.key = cache.keyOf(text);
  source.name = "kernel_" + source.key.text();
  source.part = std::move(functions);
  source.written = first.code.code;
  for (auto [which, table] : llvm::zip_equal(code.kernels, code.tables))
    planned.distinct[templates[which].of.kernel].code[templates[which].stage] =
        {planned.sources.size(), std::move(table)};
  planned.sources.push_back(std::move(source));
}

Result<void> KernelPlanner::shareSources() {
  if (Result<void> made = makeTemplates(); !made)
    return made;
  std::vector<SharedCode> all = shareCode(forms);
  countSubroutineCalls(all);
  for (SharedCode &code : all)
    addShared(std::move(code));
  return {};
}

void KernelPlanner::nameFunctions() {
  std::vector<uint32_t> firstEntries;
  for (const DistinctKernel &kernel : planned.distinct) {
    firstEntries.push_back(planned.symbols.size());
    for (const SourceUse &each : kernel.code) {
      const KernelSource &source = planned.sources[each.source];
      for (size_t i = 0; i < source.functions(); ++i)
        planned.symbols.push_back(stageName(source.name, i));
    }
  }
  for (auto [kernel, index] : uses) {
    const DistinctKernel &each = planned.distinct[index];
    planned.table[kernel] = {firstEntries[index], &each.plan, each.code};
    if (options.onChoice && !each.plan.alternatives.empty())
      options.onChoice(layerOf(kernel->getLoc()), each.plan.alternatives);
  }
}

Result<PlannedKernels> KernelPlanner::plan(func::FuncOp function) {
  SmallVector<KernelOp> kernels;
  function.walk([&](KernelOp kernel) { kernels.push_back(kernel); });
  for (KernelOp kernel : kernels)
    if (Result<void> keepsSizes = checkDynamic(kernel); !keepsSizes)
      return keepsSizes.takeError();
  for (KernelOp kernel : kernels)
    addKernel(kernel);
  chooseCandidates();
  for (auto [kernel, index] : uses)
    if (Result<void> keepsSizes =
            checkDynamic(kernel, planned.distinct[index].plan);
        !keepsSizes)
      return keepsSizes.takeError();
  if (Result<void> done = shareSources(); !done)
    return done.takeError();
  nameFunctions();
  return std::move(planned);
}

std::vector<KernelContract>
PlannedKernels::contractsOf(ArrayRef<KernelCode> code) const {
  std::vector<KernelContract> all;
  for (const DistinctKernel &kernel : distinct)
    llvm::append_range(all, kernel.contracts.empty()
                                ? code[kernel.code[0].source].contracts
                                : kernel.contracts);
  return all;
}

Result<PlannedKernels> cpu::planKernels(func::FuncOp function,
                                        const Target &target,
                                        const KernelCache &cache,
                                        const CpuOptions &options,
                                        CodeContexts &contexts) {
  return KernelPlanner(target, cache, options, contexts).plan(function);
}
