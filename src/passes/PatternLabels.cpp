#include "passes/PatternLabels.h"

#include "passes/ChannelsFirst.h"
#include "passes/EliminateCommonSubexpressions.h"
#include "passes/EliminateDeadCode.h"
#include "passes/FoldBatchNorm.h"
#include "passes/FoldConstants.h"
#include "passes/InlineCalls.h"
#include "passes/MoveAffine.h"
#include "passes/MoveAffineJointly.h"
#include "passes/MoveRescales.h"
#include "passes/OldNames.h"
#include "passes/RefineShapes.h"
#include "passes/RuleTables.h"
#include "runtime/OptionNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <list>
#include <mutex>

namespace sinter {

static std::vector<PatternInfo> collectPatterns() {
  std::vector<PatternInfo> all;
  auto add = [&](llvm::ArrayRef<PatternInfo> patterns) {
    all.insert(all.end(), patterns.begin(), patterns.end());
  };
  add(inlineCallsPatterns());
  add(refineShapesPatterns());
  add(foldConstantsPatterns());
  add(eliminateCommonSubexpressionsPatterns());
  add(eliminateDeadCodePatterns());
  add(foldBatchNormPatterns());
  add(moveAffinePatterns());
  add(moveAffineJointlyPatterns());
  add(channelsFirstPatterns());
  add(moveRescalesPatterns());
  for (const RuleTable &table : ruleTables())
    for (const RewriteRule &rule : table.rules)
      all.push_back(
          {rule.label, rule.picture, table.pass, rule.needs, rule.isForm});
  return all;
}

/// Sorts by label. One label may be of the same rewrite of several operations.
static void sortPatterns(std::vector<PatternInfo> &all) {
  auto byLabel = [](const PatternInfo &a, const PatternInfo &b) {
    return a.label < b.label;
  };
  std::stable_sort(all.begin(), all.end(), byLabel);
  auto last = std::unique(all.begin(), all.end(),
                          [](const PatternInfo &a, const PatternInfo &b) {
                            return a.label == b.label;
                          });
  all.erase(last, all.end());
}

namespace {
/// Old lists stay allocated: another thread may be reading one that is
/// replaced.
class Registered {
public:
  static Registered &get() {
    static Registered registered;
    return registered;
  }
  const std::vector<PatternInfo> &patterns() {
    std::lock_guard<std::mutex> lock(mutex);
    return lists.back();
  }
  void add(llvm::ArrayRef<PatternInfo> patterns) {
    std::lock_guard<std::mutex> lock(mutex);
    std::vector<PatternInfo> all = lists.back();
    all.insert(all.end(), patterns.begin(), patterns.end());
    sortPatterns(all);
    lists.push_back(std::move(all));
  }

private:
  Registered() {
    lists.push_back(collectPatterns());
    sortPatterns(lists.back());
  }
  std::mutex mutex;
  std::list<std::vector<PatternInfo>> lists;
};
} // namespace

const std::vector<PatternInfo> &allPatterns() {
  return Registered::get().patterns();
}

void registerPatterns(llvm::ArrayRef<PatternInfo> patterns) {
  Registered::get().add(patterns);
}

void PatternRun::replace(llvm::StringRef label, mlir::Operation *op,
                         mlir::ValueRange values) {
  count(label);
  for (auto [old, by] : llvm::zip_equal(op->getResults(), values)) {
    replaced(label, old, by);
    old.replaceAllUsesWith(by);
  }
}

static const PatternInfo *findPattern(llvm::StringRef label) {
  for (const PatternInfo &info : allPatterns())
    if (info.label == label)
      return &info;
  return nullptr;
}

unsigned needsOf(llvm::StringRef label) {
  const PatternInfo *info = findPattern(label);
  return info ? info->needs : unsigned(exact);
}

namespace {
struct NamedAllowance {
  llvm::StringLiteral name;
  Allowance allowance;
};
} // namespace

static constexpr NamedAllowance namedAllowances[] = {
    {"reassociate", reassociate}, {"contract", contract},
    {"reciprocal", reciprocal},   {"nonan", noNan},
    {"noinf", noInfinity},        {"nosignedzero", noSignedZero},
    {"requantize", requantize}};

std::vector<std::string> allowanceNames() {
  std::vector<std::string> names = {"all"};
  for (const NamedAllowance &each : namedAllowances)
    names.push_back(each.name.str());
  return names;
}

Result<unsigned> parseAllowances(const std::vector<std::string> &names) {
  unsigned set = exact;
  for (const std::string &name : names) {
    const unsigned before = set;
    for (const NamedAllowance &each : namedAllowances)
      if (name == each.name || (name == "all" && each.allowance != requantize))
        set |= each.allowance;
    bool isKnown = set != before || llvm::is_contained(allowanceNames(), name);
    if (!isKnown)
      return withHint(
          "it takes " + llvm::join(allowanceNames(), ", "),
          usageError(optionText("allow") + ": there is no '" + name + "'"));
  }
  return set;
}

std::string toString(Allowance set) {
  std::string text;
  for (const NamedAllowance &each : namedAllowances)
    if (set & each.allowance)
      text += (text.empty() ? "" : ",") + each.name.str();
  return text;
}

Result<std::shared_ptr<PatternRun>>
PatternRun::create(const std::vector<std::string> &disabled,
                   const std::vector<std::string> &enabled,
                   const std::vector<std::string> &allowed) {
  auto run = std::make_shared<PatternRun>();
  Result<unsigned> allowances = parseAllowances(allowed);
  if (!allowances)
    return allowances.takeError();
  run->allowances = *allowances;
  for (const std::string &given : disabled) {
    const llvm::StringRef label = currentName(given);
    if (label == "all") {
      run->allDisabled = true;
      continue;
    }
    if (!findPattern(label))
      return withHint(
          optionText("list-patterns") + " prints them all",
          usageError("there is no pattern '" + given + "' to disable"));
    run->disabled.insert(label);
  }
  for (const std::string &given : enabled) {
    const llvm::StringRef label = currentName(given);
    if (!findPattern(label))
      return withHint(
          optionText("list-patterns") + " prints them all",
          usageError("there is no pattern '" + given + "' to enable"));
    run->enabled.insert(label);
  }
  return run;
}

/// "conv1", or "net.mlir:3:8".
static std::string locationText(mlir::Location location) {
  if (auto named = mlir::dyn_cast<mlir::NameLoc>(location))
    return named.getName().str();
  if (auto position = mlir::dyn_cast<mlir::FileLineColLoc>(location))
    return llvm::formatv("{0}:{1}:{2}", position.getFilename().getValue(),
                         position.getLine(), position.getColumn());
  if (auto call = mlir::dyn_cast<mlir::CallSiteLoc>(location))
    return locationText(call.getCallee());
  if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(location))
    for (mlir::Location each : fused.getLocations())
      if (std::string text = locationText(each); !text.empty())
        return text;
  return "";
}

void PatternRun::noteLast(mlir::Operation *op) {
  if (stepsDone + 1 != mostSteps || !op || !last.op.empty())
    return;
  last.op = op->getName().getStringRef().str();
  last.location = locationText(op->getLoc());
}

bool PatternRun::isEnabled(llvm::StringRef label) const {
  if (disabled.contains(label))
    return false;
  if (enabled.contains(label))
    return true;
  const PatternInfo *info = findPattern(label);
  return !allDisabled && (!info || allows(info->needs));
}

} // namespace sinter
