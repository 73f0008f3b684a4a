//===- NarrowIndices.h - indices of 32 bits -------------------------------===//
//
//   index_cast %i : i64 to index     ->  index_cast (clamp %i) : i64 to index
//   constant 70368744177664 : index  ->  constant 2147483647 : index
//   constant dense<[0, 1]> : vector<2xindex>
//                                    ->  index_cast (dense<[0, 1]> : i32)
//
// Generators take an index for 64 bits wide. On targets with pointers of 32
// bits it has as many, as addresses have: what does not fit becomes the
// greatest or least number that does, so that a position far outside of a
// tensor stays outside.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_CODEGEN_NARROWINDICES_H
#define SINTER_BACKEND_CPU_CODEGEN_NARROWINDICES_H

#include "mlir/IR/BuiltinOps.h"

namespace sinter::cpu {

/// Prepares \p module, whose tensors all fit in 31 bits of addresses, for
/// indices of 32 bits.
void narrowIndices(mlir::ModuleOp module);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_CODEGEN_NARROWINDICES_H
