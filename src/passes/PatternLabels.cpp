#include "passes/PatternLabels.h"

#include "passes/AlgebraRules.h"
#include "passes/EliminateCommonSubexpressions.h"
#include "passes/EliminateDeadCode.h"
#include "passes/FoldBatchNorm.h"
#include "passes/FoldConstants.h"
#include "passes/MoveTransposes.h"
#include "passes/ResolveShapes.h"
#include "llvm/ADT/STLExtras.h"

namespace sinter {

static std::vector<PatternInfo> collectPatterns() {
  std::vector<PatternInfo> all;
  auto add = [&](llvm::ArrayRef<PatternInfo> patterns) {
    all.insert(all.end(), patterns.begin(), patterns.end());
  };
  auto addRules = [&](llvm::ArrayRef<Rule> rules, llvm::StringRef pass) {
    for (const Rule &rule : rules)
      all.push_back({rule.label, rule.picture, pass, rule.byDefault});
  };
  add(foldConstantsPatterns());
  add(eliminateCommonSubexpressionsPatterns());
  add(eliminateDeadCodePatterns());
  addRules(elementwiseRules(), "simplify-algebra");
  addRules(movementRules(), "simplify-algebra");
  addRules(shapeRules(), "simplify-algebra");
  add(foldBatchNormPatterns());
  addRules(moveTransposesRules(), "move-transposes");
  // A label may stand for the same rewrite of several operations.
  auto byLabel = [](const PatternInfo &a, const PatternInfo &b) {
    return a.label < b.label;
  };
  std::stable_sort(all.begin(), all.end(), byLabel);
  auto last = std::unique(all.begin(), all.end(),
                          [](const PatternInfo &a, const PatternInfo &b) {
                            return a.label == b.label;
                          });
  all.erase(last, all.end());
  return all;
}

const std::vector<PatternInfo> &allPatterns() {
  static const std::vector<PatternInfo> all = collectPatterns();
  return all;
}

static const PatternInfo *findPattern(llvm::StringRef label) {
  for (const PatternInfo &info : allPatterns())
    if (info.label == label)
      return &info;
  return nullptr;
}

Result<std::shared_ptr<PatternRun>>
PatternRun::create(const std::vector<std::string> &disabled,
                   const std::vector<std::string> &enabled) {
  auto run = std::make_shared<PatternRun>();
  for (const std::string &label : disabled) {
    if (label == "all") {
      run->allDisabled = true;
      continue;
    }
    if (!findPattern(label))
      return usageError("there is no pattern '" + label +
                        "' to disable; --list-patterns prints them all");
    run->disabled.insert(label);
  }
  for (const std::string &label : enabled) {
    if (!findPattern(label))
      return usageError("there is no pattern '" + label +
                        "' to enable; --list-patterns prints them all");
    run->enabled.insert(label);
  }
  return run;
}

bool PatternRun::isEnabled(llvm::StringRef label) const {
  if (disabled.contains(label))
    return false;
  if (enabled.contains(label))
    return true;
  const PatternInfo *info = findPattern(label);
  return !allDisabled && (!info || info->byDefault);
}

} // namespace sinter
