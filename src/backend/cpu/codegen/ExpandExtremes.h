//===- ExpandExtremes.h - maximum and minimum of floats -------------------===//

#ifndef SINTER_BACKEND_CPU_CODEGEN_EXPANDEXTREMES_H
#define SINTER_BACKEND_CPU_CODEGEN_EXPANDEXTREMES_H

#include "mlir/IR/PatternMatch.h"

namespace sinter::cpu {

/// arith.maximumf and arith.minimumf as comparisons and selections, which is
/// shorter than what LLVM makes of its intrinsics, and as exact: a NaN wins,
/// and -0 is less than +0 (IEEE 754-2019, section 9.6).
///
///   minimumf %a, %b  ->  select(a ueq b, a | b, select(a olt b, a, b))
///   maximumf %a, %b  ->  select(a ueq b, (a | b) & (a & b | ~sign),
///                               select(a ogt b, a, b))
///   maximumf %a, c   ->  select(c ogt a, c, a)
///   maximumf %a, 0   ->  select(a ugt 0, a, 0)
///
/// Where a and b compare equal they differ at most in the sign; where they are
/// unordered one is a NaN, and its bits with others set are one still. A
/// constant needs no second comparison, and is one instruction of x86 unless it
/// is zero: that takes the tie, or a does where it is the zero that loses
/// (maximum: -0, minimum: +0).
void populateExpandExtremesPatterns(mlir::RewritePatternSet &patterns);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_CODEGEN_EXPANDEXTREMES_H
