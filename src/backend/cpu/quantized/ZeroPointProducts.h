//===- ZeroPointProducts.h - int8 matmuls with run-time zero points -------===//
//
//   dot_general(convert<i32>(a : ui8) - x, convert<i32>(b : ui8) - y) : i32
//     ->  cpu.zero_point_product(a, b, x, y) : i32
//
// as in the attention of a quantised model. Transposes of the operands are
// folded into the dimension numbers.
//
// Where f32 holds the sums exactly, too, cost/Estimates chooses the faster
// kernel.
//
// Restrictions:
//   - Each operand is 8-bit, or 8-bit values minus a scalar, and the right one
//     is not a constant.
//   - Accumulators have 32 bits.
//   - There are rows and columns: matrix-vector products are reductions.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_QUANTIZED_ZEROPOINTPRODUCTS_H
#define SINTER_BACKEND_CPU_QUANTIZED_ZEROPOINTPRODUCTS_H

#include "backend/cpu/target/PassSetting.h"
#include "graph/stablehlo/StablehloOps.h"

namespace sinter::cpu {

/// The result of \p op as such a matmul; null if it is none. \p isHeldByF32:
/// f32 holds its sums exactly.
mlir::Value asDistanceProduct(stablehlo::DotGeneralOp op, bool isHeldByF32,
                              const PassSetting &setting);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_QUANTIZED_ZEROPOINTPRODUCTS_H
