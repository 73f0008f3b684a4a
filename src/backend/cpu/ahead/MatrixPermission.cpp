//===- MatrixPermission.cpp - permission to use AMX, as code --------------===//

#include "backend/cpu/ahead/MatrixPermission.h"

#include "llvm/IR/InlineAsm.h"

using namespace sinter;
using namespace sinter::cpu;

bool cpu::needsMatrixPermission(const llvm::Triple &triple) {
  return triple.isOSLinux() && triple.isX86() && triple.isArch64Bit();
}

llvm::Value *cpu::isMatrixPermissionRefused(llvm::IRBuilder<> &builder) {
  // arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILE_DATA), as in
  // runtime/MatrixUnits.cpp, without the C library.
  constexpr uint64_t call = 158, request = 0x1023, tileData = 18;
  llvm::Type *i64 = builder.getInt64Ty();
  auto *type = llvm::FunctionType::get(i64, {i64, i64, i64}, false);
  auto *code = llvm::InlineAsm::get(
      type, "syscall",
      "={rax},{rax},{rdi},{rsi},~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{"
      "flags}",
      /*hasSideEffects=*/true);
  llvm::Value *result =
      builder.CreateCall(type, code,
                         {builder.getInt64(call), builder.getInt64(request),
                          builder.getInt64(tileData)});
  return builder.CreateIsNotNull(result);
}
