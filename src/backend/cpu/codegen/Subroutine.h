//===- Subroutine.h - functions that kernels of many layers call ----------===//
//
// What takes much code and is the same in kernels of several layers, the
// reduction of a product say, is a function of its own, which they call:
//
//     kernel(buffers, begin, end) { ... subroutine0(a, b, sums, n) ... }
//
// In the module of a kernel that is an internal function like any other.
// Whoever compiles many kernels takes it out, compiles it once for all that
// have the same text, and links them.
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

/// Calls, where \p builder stands, a subroutine, a new one if none of the
/// module is the same, whose body \p write inserts; it gets \p arguments there,
/// memrefs and indices. Those memrefs that are \p written share no memory with
/// others, and others are only read. The body knows nothing of named sizes.
void callSubroutine(
    mlir::OpBuilder &builder, mlir::Location location,
    mlir::ValueRange arguments, llvm::ArrayRef<mlir::Value> written,
    llvm::function_ref<void(mlir::OpBuilder &, mlir::ValueRange)> write);

/// Moves the subroutines of \p module, each to a module of its own, and leaves
/// their names there.
llvm::SmallVector<mlir::OwningOpRef<mlir::ModuleOp>>
takeSubroutines(mlir::ModuleOp module);

/// Lets others call the subroutine that \p module is by that \p name.
void nameSubroutine(mlir::ModuleOp module, llvm::StringRef name);

/// Calls the functions of \p module, whose names begin with \p from, by that \p
/// name instead.
void rename(mlir::ModuleOp module, llvm::StringRef from, llvm::StringRef name);

/// Puts \p subroutine, the one of that \p number that has been taken out of \p
/// module, back into it.
void putBack(mlir::ModuleOp module, size_t number, mlir::ModuleOp subroutine);

/// Lets the kernels of \p module, whose subroutines have been taken, call them
/// by these \p names. Those without one have been put back.
void callByNames(mlir::ModuleOp module, llvm::ArrayRef<std::string> names);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_CODEGEN_SUBROUTINE_H
