//===- Target.h - the machine that code is made for -----------------------===//
//
// What LLVM needs to know of a machine (triple, CPU, features), and what the
// kernels' generators decide by: vector width, registers, cache sizes.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_TARGET_TARGET_H
#define SINTER_BACKEND_CPU_TARGET_TARGET_H

#include "runtime/Result.h"

#include "runtime/MachineCeilings.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>

#include <string>
#include <vector>

namespace llvm {
class TargetMachine;
class Triple;
} // namespace llvm

namespace sinter::cpu {

/// What kernels of one thread reach: operations and bytes a second.
struct Rates {
  double f32 = 0, f64 = 0, i8 = 0;
  double bf16 = 0;   ///< Of vectors, by dot products; 0 without these.
  double cache = 0;  ///< Of the second level.
  double memory = 0; ///< Beyond it.
  /// Of matrix units: products of bf16 (bytes: twice as many), and bytes that
  /// their registers are loaded with; 0 where there are none.
  double tiles = 0, tileLoads = 0;

  bool operator==(const Rates &) const = default;
};

/// Whether \p triple is of 32-bit Arm, in either instruction set.
bool isArm32(const llvm::Triple &triple);

struct Target {
  std::string triple;   ///< "x86_64-unknown-linux-gnu"
  std::string cpu;      ///< LLVM's name of the CPU.
  std::string features; ///< "+avx2,-amx-tile,...", in full for the host.
  /// What the code may use, of the names that runtime/CpuFeatures.h knows: what
  /// the CPU's name implies and what the features add.
  std::vector<std::string> instructionSets;

  int64_t pointerBits = 64;
  bool isSmall = false;   ///< Small code is better than fast code.
  bool hasFloats = true;  ///< An FPU; functions compute floats otherwise.
  bool hasVectors = true; ///< Groups of scalars stand for them otherwise.
  /// Whether vectors of floats make zeros of denormals in every mode (NEON of
  /// 32-bit Arm).
  bool flushesAlways = false;
  int64_t f32Lanes = 4;             ///< f32 elements of one vector register.
  int64_t vectorRegisters = 16;     ///< Architectural vector registers.
  bool hasAvx512 = false;           ///< Its F, VL, BW and DQ.
  bool hasFma = false;              ///< Fused multiply-add is one instruction.
  int64_t multiplyAdds = 2;         ///< Of vectors, a cycle.
  bool dividesSlowly = false;       ///< 16 f32 take a dozen cycles or more.
  bool hasTableOf16 = false;        ///< 16 f32 chosen by 16 indices (vpermps).
  bool hasVnni = false;             ///< 8-bit dot products (vpdpbusd).
  bool hasPairSum = false;          ///< Sums of two 16-bit products (pmaddwd).
  bool hasSignedDotProduct = false; ///< 8-bit dot products of Arm (sdot).
  bool hasLongPairSum = false;      ///< 8-bit products of 16 bits (smull).
  bool hasByteMatrices = false;     ///< Of 2x8 by 8x2 bytes of Arm (smmla).
  bool hasBF16Matrices = false;     ///< Of 2x4 by 4x2 bf16 of Arm (bfmmla).
  bool convertsF16 = false;         ///< Vectors of f16 from and to f32.
  bool convertsBF16 = false;        ///< Vectors of f32 rounded to bf16.
  bool hasBF16Dot = false;          ///< Of two bf16 into f32 (vdpbf16ps).
  bool permutesBytes = false;       ///< 64 of 128 bytes (vpermi2b).
  /// Tiles, and products of bf16 and of bytes in them (AMX).
  bool hasMatrixUnits = false;
  int64_t shuffledBytes = 0;   ///< From 16 each, at once (pshufb).
  int64_t l1Bytes = 32 << 10;  ///< Data cache of one core.
  int64_t l2Bytes = 512 << 10; ///< Second-level cache of one core.

  /// Typical of such machines, until setRates.
  Rates rates;

  int64_t vectorBytes() const { return f32Lanes * 4; }
  /// Whether a load of some lanes, of so many bits each, is an instruction.
  bool masksLoads(int64_t bits) const {
    return hasAvx512 || (f32Lanes == 8 && bits >= 32);
  }

  /// Sets the rates from what was measured on the machine; what was not stays.
  void setRates(const MachineCeilings &measured);

  /// The machine we run on, its matrix units included where the operating
  /// system lets this process use them. \p features, as in "-amx-tile,+gfni",
  /// are added or left out; fails with a usage error if LLVM knows no such
  /// feature.
  static Result<Target> host(llvm::StringRef features = "");

  /// The machine that \p triple, \p cpu and \p features name. Each may be
  /// empty: the host's triple, a generic CPU, no features beyond the CPU's.
  /// Matrix units are there if the CPU has them: whether a program may use them
  /// is found where it is loaded. Fails with a usage error if LLVM knows no
  /// such machine or feature.
  static Result<Target> named(const std::string &triple, std::string cpu,
                              std::string features);

  /// The CPUs of \p triple, by LLVM's names. Usage error if LLVM does not know
  /// that.
  static Result<std::vector<std::string>> cpusOf(const std::string &triple);

  /// A new LLVM target machine: small code model, and, except on Arm without an
  /// operating system, position-independent code.
  Result<std::unique_ptr<llvm::TargetMachine>> createMachine() const;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_TARGET_TARGET_H
