//===- FloatModeCode.h - sets the float mode of a thread, as code ---------===//
//
// What runtime/FloatMode.h does, written by a builder of LLVM IR.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_AHEAD_FLOATMODECODE_H
#define SINTER_BACKEND_CPU_AHEAD_FLOATMODECODE_H

#include "runtime/FloatMode.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/TargetParser/Triple.h"

namespace sinter::cpu {

class FloatModeCode {
public:
  /// Whether the float mode of \p triple is known here.
  static bool knows(const llvm::Triple &triple);

  /// Code that saves the mode and sets that of kernels. The builder is in the
  /// entry block of a function, for one of the targets that are known. Without
  /// an FPU (\p hasFloats) there is no mode. RISC-V keeps denormals always.
  FloatModeCode(llvm::IRBuilder<> &builder, const llvm::Triple &triple,
                bool hasFloats, Denormals denormals);

  /// Code that sets the mode of kernels again.
  void set(llvm::IRBuilder<> &builder) const;

  /// Code that restores the mode: rounding, exceptions and flags.
  void restore(llvm::IRBuilder<> &builder) const;

private:
  enum class Register { None, Mxcsr, Fpcr, Fpscr, Fcsr };
  static Register registerOf(const llvm::Triple &triple, bool hasFloats);

  Register where;
  bool flushes;
  /// The register's contents before, for MXCSR the memory that has them; those
  /// of FPSR, which is beside FPCR.
  llvm::Value *before = nullptr, *flags = nullptr;
  /// The memory of the kernels' MXCSR, or their FPSCR.
  llvm::Value *wanted = nullptr;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_FLOATMODECODE_H
