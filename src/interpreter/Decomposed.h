//===- Decomposed.h - operations with a decomposition ---------------------===//

#ifndef SINTER_INTERPRETER_DECOMPOSED_H
#define SINTER_INTERPRETER_DECOMPOSED_H

#include "interpreter/Evaluation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace sinter::interpreter {

/// The results of an operation that implements DecomposableOpInterface, from
/// its decomposition: for a backend's operations, which it defines. \p adapt
/// makes a copy of the operation fit operands of static sizes. Unsupported
/// where there is no decomposition.
Result<Tensors> evaluateDecomposed(
    const Call &call, llvm::function_ref<void(mlir::Operation *copy)> adapt =
                          [](mlir::Operation *) {});

} // namespace sinter::interpreter

#endif // SINTER_INTERPRETER_DECOMPOSED_H
