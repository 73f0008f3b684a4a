//===- TabulateInt8.h - int8 element-wise chains as look-up tables --------===//
//
//   convert<i8>(round(clamp(erf((convert<f32>(x : ui8) - z) * s) / t)))
//     ->  cpu.lookup(x, table : 256 x i8)
//
// An element-wise function from 8 bits to 8 bits has at most 256 results:
// rescales, activations and any operations between dequantising and quantising.
// They are evaluated at compile time, by the operations' definitions.
//
// Restrictions:
//   - All other operands of the function are splats.
//   - It has more operations than a look-up, which takes four instructions for
//     64 bytes with AVX-512 VBMI, 80 for a vector where rows of 16 entries are
//     selected from (pshufb), and a load per byte elsewhere.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_QUANTIZED_TABULATEINT8_H
#define SINTER_BACKEND_CPU_QUANTIZED_TABULATEINT8_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

struct Target;

/// Rewrites all of \p function, regions of control flow included.
void tabulateInt8(mlir::func::FuncOp function, const Target &target,
                  PatternRun &run);

llvm::ArrayRef<PatternInfo> tabulateInt8Patterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_QUANTIZED_TABULATEINT8_H
