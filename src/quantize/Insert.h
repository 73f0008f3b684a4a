//===- Insert.h - quantising and dequantising around layers ---------------===//
//
//   y = conv(x, w) + b
//      ->
//   y = conv(dequantize(quantize(x)), dequantize(w8)) + dequantize(b32)
//
// Layers stay what they are and compute with floats between the two, which is
// what other tools look for; `raise-quantized` makes integer arithmetic of it.
//
// Restrictions: of a product, weights become integers by output channel where
// channels are one dimension of a constant on the right, by tensor else. A bias
// does where it has as many numbers as there are scales, and of a convolution
// where the result is stored as integers, too.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_QUANTIZE_INSERT_H
#define SINTER_QUANTIZE_INSERT_H

#include "graph/Quantization.h"
#include "quantize/Plan.h"

namespace sinter::quantize {

/// Applies \p plan to the graph that \p units are of. Numbers are rounded as
/// \p rounding says. Layers that turn out to have no such form stay float,
/// which \p plan then says.
void insertQuantization(Units &units, Plan &plan, ProfileOf profileOf,
                        const QuantizeOptions &options,
                        QuantizedRounding rounding);

} // namespace sinter::quantize

#endif // SINTER_QUANTIZE_INSERT_H
