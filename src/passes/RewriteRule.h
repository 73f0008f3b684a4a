//===- RewriteRule.h - rewrites as tables, and their driver ---------------===//
//
// A rule looks at one operation and returns values that may replace its
// results. The driver applies the rules of its tables until none matches. It
// folds nothing on its own: all rewriting has a label.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_REWRITERULE_H
#define SINTER_PASSES_REWRITERULE_H

#include "graph/Values.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/PatternLabels.h"

namespace sinter {

struct Identity;

/// How an operation may be rewritten.
struct RewriteRule {
  llvm::StringRef label;
  llvm::StringRef picture;
  /// The operation's name; "" for any operation.
  llvm::StringRef op;
  /// Returns the replacements of the results: one value for each, of exactly
  /// its type; anything else, or nothing, if the rule does not apply. Builds
  /// operations only if it succeeds. Values for results without uses may be
  /// null.
  std::function<Values(mlir::Operation *op, mlir::OpBuilder &builder)> apply;
  /// A set of Allowance.
  unsigned needs = exact;
  /// See PatternInfo.
  bool isForm = false;
  /// The identity that it was made from, if it is written as algebra; lives as
  /// long as the program.
  const Identity *identity = nullptr;
  /// Whether it may split source nodes that should stay whole (Groups.h): an
  /// exporter makes such nodes from the rule's results.
  bool takesApart = false;
  /// Whether the rule's allowance changes operands, and results follow from
  /// them: the new operation's operands replace the old one's at the same
  /// indices.
  bool changesOperands = false;
};

/// `rule<Op, function>(label, picture, needs)`, where the function takes (Op,
/// OpBuilder &) and returns Values, or the one Value.
template <typename Op, auto function>
RewriteRule rule(llvm::StringLiteral label, llvm::StringLiteral picture,
                 unsigned needs = exact) {
  llvm::StringRef name;
  if constexpr (!std::is_same_v<Op, mlir::Operation *>)
    name = Op::getOperationName();
  return {label, picture, name,
          [](mlir::Operation *op, mlir::OpBuilder &builder) -> Values {
            auto call = [&] {
              if constexpr (std::is_same_v<Op, mlir::Operation *>)
                return function(op, builder);
              else
                return function(mlir::cast<Op>(op), builder);
            };
            if constexpr (std::is_same_v<decltype(call()), mlir::Value>) {
              mlir::Value value = op->getNumResults() == 1 ? call() : nullptr;
              return value ? Values{value} : Values{};
            } else {
              return call();
            }
          },
          needs};
}

/// \p rule as one that only brings an operation into a common form.
inline RewriteRule form(RewriteRule rule) {
  rule.isForm = true;
  return rule;
}

/// \p rule as one that may split nodes that should stay whole.
inline RewriteRule takingApart(RewriteRule rule) {
  rule.takesApart = true;
  return rule;
}

/// \p rule as one that changes operands.
inline RewriteRule changingOperands(RewriteRule rule) {
  rule.changesOperands = true;
  return rule;
}

/// Applies the enabled ones of \p rules in \p module to a fixpoint, counting in
/// \p run. Operations of one source node lose their mark when some of them are
/// gone (see Groups.h). Fails, with a valid graph, where rules undo each other
/// without end.
mlir::LogicalResult
applyRules(mlir::ModuleOp module,
           llvm::ArrayRef<llvm::ArrayRef<RewriteRule>> rules, PatternRun &run);

} // namespace sinter

#endif // SINTER_PASSES_REWRITERULE_H
