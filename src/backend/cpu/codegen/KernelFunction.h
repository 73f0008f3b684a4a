//===- KernelFunction.h - the calling convention of kernels ---------------===//
//
// Every kernel has the signature KernelFunction of runtime/CodeImage.h:
//
//   void kernel(void *const *buffers, int64_t taskBegin, int64_t taskEnd)
//
// A kernel is a loop over independent tasks; the runtime gives each thread a
// range of them. No task reads what another one writes, so the result does not
// depend on how tasks are spread over threads.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_CODEGEN_KERNELFUNCTION_H
#define SINTER_BACKEND_CPU_CODEGEN_KERNELFUNCTION_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ValueRange.h"
#include "runtime/Program.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace sinter::cpu {

/// One of the buffers a kernel gets. LLVM is told that those that are written
/// share no memory with others; verify(Program) sees to it.
struct KernelBuffer {
  /// Static shape, identity layout.
  mlir::MemRefType type;
  bool isWritten = false;
  /// Bytes to which the address is a multiple.
  int64_t alignment = 64;
  /// How many elements there are is known when the program runs; the contract
  /// says 0 bytes.
  bool isOpen = false;
  /// What the contract says instead.
  std::optional<uint64_t> bytes = {};
  /// It is the table of named sizes (IndexBuilder::index).
  bool isSizes = false;
};

/// The least bytes of \p buffer, by its contract.
uint64_t contractBytes(const KernelBuffer &buffer);

/// Builds one task: inserts at the builder's position, which is inside the
/// loop over tasks. \p task has index type; \p buffers are memrefs in order.
using TaskBuilder =
    llvm::function_ref<void(mlir::OpBuilder &builder, mlir::Location location,
                            mlir::Value task, mlir::ValueRange buffers)>;

/// What the name of the function that does the work ends with, behind that of
/// the kernel, which calls it.
inline constexpr llvm::StringLiteral bodySuffix = ".body";

/// Adds the kernel \p name to \p module and returns what it takes for granted
/// of its buffers; its tasks are for the caller to say.
KernelContract createKernel(mlir::ModuleOp module, mlir::Location location,
                            llvm::StringRef name,
                            llvm::ArrayRef<KernelBuffer> buffers,
                            TaskBuilder buildTask);

/// Stack memory of the type \p type for the function that \p builder inserts
/// into, the same for all its tasks, 64-byte aligned. Keep it far below the
/// stack of a thread (some 100 KB).
mlir::Value createScratch(mlir::OpBuilder &builder, mlir::Location location,
                          mlir::MemRefType type);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_CODEGEN_KERNELFUNCTION_H
