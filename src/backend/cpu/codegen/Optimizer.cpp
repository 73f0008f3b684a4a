//===- Optimizer.cpp - LLVM's passes over kernels -------------------------===//

#include "backend/cpu/codegen/Optimizer.h"

#include "backend/cpu/codegen/HalfOperations.h"
#include "backend/cpu/codegen/LoopCounts.h"
#include "backend/cpu/target/Target.h"

#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

using namespace sinter;

// Passes of -O2 that kernels do not need: interprocedural ones, since a kernel
// is one function (ipsccp, called-value-propagation, ...), those for coroutines
// and OpenMP; sccp and correlated-propagation, since emission folds index
// arithmetic; instcombine between inlining and vectorising, where the loops
// have not changed since its last run, and after the clean-up of the
// vectoriser; global value numbering, since builders of index arithmetic
// compute nothing twice and early-cse finds the loads; loop-load-elim,
// constraint-elimination; unrolling and the SLP vectoriser, since the
// generators emit vectors where straight-line code should have them, and on
// their register tiles it only costs time. AMX kernels also skip indvars, which
// checks every index for overflow: a fifth of the compile time of such a
// kernel, whose loops already count up from zero and wait for the units. Of our
// own passes, WidenHalfOperations runs after the last pass that removes
// extensions and before the vectoriser's cost model; VectorizeHalfLoops right
// before the vectoriser.

#define SINTER_SIMPLIFY_CFG(forward, range, table, keep, hoist, unpredictable) \
  "simplifycfg<bonus-inst-threshold=1;" forward "forward-switch-cond;" range   \
  "switch-range-to-icmp;" table "switch-to-lookup;" keep "keep-loops;" hoist   \
  "hoist-common-insts;" hoist                                                  \
  "sink-common-insts;speculate-blocks;simplify-cond-branch;" unpredictable     \
  "speculate-unpredictables>"
#define SINTER_TIDY_CFG SINTER_SIMPLIFY_CFG("no-", "", "no-", "", "no-", "no-")
#define SINTER_COMBINE                                                         \
  "instcombine<max-iterations=1;no-use-loop-info;no-verify-fixpoint>"

static constexpr const char canonicalForm[] =
    "annotation2metadata,forceattrs,inferattrs,"
    "function<eager-inv>(lower-expect," SINTER_SIMPLIFY_CFG(
        "no-", "no-", "no-", "", "no-",
        "no-") ",sroa<modify-cfg>,early-cse<>),"
               "globalopt,"
               "function<eager-inv>(mem2reg," SINTER_COMBINE "," SINTER_TIDY_CFG
               "),always-inline,require<globals-aa>,function(invalidate<aa>),"
               "require<profile-summary>";

#define SINTER_SIMPLIFICATION(indvars)                                         \
  "cgscc(devirt<4>(inline,"                                                    \
  "function-attrs<skip-non-recursive-function-attrs>,"                         \
  "function<eager-inv;no-rerun>(sroa<modify-cfg>,early-cse<memssa>,"           \
  "speculative-execution<only-if-divergent-target>,"                           \
  "jump-threading," SINTER_TIDY_CFG                                            \
  ",aggressive-instcombine,libcalls-shrinkwrap,tailcallelim," SINTER_TIDY_CFG  \
  ",reassociate,"                                                              \
  "early-cse,loop-mssa(loop-instsimplify,loop-simplifycfg,licm<no-"            \
  "allowspeculation>,"                                                         \
  "loop-rotate<header-duplication;no-prepare-for-lto>,"                        \
  "licm<allowspeculation>,"                                                    \
  "simple-loop-unswitch<no-nontrivial;trivial>)," SINTER_TIDY_CFG              \
  ",loop(loop-idiom," indvars "simple-loop-unswitch<no-nontrivial;trivial>,"   \
  "loop-deletion),"                                                            \
  "sroa<modify-cfg>,vector-combine,mldst-motion<no-split-footer-bb>,"          \
  "bdce,jump-threading,adce,memcpyopt,dse,move-auto-init,"                     \
  "early-cse,loop-mssa(licm<allowspeculation>)," SINTER_SIMPLIFY_CFG(          \
      "no-", "", "no-", "", "",                                                \
      "no-") "),function-attrs,"                                               \
             "function(require<should-not-run-function-passes>))),"            \
             "deadargelim,globalopt,globaldce,rpo-function-attrs,recompute-"   \
             "globalsaa"

static constexpr const char simplification[] =
    SINTER_SIMPLIFICATION("indvars,"),
                            simplificationOfTiles[] = SINTER_SIMPLIFICATION("");

