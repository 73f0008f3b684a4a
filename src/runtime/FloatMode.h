//===- FloatMode.h - floating-point mode of a thread ----------------------===//
//
// Operations on denormal numbers, those below 1.2e-38 for f32, take a processor
// a hundred cycles instead of less than one, and networks produce them wherever
// values decay (the tail of a sigmoid, weights that training drove to zero). By
// default kernels flush them to zero, as operands and results.
//
// A FloatMode also rounds to nearest and masks exceptions, whatever the
// thread's mode was, so that results do not depend on the caller.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_FLOATMODE_H
#define SINTER_RUNTIME_FLOATMODE_H

#include <cstdint>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace sinter {

enum class Denormals : uint8_t { Flush, Keep };

/// Sets the calling thread's mode during its lifetime, and then restores the
/// previous one: rounding, exceptions and flags.
class FloatMode {
public:
#if defined(__x86_64__)
  // Intel SDM volume 1, 10.2.3: bits 7 to 12 mask exceptions, bits 13 and 14
  // round to nearest when they are 0; 15 (FTZ) makes results that are denormal
  // zero, 6 (DAZ) operands. Conversions from and to f16, and f16 arithmetic,
  // heed neither for the f16 side.
  explicit FloatMode(Denormals denormals) : before(_mm_getcsr()) {
    _mm_setcsr(denormals == Denormals::Flush ? 0x1F80 | 0x8040 : 0x1F80);
  }
  ~FloatMode() { _mm_setcsr(before); }

private:
  uint32_t before;
#elif defined(__aarch64__)
  // Arm ARM, FPCR: bit 24 (FZ) flushes operands and results of f32 and f64; 19
  // (FZ16), which would those of f16, stays 0, as does what rounds and traps.
  explicit FloatMode(Denormals denormals) {
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("mrs %0, fpsr" : "=r"(flags));
    set(denormals == Denormals::Flush ? uint64_t(1) << 24 : 0);
  }
  ~FloatMode() {
    set(before);
    __asm__ volatile("msr fpsr, %0" ::"r"(flags));
  }

private:
  static void set(uint64_t control) {
    __asm__ volatile("msr fpcr, %0" ::"r"(control));
  }
  uint64_t before, flags;
#else
#error "FloatMode: add this architecture's way to flush denormals"
#endif

public:
  FloatMode(const FloatMode &) = delete;
  FloatMode &operator=(const FloatMode &) = delete;
};

} // namespace sinter

#endif // SINTER_RUNTIME_FLOATMODE_H
