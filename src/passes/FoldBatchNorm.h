//===- FoldBatchNorm.h - per-channel arithmetic goes into the weights -----===//
//
//        x   K                                x   K'
//        |   |                                |   |
//       product        the bias if any        product
//          |             /                       |   bias'
//     add, multiply, ... , batch norm  ->        |   |
//          |                                     add
//          y                                     |
//                                                y
//
//     x                                   x   K'
//     |                                   |   |
//   multiply, add, ..., batch norm        product
//     |   K                       ->         |   bias'
//     |   |                                  |   |
//    product                                 add
//       |                                    |
//       y                                    y
//
// where the product is any operation with ChannelwiseAffineOpInterface
// (convolution of any dimension numbers, groups and dilations; dot_general;
// LSTM, GRU and RNN only with a chain before them, whose shift their bias
// takes), and the chain is of batch_norm_inference, negate, and add, subtract,
// multiply and divide with constants that vary along the channel's dimension
// only:
//
//   y = s * (K x) + t   ->   K'[..., o] = s[o] * K[..., o],   bias' = t
//   y = K (s * x + t)   ->   K'[..., i] = s[i] * K[..., i],
//                            bias'[o] = sum over i and window of K[..., o] t[i]
//
// s and t are composed in double, and K' and bias' are rounded once. An
// addition stands after the product if and only if the chain shifts. The new
// weight is called `<kernel>_fuse_bn` (with a number behind if that is taken).
//
// Restrictions:
//   - Operations that move elements between the product and the chain stay
//     (fold-across-rearrangement); a shift stays behind padding with zeros.
//   - A weight that is dequantised in a file that will be exported stays
//     quantised, as does one of a quantised type: its scales absorb the
//     chain's, a per-tensor scale becomes per-channel, and integers of channels
//     that change their sign are mirrored about the zero point, if all of them
//     fit their type then (-128 does not; ChannelFactors.h,
//     DequantizedWeight.h, QuantizedProduct.h). Factors that differ along
//     another dimension than its scales do stay: in front of a product that has
//     a scale for each channel of its result, and behind a transposed
//     convolution with groups of several channels, whose node has one for each
//     index in a group. So does a chain behind a product that is rounded to a
//     scale of its own, such as QLinearConv: its result has a per-tensor scale.
//   - A weight that is broadcast to batches absorbs what varies along its own
//     dimensions.
//   - Every value between the product and the end of the chain has one use, in
//     the same block, and is not an output. The end may have several. Uses of
//     the shape alone do not count.
//   - The chain's constants are constant, finite, and vary along the
//     product's channel dimension, not along one that happens to be as large;
//     no divisor is zero and variance + epsilon > 0.
//   - Weights are floats, or are dequantised to such, and finite, before and
//     after, and no channel's weights lose digits below the normal numbers of
//     their type.
//   - Weights that are narrower than the product's result, the chain's results
//     and their conversions, or than the product's other operand, absorb powers
//     of two alone: others would be rounded.
//   - A shift before a product that reads zeros from outside its operand stays,
//     and one of more than 16 before a product of floats narrower than f32,
//     whose accumulator is rounded before the bias makes up for the shift.
//   - Scales behind a conversion of a product of f16 (or 8 bits) to a wider
//     type are 1/256 to 256: its range is smaller than that of the values they
//     scale.
//   - After the product there is more to fold than one addition (the bias).
//   - The bias addition of one product does not move behind the next.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_FOLDBATCHNORM_H
#define SINTER_PASSES_FOLDBATCHNORM_H

#include "mlir/Pass/Pass.h"
#include "passes/PatternLabels.h"

namespace sinter {

llvm::ArrayRef<PatternInfo> foldBatchNormPatterns();
/// Whether all patterns are enabled that fold a batch norm (\p isNorm), or a
/// scale and a shift by themselves, into a product that stands behind it
/// (\p isBefore) or in front of it.
bool foldsAffine(const PatternRun &run, bool isNorm, bool scales, bool shifts,
                 bool isBefore);
std::unique_ptr<mlir::Pass>
createFoldBatchNorm(std::shared_ptr<PatternRun> run = nullptr);

} // namespace sinter

#endif // SINTER_PASSES_FOLDBATCHNORM_H
