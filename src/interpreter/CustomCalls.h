//===- CustomCalls.h - targets of stablehlo.custom_call -------------------===//

#ifndef SINTER_INTERPRETER_CUSTOMCALLS_H
#define SINTER_INTERPRETER_CUSTOMCALLS_H

#include "interpreter/Evaluation.h"

namespace sinter::interpreter {

/// The evaluators of stablehlo.custom_call by the name of its target. A target
/// is added in the constructor, one line each.
class CustomCalls {
public:
  static const CustomCalls &get();

  /// Null for an unknown target.
  Evaluator find(llvm::StringRef target) const {
    return evaluators.lookup(target);
  }

private:
  CustomCalls();
  llvm::StringMap<Evaluator> evaluators;
};

/// Adds the targets that are known from JAX, XLA and MHLO.
void addKnownCalls(llvm::StringMap<Evaluator> &evaluators);

/// The target that \p op calls; empty if it is no stablehlo.custom_call.
llvm::StringRef targetOf(mlir::Operation *op);

/// An operation of the dialect `check`, or a custom call of such a target. The
/// WrongResult error describes what is not as expected.
Result<Tensors> evaluateCheck(const Call &call);

} // namespace sinter::interpreter

#endif // SINTER_INTERPRETER_CUSTOMCALLS_H
