//===- TestKernels.h - the code of TestProgram.h --------------------------===//
//
// For one source of a program.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_TEST_RUNTIME_TESTKERNELS_H
#define SINTER_TEST_RUNTIME_TESTKERNELS_H

#if defined(__x86_64__)

// In System V's calling convention.
__asm__(R"(
  .intel_syntax noprefix
  .section .rodata
  .globl sinterTestAddOne, sinterTestIsBelowTen, sinterTestApplyExp
  .globl sinterTestExpAddress, sinterTestReadTable, sinterTestTableAddress
  .globl sinterTestReadMode, sinterTestDouble, sinterTestCodeEnd
sinterTestAddOne:
  mov rax, [rdi]
  mov rcx, [rdi + 8]
0: cmp rsi, rdx
  jge 1f
  mov r8d, [rax + rsi * 4]
  add r8d, 1
  mov [rcx + rsi * 4], r8d
  inc rsi
  jmp 0b
1: ret
sinterTestIsBelowTen:
  mov rax, [rdi]
  mov rcx, [rdi + 8]
  cmp dword ptr [rax], 10
  setl byte ptr [rcx]
  ret
sinterTestApplyExp:
  push rbx
  mov rax, [rdi]
  mov rbx, [rdi + 8]
  movss xmm0, [rax]
  movabs rax, 0
sinterTestExpAddress = . - 8
  call rax
  movss [rbx], xmm0
  pop rbx
  ret
sinterTestReadTable:
  movabs rax, 0
sinterTestTableAddress = . - 8
  mov eax, [rax]
  mov rcx, [rdi]
  mov [rcx], eax
  ret
sinterTestReadMode:
  mov rax, [rdi]
0: cmp rsi, rdx
  jge 1f
  stmxcsr [rax + rsi * 4]
  inc rsi
  jmp 0b
1: ret
sinterTestDouble:
  mov rax, [rdi]
  mov rcx, [rdi + 8]
  movss xmm0, [rax]
  addss xmm0, xmm0
  movss [rcx], xmm0
  ret
sinterTestCodeEnd:
  .att_syntax
  .text
)");

#endif // __x86_64__

#endif // SINTER_TEST_RUNTIME_TESTKERNELS_H
