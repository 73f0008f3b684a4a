//===- Codegen.h - from kernels in MLIR to object code --------------------===//
//
// A module of `func.func` kernels in the func, scf, cf, arith, math, index,
// vector, memref, affine, complex, ub and LLVM dialects becomes one relocatable
// object file in memory, for any machine that LLVM knows.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_CODEGEN_CODEGEN_H
#define SINTER_BACKEND_CPU_CODEGEN_CODEGEN_H

#include "backend/cpu/target/CodeFormat.h"
#include "backend/cpu/target/Target.h"
#include "runtime/CompileStage.h"
#include "runtime/Result.h"

#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
class ModuleOp;
} // namespace mlir

namespace sinter::cpu {

/// Texts of the stages, each filled only where the pointer is set.
struct CodegenDumps {
  std::string *mlir = nullptr;     ///< The module as it came in.
  std::string *llvmIr = nullptr;   ///< After LLVM's optimiser.
  std::string *assembly = nullptr; ///< For the target's assembler.
};

/// An object file, or bitcode (CodeFormat).
using ObjectFile = std::vector<char>;

/// Adds every dialect that kernels may use, and the translations to LLVM IR. A
/// context whose modules are compiled must have been made with these.
void registerCodegenDialects(mlir::DialectRegistry &registry);

/// Compiles \p module, which is lowered in place, and returns the object file.
/// Functions with bodies and public visibility become its symbols; memref
/// arguments become plain pointers. Modules of different contexts can be
/// compiled at the same time. Fails with a System error that carries MLIR's
/// diagnostics if something cannot be lowered.
///
/// \p matrixFeatures receives the AMX features that the code uses ("amx-tile",
/// ...), only by calls of LLVM's tile intrinsics; code without them is compiled
/// as for a target without AMX. \p stages is called back for "lower",
/// "translate", "optimise" and "assemble". With CodeFormat::Bitcode the result
/// is the optimised module.
///
/// Where each stage is verified (graph/Verification.h), MLIR's verifier runs
/// before the first and after each lowering pass, and LLVM's before and after
/// its optimiser and between the code generator's passes. Any failure is an
/// error.
Result<ObjectFile> compile(mlir::ModuleOp module, const Target &target,
                           const CodegenDumps &dumps = {},
                           std::vector<std::string> *matrixFeatures = nullptr,
                           CompileStages *stages = nullptr,
                           CodeFormat format = CodeFormat::Object);

/// The first half of compile: rewrites \p module into the LLVM dialect.
Result<void> lowerToLLVM(mlir::ModuleOp module, const Target &target);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_CODEGEN_CODEGEN_H
