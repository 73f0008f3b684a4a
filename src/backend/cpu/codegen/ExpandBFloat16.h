//===- ExpandBFloat16.h - bf16 conversions by integer arithmetic ----------===//

#ifndef SINTER_BACKEND_CPU_CODEGEN_EXPANDBFLOAT16_H
#define SINTER_BACKEND_CPU_CODEGEN_EXPANDBFLOAT16_H

#include "mlir/IR/Operation.h"

namespace sinter::cpu {

/// Expands conversions between bf16 and f32 in \p root to integer arithmetic,
/// for CPUs without an instruction for them:
///
///   extf %x   ->  %x << 16
///   truncf %x ->  (%x + 0x7fff + bit 16 of %x) >> 16, and 0x7fc0 of a NaN
///
/// to nearest, ties to even. The addition can turn a NaN into infinity or a
/// finite value only if the NaN has bits set in its lower half. Where %x is
/// computed from bf16 values there is no NaN check: NaN results of arithmetic
/// are the hardware's default NaN, or an operand's.
void expandBFloat16(mlir::Operation *root);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_CODEGEN_EXPANDBFLOAT16_H
