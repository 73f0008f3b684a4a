#include "passes/Rules.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Groups.h"

using namespace mlir;

namespace sinter {
namespace {

/// One rule as a pattern of MLIR's driver.
class RulePattern : public RewritePattern {
public:
  RulePattern(const Rule &rule, PatternRun &run, MLIRContext *context)
      : RewritePattern(rule.op, /*benefit=*/1, context), rule(rule), run(run) {}
  /// For rules of any operation.
  struct Any {};
  RulePattern(const Rule &rule, PatternRun &run, MLIRContext *context, Any)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context), rule(rule),
        run(run) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    Values values = rule.apply(op, rewriter);
    if (values.size() != op->getNumResults() || values.empty())
      return failure();
    for (auto [value, result] : llvm::zip_equal(values, op->getResults()))
      if (value ? value == result || value.getType() != result.getType()
                : !result.use_empty())
        return failure();
    run.count(rule.label);
    for (auto [old, by] : llvm::zip_equal(op->getResults(), values))
      if (by)
        run.replaced(rule.label, old, by);
    rewriter.replaceOp(op, values);
    run.graphIsWhole(rule.label);
    return success();
  }

private:
  Rule rule;
  PatternRun &run;
};

} // namespace

void applyRules(ModuleOp module, ArrayRef<ArrayRef<Rule>> tables,
                PatternRun &run) {
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  for (ArrayRef<Rule> rules : tables)
    for (const Rule &rule : rules) {
      if (!run.isEnabled(rule.label))
        continue;
      if (rule.op.empty())
        patterns.add(std::make_unique<RulePattern>(rule, run, context,
                                                   RulePattern::Any()));
      else
        patterns.add(std::make_unique<RulePattern>(rule, run, context));
    }
  GroupTracker groups;
  GreedyRewriteConfig config;
  config.useTopDownTraversal = true;
  config.enableRegionSimplification = GreedySimplifyRegionLevel::Disabled;
  config.maxIterations = GreedyRewriteConfig::kNoLimit;
  config.listener = &groups;
  // That it converges is a property of the rules: each makes the graph smaller
  // or brings it nearer to one form.
  (void)applyPatternsAndFoldGreedily(module, std::move(patterns), config);
  groups.dissolve(module);
}

} // namespace sinter
