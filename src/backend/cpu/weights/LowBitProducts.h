//===- LowBitProducts.h - low-bit weights, dequantised in the kernel ------===//
//
//   dot_general(x : f32, (convert<f32>(w : i8) - z) * s)
//     ->  cpu.low_bit_product(x, w, zeros = z) * s
//
//   dot_general(x : f32, reshape((convert<f32>(w : i4) - z) * s))
//     ->  cpu.low_bit_product(x, w, scales = s, zeros = z) {block = 32}
//
// Weights that are stored in fewer bits than they are multiplied in are widened
// in registers after loading: a program keeps them in their storage type. A
// scale per tensor or per column is applied after the accumulation, which
// changes the rounding by about one unit in the last place; a scale per block
// of the contracted dimension is applied to the weights. So is a zero point,
// unless it is the same for all and the weights minus it are as narrow.
//
// They are matched by data flow, independent of the format: conversions to
// wider types, one subtraction of and one multiplication by a repeated constant
// (RepeatedConstant.h), and data movement in between.
//
// Restrictions:
//   - Weights are computed from constants: integers of 2 to 8 bits or floats of
//     8 or 16 bits; f16 where the CPU converts it.
//   - Scales are applied in f32: a scaled weight that is rounded to f16 or bf16
//     has no low-bit form.
//   - No batching dimensions; the weights form a matrix of several columns.
//   - Blocks have at least 16 neighbours along one contracted dimension, or all
//     of them.
//   - Weights that are faster wide, by cost/Estimates, are left to constant
//     folding.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_WEIGHTS_LOWBITPRODUCTS_H
#define SINTER_BACKEND_CPU_WEIGHTS_LOWBITPRODUCTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

struct PassSetting;

/// Rewrites all of \p function, whose shapes are static.
void formLowBitProducts(mlir::func::FuncOp function, const PassSetting &setting,
                        PatternRun &run);

llvm::ArrayRef<PatternInfo> lowBitProductsPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_WEIGHTS_LOWBITPRODUCTS_H
