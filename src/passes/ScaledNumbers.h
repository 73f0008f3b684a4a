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

/// The greatest shift in front of a product of floats narrower than f32 that
/// goes behind it. There product(x, k) is rounded before the shift's part is
/// added, and where x is much larger than x + shift that part takes away nearly
/// all but what was rounded off (or comes after an overflow). What a batch norm
/// gives is near 1, and so is what it starts from unless its shift is large.
inline constexpr double mostShift = 16;

/// Whether the scales leave every number as it is.
bool isOne(llvm::ArrayRef<double> scale);

/// Whether \p numbers are finite once rounded to the type.
bool roundsFinitely(ElementType type, llvm::ArrayRef<double> numbers);

/// The weight's numbers, scaled; nothing if that is not sound in its type. None
/// are needed where all scales are 1.
std::optional<std::vector<double>> scaledNumbers(const Weight &weight,
                                                 const ChannelOf &channelOf,
                                                 llvm::ArrayRef<double> scale);

/// Whether a product has few digits left, and perhaps a small range, before
/// something is added to it.
bool isRoundedCoarsely(mlir::Value product);

/// Whether a product of f16 times the scales stays in its range about as well
/// as without them: what follows a conversion has the range of another type.
bool keepsRange(mlir::Value product, llvm::ArrayRef<ChannelStep> chain,
                llvm::ArrayRef<double> scale);

} // namespace sinter

#endif // SINTER_PASSES_SCALEDNUMBERS_H
