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

namespace sinter::cpu {

class KernelBuilder : public IndexBuilder {
public:
  KernelBuilder(mlir::OpBuilder &builder, mlir::Location location);

  /// Whether the module is for a machine with AVX-512, whose instructions on 16
  /// elements of f32 may then be called by name.
  const bool hasAvx512;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_KERNELBUILDER_H
