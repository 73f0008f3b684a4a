//===- Equalize.h - factors per channel move to where they harm less ------===//
//
//   y = w2 * relu(w1 * x + b1)
//      ->
//   y = (w2 * s) * relu((w1 / s) * x + b1 / s)
//
//   y = w * (norm(x) * gamma + beta)
//      ->
//   y = (w * s) * (norm(x) * (gamma / s) + beta / s)
//
// One scale for all channels of an activation must cover the widest; the others
// have few integers left. A positive factor for each channel goes through
// whatever a rescale goes through, so the numbers of a channel can be divided
// by it where they are made, and the weights that read them multiplied: exact,
// but for rounding of floats. The factors are such that the estimated noise of
// the products that read is least:
//
//   step(x)^2 * sum of w^2  +  sum over outputs: step(w)^2 * sum of mean x^2
//
// and what is cut off of numbers beyond those that were seen: where few were, a
// channel had better keep room. There s = range(x)^a / range(w)^(1 - a), for
// the best of a few a. With a = 1/2 that is M. Nagel et al., "Data-Free
// Quantization Through Weight Equalization and Bias Correction" (2019) and G.
// Xiao et al., "SmoothQuant" (2022).
//
// Restrictions: all readers are products with constant weights that see the
// channels along one dimension; nobody else reads what is between, which lets
// rescales through by channel; at its beginning is a product or a product with
// a constant for each channel.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_QUANTIZE_EQUALIZE_H
#define SINTER_QUANTIZE_EQUALIZE_H

#include "quantize/Plan.h"

namespace sinter::quantize {

/// What was done to one activation: by how much the estimated noise is less, in
/// dB.
struct Equalized {
  EqualizedTensor of;
  double gain = 0;
};

/// Moves factors in the graph of \p model, whose constants change. The profiles
/// of what it touched do not hold any more.
std::vector<Equalized> equalize(const Model &model, ProfileOf profileOf,
                                const QuantizeOptions &options);

/// Moves the given factors of the activations that \p valueOf finds by name.
/// False where that is not possible in this graph.
bool applyFactors(const Model &model,
                  llvm::function_ref<mlir::Value(llvm::StringRef)> valueOf,
                  const std::vector<EqualizedTensor> &factors);

} // namespace sinter::quantize

#endif // SINTER_QUANTIZE_EQUALIZE_H
