//===- WideSum.h - narrow floats accumulated in f32 -----------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_WIDESUM_H
#define SINTER_BACKEND_CPU_EMIT_WIDESUM_H

#include "backend/cpu/emit/Elemental.h"

namespace sinter::cpu {

/// The operation of \p body, of a reduce, if its values, floats narrower than
/// f32, are kept in f32 from element to element and rounded once: sums and
/// products because the language says so (stablehlo::carriedInF32), min and max
/// because they are the same and f32 has instructions for them.
std::optional<llvm::StringRef> wideOperation(mlir::Region &body);
/// Likewise that of a reduce_window.
std::optional<llvm::StringRef> wideOperation(stablehlo::ReduceWindowOp op);

/// \p operation, one that wideOperation gives, of f32.
mlir::Value emitWide(KernelBuilder &code, llvm::StringRef operation,
                     mlir::Value a, mlir::Value b, bool reassociate = false);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_WIDESUM_H
