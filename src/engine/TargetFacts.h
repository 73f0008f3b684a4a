//===- TargetFacts.h - what is known of a CPU to compile for --------------===//

#ifndef SINTER_ENGINE_TARGETFACTS_H
#define SINTER_ENGINE_TARGETFACTS_H

#include <cstdint>
#include <string>
#include <vector>

namespace sinter {

/// A CPU that Compiler::targets() lists.
struct TargetFacts {
  std::string triple;
  /// LLVM's name; empty: any of the target.
  std::string cpu;
  /// Instruction sets, by LLVM's names.
  std::vector<std::string> features;
  int64_t pointerBits = 64;
  /// Whether it computes floats itself, and fuses multiplications with
  /// additions.
  bool hasFpu = true, fuses = false;
  /// Of a vector register, and how many of them; 0 without vectors.
  int64_t vectorBits = 0, vectorRegisters = 0;
  /// The types whose matmuls kernels have instructions for: "int8", "bf16".
  std::vector<std::string> lowPrecision;
  /// AMX: matmuls of int8 and of bf16 by tiles.
  bool hasMatrixUnits = false;
  /// What blocks of kernels fit: caches, or memory that is near.
  int64_t l1Bytes = 0, l2Bytes = 0;
};

/// What is changed of a target.
struct TargetChanges {
  /// Sizes of caches; 0: those that are known.
  int64_t l1Bytes = 0, l2Bytes = 0;
  /// Whether small code is better than fast code.
  bool isSmall = false;
};

} // namespace sinter

#endif // SINTER_ENGINE_TARGETFACTS_H
