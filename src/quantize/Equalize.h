//===- Equalize.h - equalises ranges of channels --------------------------===//
//
//   y = w2 * relu(w1 * x + b1)
//      ->
//   y = (w2 * s) * relu((w1 / s) * x + b1 / s)
//
//   y = w * (norm(x) * gamma + beta)
//      ->
//   y = (w * s) * (norm(x) * (gamma / s) + beta / s)
//
// A per-tensor scale of an activation must cover the channel with the widest
// range; the others have few integers left. A positive factor for each channel
// can move through any operation that a rescale can, so a channel can be
// divided by it where it is computed, and the weights that use it multiplied:
// exact, except for rounding of floats. The factors minimise the estimated
// noise of the products that use the activation:
//
//   step(x)^2 * sum of w^2  +  sum over outputs: step(w)^2 * sum of mean x^2
//
// and the clipping of elements beyond those that were seen: where few were, a
// channel should keep spare range. Here s = range(x)^a / range(w)^(1 - a), for
// the best of a few a. With a = 1/2 that is M. Nagel et al., "Data-Free
// Quantization Through Weight Equalization and Bias Correction" (2019) and G.
// Xiao et al., "SmoothQuant" (2022).
//
// Restrictions: all users are products with constant weights that have the
// channels along one dimension. The values between have no other users; the
// operations between let per-channel rescales through, or concatenate. They all
// begin at a product or at a multiplication by a constant for each channel.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_QUANTIZE_EQUALIZE_H
#define SINTER_QUANTIZE_EQUALIZE_H

#include "quantize/Plan.h"

namespace sinter::quantize {

/// The change of one activation: by how much the estimated noise is reduced, in
/// dB.
struct Equalized {
  EqualizedTensor of;
  double gain = 0;
};

/// Moves factors in the graph of \p model, whose constants change. The profiles
/// of changed values are invalid then.
std::vector<Equalized> equalize(const Model &model, ProfileOf profileOf,
                                const QuantizeOptions &options);

/// Moves the given factors of the activations that \p valueOf finds by name.
/// False where that is not possible in this graph.
bool applyFactors(const Model &model,
                  llvm::function_ref<mlir::Value(llvm::StringRef)> valueOf,
                  const std::vector<EqualizedTensor> &factors);

} // namespace sinter::quantize

#endif // SINTER_QUANTIZE_EQUALIZE_H
