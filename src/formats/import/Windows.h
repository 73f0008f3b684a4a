//===- Windows.h - windows over images, and pools ------------------------===//

#ifndef SINTER_FORMATS_IMPORT_WINDOWS_H
#define SINTER_FORMATS_IMPORT_WINDOWS_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// Sizes of windows and images, strides and paddings are below it: the product
/// of two of them, and the sum of two such products, are 64-bit integers.
constexpr int64_t largestExtent = int64_t(1) << 31;

/// Whether each of \p list is in [\p least, largestExtent).
bool areExtents(llvm::ArrayRef<int64_t> list, int64_t least);

/// A window over the spatial dimensions, one element each.
struct Window {
  Ints size, strides, dilations, low, high;
  /// How much of `high` was added to round the result's size up.
  Ints ceilPadding;
  /// Where that depends on unknown dimensions: both, and the part that
  /// rounds up, instead of the numbers above, which are 0. See
  /// GraphBuilder::spellsUnknown.
  Dims openLow, openHigh, openCeil;
  bool isOpen() const { return !openLow.empty(); }
};

/// \p operand with the padding of a window that is open around its spatial
/// dimensions, filled with \p filler, a scalar; \p operand itself if none is.
mlir::Value padOpen(GraphBuilder &builder, mlir::Value operand,
                    const Window &window, mlir::Value filler);

/// The padding of one dimension while it is worked out; `ceil` is the part of
/// `high` that rounds the result's size up.
struct WindowPadding {
  Dim low = 0, high = 0, ceil = 0;
};

/// Padding so that the result of windows that reach over \p reach elements has
/// ceil(size / stride); an odd one is added at the end with \p upper, else at
/// the beginning. Waits for an unknown size unless it is to be spelt.
std::optional<WindowPadding> padSame(GraphBuilder &builder, const Dim &size,
                                     int64_t stride, int64_t reach, bool upper);

/// Adds to \p padding so that the result's size is rounded up. A last window
/// that would lie in the padding altogether is left out unless
/// \p mayStartOutside. False if it waits for the size.
bool roundUp(GraphBuilder &builder, const Dim &size, int64_t stride,
             int64_t reach, bool mayStartOutside, WindowPadding &padding);

/// The padding of all dimensions: numbers, unless some size is not known.
void setPadding(Window &window, llvm::ArrayRef<WindowPadding> paddings);

/// The greatest of each window of \p input [N, C, spatial...].
mlir::Value maxPool(GraphBuilder &builder, mlir::Value input,
                    const Window &window);
/// The mean of each window; with \p countsPadding, padding counts as zeros,
/// but for what rounds up.
mlir::Value averagePool(GraphBuilder &builder, mlir::Value input,
                        const Window &window, bool countsPadding);
/// The mean over all of \p axes, which become 1.
mlir::Value averageAlong(GraphBuilder &builder, mlir::Value input,
                         llvm::ArrayRef<int64_t> axes);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_WINDOWS_H
