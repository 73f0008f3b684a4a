//===- DivideByScale.h - a scale that needs no division -------------------===//

#ifndef SINTER_PASSES_DIVIDEBYSCALE_H
#define SINTER_PASSES_DIVIDEBYSCALE_H

#include "graph/nn/TensorBuilder.h"

namespace sinter {

/// Whether integers of at most \p reach, times \p number / \p scale in f32, may
/// leave the middle between two integers that they lie in: where the quotient
/// has a small denominator, so that many do, and not all products are exact.
bool missesMiddles(double number, double scale, double reach);

/// \p x divided by \p scale where that only changes factors and terms of it,
/// which are constants:
///
///   (n * a + b) / s  ->  n * (a / s) + b / s
///
/// Null where it would take a division still.
mlir::Value dividedByScale(nn::TensorBuilder &emit, mlir::Value x,
                           double scale);

} // namespace sinter

#endif // SINTER_PASSES_DIVIDEBYSCALE_H
