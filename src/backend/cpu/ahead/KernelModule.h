//===- KernelModule.h - all kernels of a program in one LLVM module -------===//

#ifndef SINTER_BACKEND_CPU_AHEAD_KERNELMODULE_H
#define SINTER_BACKEND_CPU_AHEAD_KERNELMODULE_H

#include "backend/cpu/codegen/Codegen.h"
#include "llvm/ADT/ArrayRef.h"

#include <memory>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace sinter::cpu {

/// Links \p kernels, bitcode of compile() for one target, to a module. Its
/// functions and constants are internal, with names that begin with \p prefix
/// and a dot: `kernel_a1b2` is `PREFIX.kernel_a1b2`. System error on bitcode
/// that cannot be read or linked.
Result<std::unique_ptr<llvm::Module>>
joinKernels(llvm::LLVMContext &context, llvm::ArrayRef<ObjectFile> kernels,
            llvm::StringRef prefix, const Target &target);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_KERNELMODULE_H
