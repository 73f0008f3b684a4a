//===- FloatModeCode.cpp - sets the float mode of a thread, as code -------===//

#include "backend/cpu/ahead/FloatModeCode.h"

#include "backend/cpu/ahead/EntryAlloca.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsAArch64.h"
#include "llvm/IR/IntrinsicsARM.h"
#include "llvm/IR/IntrinsicsX86.h"

using namespace sinter;
using namespace sinter::cpu;

FloatModeCode::Register FloatModeCode::registerOf(const llvm::Triple &triple,
                                                  bool hasFloats) {
  if (!hasFloats)
    return Register::None;
  return triple.isX86()       ? Register::Mxcsr
         : triple.isAArch64() ? Register::Fpcr
         : triple.isRISCV()   ? Register::Fcsr
                              : Register::Fpscr;
}

bool FloatModeCode::knows(const llvm::Triple &triple) {
  switch (triple.getArch()) {
  case llvm::Triple::x86_64:
  case llvm::Triple::aarch64:
  case llvm::Triple::arm:
  case llvm::Triple::thumb:
  case llvm::Triple::riscv64:
    return true;
  default:
    return false;
  }
}

/// RISC-V's `fscsr`: exchanges the register's contents.
static llvm::Value *exchangeFcsr(llvm::IRBuilder<> &builder,
                                 llvm::Value *contents) {
  llvm::Type *type = contents->getType();
  return builder.CreateCall(
      llvm::InlineAsm::get(llvm::FunctionType::get(type, {type}, false),
                           "fscsr $0, $1", "=r,r", /*hasSideEffects=*/true),
      {contents});
}

FloatModeCode::FloatModeCode(llvm::IRBuilder<> &builder,
                             const llvm::Triple &triple, bool hasFloats,
                             Denormals denormals)
    : where(registerOf(triple, hasFloats)),
      flushes(denormals == Denormals::Flush) {
  llvm::Type *i32 = builder.getInt32Ty(), *i64 = builder.getInt64Ty();
  switch (where) {
  case Register::None:
    return;
  case Register::Mxcsr:
    before = allocaInEntry(builder, i32, "mode");
    wanted = allocaInEntry(builder, i32, "kernels.mode");
    builder.CreateIntrinsic(builder.getVoidTy(),
                            llvm::Intrinsic::x86_sse_stmxcsr, {before});
    break;
  case Register::Fpcr:
    before =
        builder.CreateIntrinsic(i64, llvm::Intrinsic::aarch64_get_fpcr, {});
    flags = builder.CreateIntrinsic(i64, llvm::Intrinsic::aarch64_get_fpsr, {});
    break;
  case Register::Fpscr:
    before = builder.CreateIntrinsic(i32, llvm::Intrinsic::arm_get_fpscr, {});
    // Of Armv8.1-M: LTPSIZE, without which its loops fault.
    wanted = builder.CreateOr(
        builder.CreateAnd(before,
                          triple.getSubArch() ==
                                  llvm::Triple::ARMSubArch_v8_1m_mainline
                              ? 7u << 16
                              : 0),
        flushes ? 1u << 24 : 0);
    break;
  case Register::Fcsr:
    before = exchangeFcsr(builder, llvm::ConstantInt::get(i64, 0));
    return;
  }
  set(builder);
}

// The bits of MXCSR and FPCR are those of runtime/FloatMode.h; FPSCR has FPCR's
// at the same places.
void FloatModeCode::set(llvm::IRBuilder<> &builder) const {
  llvm::Type *none = builder.getVoidTy();
  const uint64_t flushBit = flushes ? uint64_t(1) << 24 : 0;
  switch (where) {
  case Register::None:
    return;
  case Register::Mxcsr:
    builder.CreateStore(builder.getInt32(flushes ? 0x1F80 | 0x8040 : 0x1F80),
                        wanted);
    builder.CreateIntrinsic(none, llvm::Intrinsic::x86_sse_ldmxcsr, {wanted});
    return;
  case Register::Fpcr:
    builder.CreateIntrinsic(none, llvm::Intrinsic::aarch64_set_fpcr,
                            {builder.getInt64(flushBit)});
    return;
  case Register::Fpscr:
    builder.CreateIntrinsic(none, llvm::Intrinsic::arm_set_fpscr, {wanted});
    return;
  case Register::Fcsr:
    exchangeFcsr(builder, builder.getInt64(0));
    return;
  }
}

void FloatModeCode::restore(llvm::IRBuilder<> &builder) const {
  llvm::Type *none = builder.getVoidTy();
  switch (where) {
  case Register::None:
    return;
  case Register::Mxcsr:
    builder.CreateIntrinsic(none, llvm::Intrinsic::x86_sse_ldmxcsr, {before});
    return;
  case Register::Fpcr:
    builder.CreateIntrinsic(none, llvm::Intrinsic::aarch64_set_fpcr, {before});
    builder.CreateIntrinsic(none, llvm::Intrinsic::aarch64_set_fpsr, {flags});
    return;
  case Register::Fpscr:
    builder.CreateIntrinsic(none, llvm::Intrinsic::arm_set_fpscr, {before});
    return;
  case Register::Fcsr:
    exchangeFcsr(builder, before);
    return;
  }
}
