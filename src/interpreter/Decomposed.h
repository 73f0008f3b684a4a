//===- Decomposed.h - operations that say what they are made of -----------===//

#ifndef SINTER_INTERPRETER_DECOMPOSED_H
#define SINTER_INTERPRETER_DECOMPOSED_H

#include "interpreter/Evaluation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace sinter::interpreter {

/// The results of an operation that implements DecomposableOpInterface, from
/// what it is made of: a backend's, which is defined by that. \p adapt makes a
/// copy of the operation fit operands of known sizes. Unsupported where it does
/// not come apart.
Result<Tensors> evaluateDecomposed(
    const Call &call, llvm::function_ref<void(mlir::Operation *copy)> adapt =
                          [](mlir::Operation *) {});

} // namespace sinter::interpreter

#endif // SINTER_INTERPRETER_DECOMPOSED_H
