//===- ExpandBFloat16.h - bf16 where no instruction rounds to it ----------===//

#ifndef SINTER_BACKEND_CPU_CODEGEN_EXPANDBFLOAT16_H
#define SINTER_BACKEND_CPU_CODEGEN_EXPANDBFLOAT16_H

#include "mlir/IR/Operation.h"

namespace sinter::cpu {

/// Conversions between bf16 and f32 in \p root as arithmetic on bits, for
/// machines that have no instruction for them:
///
///   extf %x   ->  %x << 16
///   truncf %x ->  (%x + 0x7fff + bit 16 of %x) >> 16, and 0x7fc0 of a NaN
///
/// to nearest, ties to even. What that adds may turn a NaN into a number only
/// if it has bits in its lower half. Where %x is computed from numbers of bf16
/// nothing asks for NaN: those that arithmetic gives are the machine's own, or
/// an operand's.
void expandBFloat16(mlir::Operation *root);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_CODEGEN_EXPANDBFLOAT16_H
