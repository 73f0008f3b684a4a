//===- DivideByScale.h - a scale that needs no division -------------------===//

#ifndef SINTER_PASSES_DIVIDEBYSCALE_H
#define SINTER_PASSES_DIVIDEBYSCALE_H

#include "graph/nn/TensorBuilder.h"

namespace sinter {

/// Whether integers n of at most \p reach, times \p number / \p scale in f32,
/// may be rounded away from the exact middle between two integers. That is so
/// where the quotient has a small denominator, so that many lie in a middle,
/// and not all products are exact.
bool missesMiddles(double number, double scale, double reach);

/// \p x divided by \p scale where that only changes its constant factors and
/// terms:
///
///   (n * a + b) / s  ->  n * (a / s) + b / s
///
/// Null where a division would still be needed.
mlir::Value dividedByScale(nn::TensorBuilder &emit, mlir::Value x,
                           double scale);

} // namespace sinter

#endif // SINTER_PASSES_DIVIDEBYSCALE_H
