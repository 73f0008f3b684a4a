//===- Rules.h - rewrites as tables, and the one engine that runs them ----===//
//
// A rule looks at one operation and gives values that may stand for its
// results. The driver applies the rules of its tables until none matches. It
// folds nothing on its own: all rewriting has a label.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_RULES_H
#define SINTER_PASSES_RULES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/PatternLabels.h"

namespace sinter {

struct Identity;

/// What takes the place of an operation's results; empty where a rule does not
/// apply.
using Values = llvm::SmallVector<mlir::Value>;

/// What a rule may say of an operation.
struct Rule {
  llvm::StringRef label;
  llvm::StringRef picture;
  /// The operation's name; "" for any operation.
  llvm::StringRef op;
  /// One value for each result, of exactly its type (else the rule does not
  /// apply). Builds operations only if it succeeds. Of an operation of which
  /// some results are not read, those may be null.
  std::function<Values(mlir::Operation *op, mlir::OpBuilder &builder)> apply;
  /// A set of Allowance.
  unsigned needs = exact;
  /// See PatternInfo.
  bool isForm = false;
  /// What it was made of, where it is written as algebra; lives as long as the
  /// program.
  const Identity *identity = nullptr;
};

/// `rule<Op, function>(label, picture, needs)`, where the function takes
/// (Op, OpBuilder &) and returns Values, or the one Value.
template <typename Op, auto function>
Rule rule(llvm::StringLiteral label, llvm::StringLiteral picture,
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
inline Rule form(Rule rule) {
  rule.isForm = true;
  return rule;
}

/// Applies the enabled ones of \p rules in \p module to a fixpoint, counting in
/// \p run. Operations that came from one source node and of which some are gone
/// lose their mark (see Groups.h).
void applyRules(mlir::ModuleOp module,
                llvm::ArrayRef<llvm::ArrayRef<Rule>> rules, PatternRun &run);

} // namespace sinter

#endif // SINTER_PASSES_RULES_H
