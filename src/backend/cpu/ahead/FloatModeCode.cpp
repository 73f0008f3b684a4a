//===- FloatModeCode.cpp - sets the float mode of a thread, as code -------===//

#include "backend/cpu/ahead/FloatModeCode.h"

#include "llvm/IR/IntrinsicsAArch64.h"
#include "llvm/IR/IntrinsicsX86.h"

using namespace sinter;
using namespace sinter::cpu;

bool FloatModeCode::knows(const llvm::Triple &triple) {
  return (triple.isX86() && triple.isArch64Bit()) ||
         triple.getArch() == llvm::Triple::aarch64;
}

FloatModeCode::FloatModeCode(llvm::IRBuilder<> &builder,
                             const llvm::Triple &triple, Denormals denormals)
    : isX86(triple.isX86()), flushes(denormals == Denormals::Flush) {
  if (isX86) {
    llvm::Type *i32 = builder.getInt32Ty();
    before = builder.CreateAlloca(i32, nullptr, "mode");
    wanted = builder.CreateAlloca(i32, nullptr, "kernels.mode");
    builder.CreateIntrinsic(builder.getVoidTy(),
                            llvm::Intrinsic::x86_sse_stmxcsr, {before});
  } else {
    llvm::Type *i64 = builder.getInt64Ty();
    before =
        builder.CreateIntrinsic(i64, llvm::Intrinsic::aarch64_get_fpcr, {});
    flags = builder.CreateIntrinsic(i64, llvm::Intrinsic::aarch64_get_fpsr, {});
  }
  set(builder);
}

// The bits are those of runtime/FloatMode.h.
void FloatModeCode::set(llvm::IRBuilder<> &builder) const {
  if (isX86) {
    builder.CreateStore(builder.getInt32(flushes ? 0x1F80 | 0x8040 : 0x1F80),
                        wanted);
    builder.CreateIntrinsic(builder.getVoidTy(),
                            llvm::Intrinsic::x86_sse_ldmxcsr, {wanted});
    return;
  }
  builder.CreateIntrinsic(builder.getVoidTy(),
                          llvm::Intrinsic::aarch64_set_fpcr,
                          {builder.getInt64(flushes ? uint64_t(1) << 24 : 0)});
}

void FloatModeCode::restore(llvm::IRBuilder<> &builder) const {
  if (isX86) {
    builder.CreateIntrinsic(builder.getVoidTy(),
                            llvm::Intrinsic::x86_sse_ldmxcsr, {before});
    return;
  }
  builder.CreateIntrinsic(builder.getVoidTy(),
                          llvm::Intrinsic::aarch64_set_fpcr, {before});
  builder.CreateIntrinsic(builder.getVoidTy(),
                          llvm::Intrinsic::aarch64_set_fpsr, {flags});
}