static constexpr const char vectorisation[] =
    "function<eager-inv>(float2int,lower-constant-intrinsics,"
    "widen-half-operations,"
    "loop(loop-rotate<header-duplication;no-prepare-for-lto>,loop-deletion),"
    "loop-distribute,inject-tli-mappings,vectorize-half-loops,"
    "loop-vectorize<no-interleave-forced-only;no-vectorize-forced-only;>,"
    "infer-alignment," SINTER_COMBINE "," SINTER_SIMPLIFY_CFG(
        "", "", "", "no-", "",
        "no-") ",vector-combine,transform-warning,sroa<preserve-cfg>,"
               "infer-alignment,early-cse,loop-mssa(licm<allowspeculation>),"
               "alignment-"
               "from-assumptions,"
               "loop-sink,instsimplify,div-rem-pairs,"
               "tailcallelim," SINTER_SIMPLIFY_CFG(
                   "no-", "", "no-", "", "no-",
                   "") "),function(widen-half-operations,tell-loop-counts),"
                       "globaldce,constmerge,cg-profile,"
                       "rel-lookup-table-converter";

// Subroutines are loops over vectors without calls to inline or memory to
// promote: fold the generated code, rotate loops and hoist invariants.
static constexpr const char ofSubroutines[] =
    "function<eager-inv>(early-cse<>," SINTER_TIDY_CFG "," SINTER_COMBINE
    ",early-cse,loop-mssa(licm<no-allowspeculation>,"
    "loop-rotate<header-duplication;no-prepare-for-lto>,"
    "licm<allowspeculation>),early-cse," SINTER_COMBINE
    ",loop-mssa(licm<allowspeculation>)," SINTER_SIMPLIFY_CFG(
        "no-", "", "no-", "", "no-", "") "),function(tell-loop-counts)";

/// The passes for kernels of kind \p kind.
static std::vector<const char *> passesOf(cpu::CodeKind kind) {
  switch (kind) {
  case cpu::CodeKind::Loops:
    return {canonicalForm, simplification, vectorisation};
  case cpu::CodeKind::Tiles:
    return {canonicalForm, simplificationOfTiles, vectorisation};
  }
  llvm_unreachable("a kind of code");
}

static bool isSubroutine(const llvm::Function &function) {
  return function.hasFnAttribute(cpu::subroutineAttribute);
}

/// Whether \p unit, the IR unit of a pass, is (in) a subroutine; none for
/// modules.
static std::optional<bool> isSubroutine(llvm::Any unit) {
  if (const auto *function = llvm::any_cast<const llvm::Function *>(&unit))
    return isSubroutine(**function);
  if (const auto *loop = llvm::any_cast<const llvm::Loop *>(&unit))
    return isSubroutine(*(*loop)->getHeader()->getParent());
  if (const auto *component =
          llvm::any_cast<const llvm::LazyCallGraph::SCC *>(&unit))
    return llvm::all_of(**component, [](const auto &node) {
      return isSubroutine(node.getFunction());
    });
  return std::nullopt;
}

Result<void> cpu::optimize(llvm::Module &module, llvm::TargetMachine &machine,
                           const Target &target, CodeKind kind) {
  bool wantsSubroutines = false;
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback(
      [&wantsSubroutines](llvm::StringRef, llvm::Any unit) {
        return isSubroutine(std::move(unit)).value_or(wantsSubroutines) ==
               wantsSubroutines;
      });
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, llvm::PipelineTuningOptions(),
                            std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.registerPipelineParsingCallback(
      [&target](llvm::StringRef name, llvm::FunctionPassManager &passes,
                llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
        if (name == "widen-half-operations")
          passes.addPass(WidenHalfOperations());
        else if (name == "vectorize-half-loops")
          passes.addPass(VectorizeHalfLoops(target.f32Lanes, target.convertsF16,
                                            target.convertsBF16));
        else if (name == "tell-loop-counts")
          passes.addPass(TellLoopCounts());
        else
          return false;
        return true;
      });
  const auto run = [&](const std::vector<const char *> &parts) -> Result<void> {
    llvm::ModulePassManager passes;
    for (const char *part : parts)
      if (llvm::Error unknown = builder.parsePassPipeline(passes, part))
        return systemError("LLVM's optimiser: " +
                           llvm::toString(std::move(unknown)));
    passes.run(module, modules);
    return {};
  };
  const auto defined = llvm::make_filter_range(
      module, [](const llvm::Function &each) { return !each.isDeclaration(); });
  const auto isOne = [](const llvm::Function &each) {
    return isSubroutine(each);
  };
  if (llvm::any_of(defined, isOne)) {
    wantsSubroutines = true;
    if (Result<void> done = run({ofSubroutines}); !done)
      return done;
    wantsSubroutines = false;
  }
  return llvm::all_of(defined, isOne) ? Result<void>() : run(passesOf(kind));
}
