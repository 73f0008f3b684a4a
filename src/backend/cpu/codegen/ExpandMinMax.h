//===- ExpandMinMax.h - maximum and minimum of floats ---------------------===//

#ifndef SINTER_BACKEND_CPU_CODEGEN_EXPANDMINMAX_H
#define SINTER_BACKEND_CPU_CODEGEN_EXPANDMINMAX_H

#include "mlir/IR/PatternMatch.h"

namespace sinter::cpu {

/// Expands arith.maximumf and arith.minimumf to comparisons and selections,
/// which is shorter than the code of LLVM's intrinsics, and as exact: a NaN
/// wins, and -0 is less than +0 (IEEE 754-2019, section 9.6).
///
///   minimumf %a, %b  ->  select(a one b, select(a olt b, a, b), a | b)
///   maximumf %a, %b  ->  select(a one b, select(a ogt b, a, b),
///                               (a | b) & (a & b | ~sign))
///   maximumf %a, c   ->  select(c ogt a, c, a)
///   maximumf %a, 0   ->  select(a ugt 0, a, 0)
///
/// Where a and b compare equal they differ at most in the sign; where they are
/// unordered one is a NaN, which it stays with more bits set. A constant needs
/// no second comparison: one x86 instruction, unless it is zero. A zero wins
/// the tie, unless it is the losing zero (maximum: -0, minimum: +0): then a
/// does.
void populateExpandMinMaxPatterns(mlir::RewritePatternSet &patterns);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_CODEGEN_EXPANDMINMAX_H
