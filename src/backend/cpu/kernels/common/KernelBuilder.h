//===- KernelBuilder.h - builds the code of a kernel ----------------------===//
//
// An IndexBuilder with the target's features, for element-wise code of any
// operation.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_COMMON_KERNELBUILDER_H
#define SINTER_BACKEND_CPU_KERNELS_COMMON_KERNELBUILDER_H

#include "backend/cpu/kernels/common/IndexBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"

namespace sinter::cpu {

struct Target;

/// Records the target's features in a module, before kernels are built in it.
void tellMachine(mlir::ModuleOp module, const Target &target);

/// The width in bits of `index` on the target of \p module.
unsigned indexBitsOf(mlir::ModuleOp module);

class KernelBuilder : public IndexBuilder {
public:
  KernelBuilder(mlir::OpBuilder &builder, mlir::Location location);

  /// Whether the target has AVX-512, so that its intrinsics on 16 f32 can be
  /// used.
  const bool hasAvx512;
  /// Whether a * b + c is one instruction.
  const bool hasFma;
  /// Whether a vector division takes as long as a dozen multiplications.
  const bool dividesSlowly;
  /// Whether one instruction selects 64 bytes from 128 (vpermi2b).
  const bool permutesBytes;
  /// The bytes that one instruction selects from 16 (pshufb); 0 without one.
  const int64_t shuffledBytes;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_COMMON_KERNELBUILDER_H
