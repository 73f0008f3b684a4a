//===- KnownCpus.cpp - targets and CPUs of which more is known ------------===//

#include "backend/cpu/target/KnownCpus.h"

#include "backend/cpu/target/Target.h"

#include "llvm/TargetParser/Triple.h"

using namespace sinter::cpu;

static constexpr int64_t operator""_KiB(unsigned long long count) {
  return int64_t(count) << 10;
}

// The sizes are those of the makers' manuals; where a maker leaves them open,
// what most chips have. Those of x86 are what the cost model was fitted with.
static constexpr KnownCpu rows[] = {
    {"x86_64-linux-gnu", "", 32_KiB, 512_KiB},
    {"x86_64-linux-gnu", "x86-64", 32_KiB, 512_KiB},
    {"x86_64-linux-gnu", "x86-64-v2", 32_KiB, 512_KiB},
    {"x86_64-linux-gnu", "x86-64-v3", 32_KiB, 512_KiB},
    {"x86_64-linux-gnu", "x86-64-v4", 32_KiB, 512_KiB},
    {"x86_64-linux-gnu", "haswell", 32_KiB, 512_KiB},
    {"x86_64-linux-gnu", "skylake", 32_KiB, 512_KiB},
    {"x86_64-linux-gnu", "skylake-avx512", 32_KiB, 512_KiB},
    {"x86_64-linux-gnu", "cascadelake", 32_KiB, 512_KiB},
    {"x86_64-linux-gnu", "icelake-server", 32_KiB, 512_KiB},
    {"x86_64-linux-gnu", "alderlake", 32_KiB, 512_KiB},
    {"x86_64-linux-gnu", "sapphirerapids", 32_KiB, 512_KiB},
    {"x86_64-linux-gnu", "graniterapids", 32_KiB, 512_KiB},
    {"x86_64-linux-gnu", "znver1", 32_KiB, 512_KiB},
    {"x86_64-linux-gnu", "znver2", 32_KiB, 512_KiB},
    {"x86_64-linux-gnu", "znver3", 32_KiB, 512_KiB},
    {"x86_64-linux-gnu", "znver4", 32_KiB, 512_KiB},
    {"aarch64-linux-gnu", "", 32_KiB, 512_KiB},
    {"aarch64-linux-gnu", "cortex-a53", 32_KiB, 512_KiB},
    {"aarch64-linux-gnu", "cortex-a55", 32_KiB, 128_KiB},
    {"aarch64-linux-gnu", "cortex-a72", 32_KiB, 1024_KiB},
    {"aarch64-linux-gnu", "cortex-a76", 64_KiB, 512_KiB},
    {"aarch64-linux-gnu", "neoverse-n1", 64_KiB, 1024_KiB},
    {"aarch64-linux-gnu", "neoverse-v1", 64_KiB, 1024_KiB},
    {"aarch64-linux-gnu", "neoverse-n2", 64_KiB, 1024_KiB},
    {"aarch64-linux-gnu", "neoverse-v2", 64_KiB, 2048_KiB},
    {"armv7-linux-gnueabihf", "", 32_KiB, 256_KiB},
    {"armv7-linux-gnueabihf", "cortex-a7", 32_KiB, 256_KiB},
    {"armv7-linux-gnueabihf", "cortex-a8", 32_KiB, 256_KiB},
    {"armv7-linux-gnueabihf", "cortex-a9", 32_KiB, 512_KiB},
    {"armv7-linux-gnueabihf", "cortex-a15", 32_KiB, 1024_KiB},
    {"armv7-linux-gnueabihf", "cortex-a17", 32_KiB, 512_KiB},
    {"riscv64-linux-gnu", "", 32_KiB, 256_KiB},
    {"riscv64-linux-gnu", "sifive-u74", 32_KiB, 2048_KiB},
    {"riscv64-linux-gnu", "sifive-x280", 32_KiB, 512_KiB},
    {"riscv64-linux-gnu", "spacemit-x60", 32_KiB, 512_KiB},
    {"thumbv6m-none-eabi", "", 16_KiB, 64_KiB},
    {"thumbv6m-none-eabi", "cortex-m0", 16_KiB, 64_KiB},
    {"thumbv6m-none-eabi", "cortex-m0plus", 16_KiB, 64_KiB},
    {"thumbv7m-none-eabi", "", 16_KiB, 128_KiB},
    {"thumbv7m-none-eabi", "cortex-m3", 16_KiB, 128_KiB},
    {"thumbv7em-none-eabihf", "", 16_KiB, 256_KiB},
    {"thumbv7em-none-eabihf", "cortex-m4", 16_KiB, 256_KiB},
    {"thumbv7em-none-eabihf", "cortex-m7", 16_KiB, 512_KiB},
    {"thumbv8m.base-none-eabi", "", 16_KiB, 64_KiB},
    {"thumbv8m.base-none-eabi", "cortex-m23", 16_KiB, 64_KiB},
    {"thumbv8m.main-none-eabihf", "", 16_KiB, 256_KiB},
    {"thumbv8m.main-none-eabihf", "cortex-m33", 16_KiB, 256_KiB},
    {"thumbv8.1m.main-none-eabihf", "", 16_KiB, 256_KiB},
    {"thumbv8.1m.main-none-eabihf", "cortex-m55", 16_KiB, 512_KiB},
    {"thumbv8.1m.main-none-eabihf", "cortex-m85", 16_KiB, 512_KiB},
};

llvm::ArrayRef<KnownCpu> sinter::cpu::knownCpus() { return rows; }

/// Whether code of one is like code of the other: Thumb and Arm of one version
/// are.
static bool isLike(const llvm::Triple &row, const llvm::Triple &triple) {
  if (!isArm32(row) || !isArm32(triple))
    return row.getArch() == triple.getArch();
  return row.getSubArch() == triple.getSubArch() ||
         (row.getSubArch() == llvm::Triple::ARMSubArch_v7 &&
          triple.getSubArch() == llvm::Triple::NoSubArch);
}

const KnownCpu *sinter::cpu::knownCpu(const llvm::Triple &triple,
                                      llvm::StringRef cpu) {
  const KnownCpu *any = nullptr;
  for (const KnownCpu &row : rows) {
    if (!isLike(llvm::Triple(row.triple), triple))
      continue;
    if (cpu == row.cpu)
      return &row;
    if (*row.cpu == '\0')
      any = &row;
  }
  return any;
}
