//===- NarrowProducts.h - weights that stay as narrow as they are ---------===//
//
//   dot_general(x : f32, (convert<f32>(w : i8) - z) * s)
//     ->  cpu.narrow_product(x, w, zeros = z) * s
//
//   dot_general(x : f32, reshape((convert<f32>(w : i4) - z) * s))
//     ->  cpu.narrow_product(x, w, scales = s, zeros = z) {block = 32}
//
// Weights that are stored in fewer bits than they are multiplied in are widened
// in registers, as they are read: a program holds and reads them as they are. A
// scale for all or for a column moves behind the sum, which then is rounded
// otherwise, by about one unit of the last place; one for a block of what is
// summed up goes with the weights. So does a zero point, unless it is the same
// for all and what the weights are more than that is as narrow.
//
// They are found by data flow, whatever wrote them: conversions to wider types,
// one difference and one product with numbers that are repeated
// (RepeatedConstant.h), and what moves elements between them.
//
// Restrictions:
//   - Weights follow from constants: integers of 2 to 8 bits or floats of 8 or
//     16; f16 where the machine converts it.
//   - Scales are multiplied in f32: what is rounded to f16 or bf16 before it is
//     multiplied again is no longer in few bits.
//   - No batching dimensions; the weights lie as a matrix of several columns.
//   - Numbers of blocks stand for 16 neighbours or more along one contracted
//     dimension, or all.
//   - What is faster wide, by kernels/Estimates, is left to folding.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_NARROWPRODUCTS_H
#define SINTER_BACKEND_CPU_LAYOUT_NARROWPRODUCTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

struct PassSetting;

/// Rewrites all of \p function, whose shapes are static.
void formNarrowProducts(mlir::func::FuncOp function, const PassSetting &setting,
                        PatternRun &run);

llvm::ArrayRef<PatternInfo> narrowProductsPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_NARROWPRODUCTS_H
