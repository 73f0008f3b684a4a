//===- SmallFloat.h - 8-bit floats in code --------------------------------===//
//
// Values of an 8-bit float type are integers in code; arithmetic is in f32 and
// rounded after every operation. One generator serves all formats: a format is
// defined by its widths, its bias and its treatment of infinity, NaN and
// negative zero (runtime/Float.h).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_COMMON_SMALLFLOAT_H
#define SINTER_BACKEND_CPU_KERNELS_COMMON_SMALLFLOAT_H

#include "backend/cpu/kernels/common/KernelBuilder.h"

namespace sinter::cpu {

/// Whether \p element is a float of eight bits.
bool isFloat8(mlir::Type element);

/// Decodes \p stored (i8 or a vector of it) of format \p element to f32.
mlir::Value emitDecode(KernelBuilder &code, mlir::Value stored,
                       mlir::Type element);
/// Encodes \p value (f32 or a vector of it) to the nearest value of format
/// \p element, ties to even; beyond the range, infinity, or NaN if there is
/// none.
mlir::Value emitEncode(KernelBuilder &code, mlir::Value value,
                       mlir::Type element);

/// \p value (f64 or a vector of it) as f32, rounded to odd: rounded again to a
/// format of at most 22 bits of mantissa, it is as if rounded once (S. Boldo,
/// G. Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
mlir::Value emitRoundToOdd(KernelBuilder &code, mlir::Value value);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_COMMON_SMALLFLOAT_H
