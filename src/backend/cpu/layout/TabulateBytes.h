//===- TabulateBytes.h - functions of bytes as tables ---------------------===//
//
//   convert<i8>(round(clamp(erf((convert<f32>(x : ui8) - z) * s) / t)))
//     ->  cpu.lookup(x, table : 256 x i8)
//
// What is computed element by element from one byte, into a byte again, has 256
// values at most: rescales, activations and whatever a file spells out between
// dequantising and quantising. They are computed as the program is made, by the
// operations' definitions.
//
// Restrictions:
//   - Everything else that the function takes is one number for all elements.
//   - It is worth more operations than a lookup, which takes four instructions
//     for 64 bytes with AVX-512 VBMI, 80 for a vector of them where rows of 16
//     entries are chosen from (pshufb), and a load a byte elsewhere.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_TABULATEBYTES_H
#define SINTER_BACKEND_CPU_LAYOUT_TABULATEBYTES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

struct Target;

/// Rewrites all of \p function, regions of control flow included.
void tabulateBytes(mlir::func::FuncOp function, const Target &target,
                   PatternRun &run);

llvm::ArrayRef<PatternInfo> tabulateBytesPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_TABULATEBYTES_H
