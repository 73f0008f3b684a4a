//===- Emitter.h - from LLVM IR to a file ---------------------------------===//

#ifndef SINTER_BACKEND_CPU_CODEGEN_EMITTER_H
#define SINTER_BACKEND_CPU_CODEGEN_EMITTER_H

#include "backend/cpu/codegen/Optimizer.h"
#include "backend/cpu/target/Target.h"
#include "runtime/Result.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>

namespace llvm {
class Function;
class TargetMachine;
} // namespace llvm

namespace sinter::cpu {

/// A machine for code of kind \p kind: code without AMX is compiled as for a
/// target without it.
Result<std::unique_ptr<llvm::TargetMachine>> createMachine(Target target,
                                                           CodeKind kind);

/// Sets the attributes by which LLVM compiles \p function for \p target, whose
/// machine is \p machine.
void setCodeAttributes(llvm::Function &function, const Target &target,
                       const llvm::TargetMachine &machine);

/// The passes of LLVM's code generator except
/// - loop strength reduction: it takes more than half of the compile time of
///   kernels, whose addresses already are a register plus a constant;
/// - domain reassignment, which finds nothing in kernels and takes 2% of the
///   time;
/// - for AMX code, the first loop-invariant code motion: it hoists constants
///   that need a register each, of which there are not enough.
class KernelPasses : public llvm::legacy::PassManager {
public:
  explicit KernelPasses(CodeKind kind) : kind(kind) {}

  void add(llvm::Pass *pass) override;

private:
  CodeKind kind;
};

/// The code generator for one machine. Its passes can be reused for all
/// modules, as llc's -compile-twice tests. (The optimiser's passes keep state:
/// each module has its own.)
class Emitter {
public:
  /// An emitter for code of kind \p kind to files of type \p type.
  Emitter(llvm::TargetMachine &machine, CodeKind kind,
          llvm::CodeGenFileType type);

  /// Emits \p module, which changes; the file is valid until the next call.
  /// System error if the target has no such files.
  Result<llvm::ArrayRef<char>> emit(llvm::Module &module) &;

private:
  llvm::SmallVector<char, 0> output;
  llvm::raw_svector_ostream stream;
  KernelPasses passes;
  bool canEmit;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_CODEGEN_EMITTER_H
