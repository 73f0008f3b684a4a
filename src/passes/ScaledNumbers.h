//===- ScaledNumbers.h - checks scaled weights against their type ---------===//
//
// Whether scales and shifts may move through a product, given the precision and
// the range of the element types.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_SCALEDNUMBERS_H
#define SINTER_PASSES_SCALEDNUMBERS_H

#include "passes/ChannelAffine.h"
#include "passes/Weight.h"

namespace sinter {

/// The greatest shift that may move from the front of a product of floats
/// narrower than f32 to behind it. There product(x, k) is rounded before the
/// shift's term is added. Where x is much larger than x + shift, adding the
/// term cancels nearly all but the rounding error (or comes after an overflow).
/// The result of a batch norm is near 1, and so is its operand unless its shift
/// is large.
inline constexpr double mostShift = 16;

/// Whether all scales are 1.
bool isOne(llvm::ArrayRef<double> scale);

/// \p numbers, rounded to \p type.
std::vector<double> roundedTo(ElementType type, llvm::ArrayRef<double> numbers);

/// Whether floats times \p scale fit the range of f16 about as well as before:
/// each scale is 0 or 1/256 to 256.
bool isModerate(llvm::ArrayRef<double> scale);

/// Whether \p numbers are finite once rounded to the type.
bool roundsFinitely(ElementType type, llvm::ArrayRef<double> numbers);

/// The weight's array, scaled and rounded to its type; nothing if that loses
/// precision or range. Without elements where all scales are 1, and no new
/// array is needed. Needs no memory but the result's, and reads the file's
/// pages in order.
std::optional<Tensor> scaledValues(const Weight &weight,
                                   const ChannelOf &channelOf,
                                   llvm::ArrayRef<double> scale);

/// Whether a product's result is rounded to low precision, and perhaps a small
/// range, before something is added to it.
bool isRoundedCoarsely(mlir::Value product);

/// Whether an f16 product times the scales fits its range about as well as
/// without them: steps behind a conversion have the range of another type.
bool keepsRange(mlir::Value product, llvm::ArrayRef<ChannelStep> chain,
                llvm::ArrayRef<double> scale);

} // namespace sinter

#endif // SINTER_PASSES_SCALEDNUMBERS_H
