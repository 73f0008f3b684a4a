//===- KernelFunction.h - the calling convention of kernels ---------------===//
//
// Every kernel has the signature KernelFunction of runtime/CodeImage.h:
//
//   void kernel(void *const *buffers, int64_t taskBegin, int64_t taskEnd)
//
// A kernel is a loop over independent tasks; the runtime assigns a range of
// them to each thread. No task reads memory that another one writes, so the
// result does not depend on the distribution of tasks over threads.
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

/// A buffer argument of a kernel. Written buffers are noalias for LLVM;
/// verify(Program) checks that.
struct KernelBuffer {
  /// Static shape, identity layout.
  mlir::MemRefType type;
  bool isWritten = false;
  /// The alignment of the address in bytes.
  int64_t alignment = 64;
  /// Whether the element count is only known at run time; the contract then has
  /// 0 bytes.
  bool isDynamic = false;
  /// The bytes in the contract instead.
  std::optional<uint64_t> bytes = {};
  /// Whether it is the table of named sizes (IndexBuilder::index).
  bool isSizes = false;
};

/// The minimum size of \p buffer in bytes, by its contract.
uint64_t contractBytes(const KernelBuffer &buffer);

/// Builds one task at the builder's insertion point, which is inside the loop
/// over tasks. \p task has index type; \p buffers are memrefs in order.
using TaskBuilder =
    llvm::function_ref<void(mlir::OpBuilder &builder, mlir::Location location,
                            mlir::Value task, mlir::ValueRange buffers)>;

/// The name suffix of the function that does the work, which the kernel calls.
inline constexpr llvm::StringLiteral bodySuffix = ".body";

/// Adds the kernel \p name to \p module and returns the requirements on its
/// buffers; the caller adds the task count.
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
