//===- Subroutine.h - functions that many kernels share -------------------===//
//
// Large code that kernels of several layers have in common, the reduction of a
// matmul say, is a separate function, which they call:
//
//     kernel(buffers, begin, end) { ... subroutine0(a, b, sums, n) ... }
//
// In the module of a kernel it is an internal function. The compilation of many
// kernels extracts it, compiles it once for all kernels with the same text, and
// links them.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_CODEGEN_SUBROUTINE_H
#define SINTER_BACKEND_CPU_CODEGEN_SUBROUTINE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace sinter::cpu {

/// Calls, at \p builder's insertion point, a subroutine whose body \p write
/// builds from \p arguments, memrefs and indices; reuses an equal subroutine of
/// the module. The memrefs \p written share no memory with others, and others
/// are only read. The body knows nothing of named sizes.
void callSubroutine(
    mlir::OpBuilder &builder, mlir::Location location,
    mlir::ValueRange arguments, llvm::ArrayRef<mlir::Value> written,
    llvm::function_ref<void(mlir::OpBuilder &, mlir::ValueRange)> write);

/// Moves each subroutine of \p module to a module of its own, and leaves a
/// declaration.
llvm::SmallVector<mlir::OwningOpRef<mlir::ModuleOp>>
takeSubroutines(mlir::ModuleOp module);

/// Makes the subroutine in \p module public under the name \p name.
void nameSubroutine(mlir::ModuleOp module, llvm::StringRef name);

/// Renames the functions of \p module whose names begin with \p from to begin
/// with \p name.
void rename(mlir::ModuleOp module, llvm::StringRef from, llvm::StringRef name);

/// Moves \p subroutine, the one with index \p number that was extracted from
/// \p module, back into it.
void putBack(mlir::ModuleOp module, size_t number, mlir::ModuleOp subroutine);

/// Makes the kernels of \p module call their extracted subroutines by \p names.
/// Those without a name have been put back.
void callByNames(mlir::ModuleOp module, llvm::ArrayRef<std::string> names);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_CODEGEN_SUBROUTINE_H
