//===- KernelBuilder.h - builds the code of a kernel ----------------------===//
//
// An IndexBuilder that knows the machine, for code of elements of any
// operation.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_KERNELBUILDER_H
#define SINTER_BACKEND_CPU_EMIT_KERNELBUILDER_H

#include "backend/cpu/kernels/IndexBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"

namespace sinter::cpu {

struct Target;

/// Notes in a module, before kernels are built in it, what their code may ask
/// of the machine.
void tellMachine(mlir::ModuleOp module, const Target &target);

class KernelBuilder : public IndexBuilder {
public:
  KernelBuilder(mlir::OpBuilder &builder, mlir::Location location);

  /// Whether the module is for a machine with AVX-512, whose instructions on 16
  /// elements of f32 may then be called by name.
  const bool hasAvx512;
  /// Whether a * b + c is one instruction.
  const bool hasFma;
  /// Whether a division of whole vectors takes as long as a dozen products.
  const bool dividesSlowly;
  /// Whether 64 bytes at once are chosen from 128 by one instruction.
  const bool permutesBytes;
  /// How many bytes at once are chosen from 16; 0 if none are.
  const int64_t shuffledBytes;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_KERNELBUILDER_H
