#include "passes/RewriteRule.h"

#include "graph/Quantization.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Groups.h"
#include "runtime/OptionNames.h"

using namespace mlir;

namespace sinter {
namespace {

/// The state that the rules of one run share.
struct Setting {
  PatternRun &run;
  const WholeNodes whole;
  GroupTracker groups;
  /// The number of rewrites that may still be done.
  int64_t left;
  /// The labels of the last two rewrites.
  StringRef last = {}, lastButOne = {};
};

/// The rewrites that one run may do. Rules that converge need a few for each
/// operation.
int64_t mostRewrites(ModuleOp module) {
  constexpr int64_t forEach = 200, forAll = 2000;
  int64_t operations = 0;
  module->walk([&](Operation *) { ++operations; });
  return forAll + forEach * operations;
}

/// One rule as a pattern of MLIR's driver.
class RulePattern : public RewritePattern {
public:
  RulePattern(const RewriteRule &rule, Setting &setting, MLIRContext *context)
      : RewritePattern(rule.op, /*benefit=*/1, context), rule(rule),
        setting(setting), run(setting.run) {}
  /// For rules of any operation.
  struct Any {};
  RulePattern(const RewriteRule &rule, Setting &setting, MLIRContext *context,
              Any)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context), rule(rule),
        setting(setting), run(setting.run) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!setting.left || !run.mayStep() ||
        (!rule.takesApart && setting.whole.contains(op)) ||
        (rule.isForm && setting.whole.areKept() && sourceOf(op)))
      return failure();
    setting.groups.takeInserted();
    const Values values = rule.apply(op, rewriter);
    const SmallVector<Operation *> made = setting.groups.takeInserted();
    if (!standsFor(values, op) || takesPartOfNode(values, made)) {
      discard(made, rewriter);
      return failure();
    }
    keepForeignAttributes(op, values, made);
    --setting.left;
    setting.lastButOne = std::exchange(setting.last, rule.label);
    run.count(rule.label);
    if (rule.changesOperands)
      reportOperands(op, values);
    for (auto [old, by] : llvm::zip_equal(op->getResults(), values))
      if (by)
        run.replaced(rule.label, old, by);
    rewriter.replaceOp(op, values);
    run.graphIsWhole(rule.label);
    return success();
  }

private:
  static bool isOfSums(Type type) {
    constexpr unsigned widthOfSums = 32;
    quant::QuantizedType element = quantizedOf(type);
    return element && element.getStorageTypeIntegralWidth() == widthOfSums;
  }

  /// Reports replaced operands that have no other use, since they will be dead.
  /// Results, and accumulators among the operands, follow from them.
  void reportOperands(Operation *op, const Values &values) const {
    Operation *by = values.front().getDefiningOp();
    if (!by || by->getNumOperands() != op->getNumOperands())
      return;
    for (auto [old, now] : llvm::zip(op->getOperands(), by->getOperands()))
      if (old != now && old.hasOneUse() && !isOfSums(old.getType()))
        run.replaced(rule.label, old, now);
    run.follows(op);
  }

  /// Whether \p values has a value of exactly the result's type for each result
  /// of \p op that has uses.
  static bool standsFor(const Values &values, Operation *op) {
    return !values.empty() && values.size() == op->getNumResults() &&
           llvm::all_of(llvm::zip_equal(values, op->getResults()),
                        [](auto pair) {
                          auto [value, result] = pair;
                          return value ? value != result &&
                                             value.getType() == result.getType()
                                       : result.use_empty();
                        });
  }

  /// Whether the rule uses or copies values inside of a source node that must
  /// stay whole.
  bool takesPartOfNode(const Values &values, ArrayRef<Operation *> made) const {
    if (rule.takesApart || !setting.whole.areKept())
      return false;
    llvm::SmallPtrSet<Operation *, 8> all(made.begin(), made.end());
    auto isInside = [&](Value value) {
      return value && setting.whole.isInside(value, all);
    };
    return llvm::any_of(values, isInside) ||
           llvm::any_of(made, [&](Operation *each) {
             return setting.whole.contains(each) ||
                    llvm::any_of(each->getOperands(), isInside);
           });
  }

  /// Erases operations of a rule that did not apply. Left to the driver as dead
  /// code they would count as a change of the graph, and the rule would be
  /// tried again for ever.
  static void discard(SmallVector<Operation *> made,
                      PatternRewriter &rewriter) {
    const llvm::SmallPtrSet<Operation *, 8> all(made.begin(), made.end());
    // They do not belong to a source node that is gone.
    for (Operation *each : made)
      removeSource(each);
    llvm::erase_if(made, [&](Operation *each) {
      return all.contains(each->getParentOp());
    });
    for (Operation *each : llvm::reverse(made))
      rewriter.eraseOp(each);
  }

  /// Copies attributes that other tools set on \p op (mhlo.sharding,
  /// mhlo.frontend_attributes) to the new operation that replaces all of it.
  static void keepForeignAttributes(Operation *op, const Values &values,
                                    ArrayRef<Operation *> made) {
    Operation *by = values.front() ? values.front().getDefiningOp() : nullptr;
    if (!by || !llvm::is_contained(made, by) ||
        isa<stablehlo::ConstantOp>(by) ||
        ValueRange(by->getResults()) != ValueRange(values))
      return;
    for (NamedAttribute note : op->getDiscardableAttrs()) {
      const StringRef name = note.getName();
      if (name.contains('.') && !name.starts_with("sinter.") &&
          !by->hasAttr(name))
        by->setAttr(name, note.getValue());
    }
  }

  RewriteRule rule;
  Setting &setting;
  PatternRun &run;
};

} // namespace

LogicalResult applyRules(ModuleOp module,
                         ArrayRef<ArrayRef<RewriteRule>> tables,
                         PatternRun &run) {
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  Setting setting{run, WholeNodes(module), {}, mostRewrites(module)};
  for (ArrayRef<RewriteRule> rules : tables)
    for (const RewriteRule &rule : rules) {
      if (!run.isEnabled(rule.label))
        continue;
      if (rule.op.empty())
        patterns.add(std::make_unique<RulePattern>(rule, setting, context,
                                                   RulePattern::Any()));
      else
        patterns.add(std::make_unique<RulePattern>(rule, setting, context));
    }
  GreedyRewriteConfig config;
  config.useTopDownTraversal = true;
  config.enableRegionSimplification = GreedySimplifyRegionLevel::Disabled;
  config.maxIterations = GreedyRewriteConfig::kNoLimit;
  config.listener = &setting.groups;
  // Convergence is a property of the rules: each makes the graph smaller or
  // closer to a canonical form. The bound is for rules that do not.
  (void)applyPatternsAndFoldGreedily(module, std::move(patterns), config);
  setting.groups.dissolve(module);
  if (setting.left)
    return success();
  return module.emitError()
         << "rewriting does not end, at last by '" << setting.lastButOne
         << "' and '" << setting.last << "'; " << optionText("disable-patterns")
         << " " << setting.last << " keeps it from that";
}

} // namespace sinter
