//===- Insert.h - quantising and dequantising around layers ---------------===//
//
//   y = conv(x, w) + b
//      ->
//   y = conv(dequantize(quantize(x)), dequantize(w8)) + dequantize(b32)
//
// Layers do not change and compute with floats between the two (QDQ form),
// which is the form that other tools match; `raise-quantized` turns it into
// integer arithmetic.
//
// Restrictions: weights of a product are quantised per output channel where
// channels are one dimension of a constant right operand, else per tensor. A
// bias is quantised where it has as many elements as there are scales, and for
// a convolution where the result is quantised, too.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_QUANTIZE_INSERT_H
#define SINTER_QUANTIZE_INSERT_H

#include "graph/Quantization.h"
#include "quantize/Plan.h"

namespace sinter::quantize {

/// Applies \p plan to the graph of \p units, with rounding by \p rounding.
/// Layers that turn out not to be quantisable stay float, and are marked so in
/// \p plan.
void insertQuantization(Units &units, Plan &plan, ProfileOf profileOf,
                        const QuantizeOptions &options,
                        QuantizedRounding rounding);

} // namespace sinter::quantize

#endif // SINTER_QUANTIZE_INSERT_H
