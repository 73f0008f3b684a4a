//===- QuantizedDraw.h - drawing quantised types --------------------------===//

#ifndef SINTER_RANDOM_QUANTIZEDDRAW_H
#define SINTER_RANDOM_QUANTIZEDDRAW_H

#include "random/Draft.h"

namespace sinter {

/// An element type of any width, quantised per tensor.
mlir::Type drawQuantizedElement(Draft &draft);
/// Of \p width bits, signed, with a zero point if \p hasZeroPoint.
mlir::Type drawQuantizedElement(Draft &draft, unsigned width,
                                bool hasZeroPoint);
/// The same with a scale for each of \p size elements along \p axis.
mlir::Type drawElementPerAxis(Draft &draft, unsigned width, bool hasZeroPoints,
                              int64_t size, int64_t axis);

/// Dequantises \p value, unless it is null. Values of quantised types stay
/// between quantising and this, so that no recipe meets them that is not made
/// for them.
bool dequantizes(Draft &draft, mlir::Value value);

} // namespace sinter

#endif // SINTER_RANDOM_QUANTIZEDDRAW_H
