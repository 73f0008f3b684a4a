//===- Rules.h - rewrites as tables, and the one engine that runs them ----===//
//
// A rule looks at one operation and gives a value that may stand for its
// result. The driver applies the rules of its tables until none matches. It
// folds nothing on its own: all rewriting has a label.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_RULES_H
#define SINTER_PASSES_RULES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/PatternLabels.h"

namespace sinter {

/// What a rule may say of an operation with one result.
struct Rule {
  llvm::StringLiteral label;
  llvm::StringLiteral picture;
  /// The operation's name.
  llvm::StringRef op;
  /// The value that takes the place of the result and has its type (else the
  /// rule does not apply), or null. Builds operations only if it succeeds.
  mlir::Value (*apply)(mlir::Operation *op, mlir::OpBuilder &builder);
  bool byDefault = true;
};

/// `rule<Op, function>(label, picture)`, where the function takes
/// (Op, OpBuilder &).
template <typename Op, mlir::Value (*function)(Op, mlir::OpBuilder &)>
Rule rule(llvm::StringLiteral label, llvm::StringLiteral picture,
          bool byDefault = true) {
  return {label, picture, Op::getOperationName(),
          [](mlir::Operation *op, mlir::OpBuilder &builder) {
            return function(mlir::cast<Op>(op), builder);
          },
          byDefault};
}

/// Applies the enabled ones of \p rules in \p module to a fixpoint, counting in
/// \p run. Operations that came from one source node and of which some are gone
/// lose their mark (see Groups.h).
void applyRules(mlir::ModuleOp module,
                llvm::ArrayRef<llvm::ArrayRef<Rule>> rules, PatternRun &run);

} // namespace sinter

#endif // SINTER_PASSES_RULES_H
