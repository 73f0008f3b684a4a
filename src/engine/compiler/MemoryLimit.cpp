//===- MemoryLimit.cpp - recomputes values within a memory limit ----------===//

#include "engine/compiler/MemoryLimit.h"

#include "autodiff/Recompute.h"
#include "engine/compiler/MlirCompiler.h"
#include "graph/ArithmeticCount.h"
#include "runtime/OptionNames.h"
#include "runtime/ProgramMemory.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace sinter {

static Operation *lossOf(const Model &step) {
  return step.entry().front().getTerminator()->getOperand(0).getDefiningOp();
}

static std::string megabytes(uint64_t bytes) {
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format("%.1f MB", static_cast<double>(bytes) / 1e6);
  return text;
}

namespace {

/// A plan applied to the graph, and the memory of its program.
struct Candidate {
  Model step;
  double operations = 0;
  uint64_t peak = 0;
};

} // namespace

static Result<Candidate> carryOut(const Model &step,
                                  const autodiff::RecomputePlan &plan,
                                  const CompileRequest &how) {
  Model copy = step.clone();
  const double operations =
      autodiff::recompute(copy.entry(), lossOf(copy), plan);
  Result<Program> planned = planModel(copy.clone(), {}, how);
  if (!planned)
    return planned.takeError();
  return Candidate{std::move(copy), operations, memoryOf(*planned).peak()};
}

Result<Model>
withinMemory(const Model &step, uint64_t limit, const CompileRequest &how,
             const std::function<void(const std::string &)> &note) {
  using autodiff::RecomputeEstimate;
  // An estimate of the memory, by the values of the graph; most plans far from
  // the limit need not be applied.
  constexpr double margin = 1.5;
  constexpr size_t lastTried = 4;
  const std::vector<RecomputeEstimate> plans =
      autodiff::recomputePlans(step.entry(), lossOf(step));
  double ratio = 0;
  uint64_t whole = 0;
  std::optional<uint64_t> least;
  for (auto [number, plan] : llvm::enumerate(plans)) {
    if (number != 0 && number + lastTried < plans.size() &&
        plan.peakBytes * ratio > margin * static_cast<double>(limit))
      continue;
    Result<Candidate> tried = carryOut(step, plan.plan, how);
    if (!tried)
      return tried.takeError();
    if (number == 0) {
      whole = tried->peak;
      ratio = static_cast<double>(whole) / std::max(plan.peakBytes, 1.0);
    }
    least = std::min(least.value_or(tried->peak), tried->peak);
    if (tried->peak > limit)
      continue;
    if (note && number != 0) {
      double all = 0;
      for (Operation &op : tried->step.entry().front())
        all += arithmeticCount(op);
      std::string share;
      llvm::raw_string_ostream(share) << llvm::format(
          "%.0f %%",
          100 * tried->operations / std::max(all - tried->operations, 1.0));
      note("a step needs " + megabytes(tried->peak) + " at its peak, not " +
           megabytes(whole) + ", and does " + share +
           " of its arithmetic again");
    }
    return std::move(tried->step);
  }
  return withHint("a smaller batch needs less",
                  usageError(optionText("memory-limit") +
                             ": a step needs at least " +
                             megabytes(least.value_or(0)) +
                             ", which is more than " + megabytes(limit)));
}

} // namespace sinter
