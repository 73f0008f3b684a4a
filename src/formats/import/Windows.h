//===- Windows.h - windows over images, and pools -------------------------===//

#ifndef SINTER_FORMATS_IMPORT_WINDOWS_H
#define SINTER_FORMATS_IMPORT_WINDOWS_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// Sizes of windows and images, strides and paddings are below this bound, so
/// that the product of two of them and the sum of two such products fit 64
/// bits.
constexpr int64_t largestExtent = int64_t(1) << 31;

/// \p x [N, spatial..., C] as [N, C, spatial...] and back; tensors without
/// spatial dimensions as they are.
mlir::Value channelsFirst(GraphBuilder &builder, mlir::Value x);
mlir::Value channelsLast(GraphBuilder &builder, mlir::Value x);

/// Whether each of \p list is in [\p least, largestExtent).
bool areExtents(llvm::ArrayRef<int64_t> list, int64_t least);

/// A window over the spatial dimensions, one element each.
struct Window {
  Ints size, strides, dilations, low, high;
  /// How much of `high` was added to round the result's size up.
  Ints ceilPadding;
  /// Paddings that depend on dynamic dimensions, and the amount that rounds up,
  /// instead of the static ones above, which are 0 then. See
  /// GraphBuilder::expandsUnknown.
  Dims dynamicLow, dynamicHigh, dynamicCeil;
  bool isDynamic() const { return !dynamicLow.empty(); }
};

/// \p operand with the dynamic padding of a window around its spatial
/// dimensions, filled with \p filler, a scalar; \p operand itself if there is
/// none.
mlir::Value padDynamic(GraphBuilder &builder, mlir::Value operand,
                       const Window &window, mlir::Value filler);

/// The padding of one dimension during its computation; `ceil` is the amount of
/// `high` that rounds the result's size up.
struct WindowPadding {
  Dim low = 0, high = 0, ceil = 0;
};

/// Padding so that the result of windows that reach over \p reach elements has
/// ceil(size / stride); an odd one is added at the end with \p upper, else at
/// the beginning. Waits for a dynamic size unless GraphBuilder::expandsUnknown.
std::optional<WindowPadding> padSame(GraphBuilder &builder, const Dim &size,
                                     int64_t stride, int64_t reach, bool upper);

/// Adds to \p padding so that the result's size is rounded up. A last window
/// that would lie in the padding altogether is left out unless
/// \p mayStartOutside. False if it waits for the size.
bool roundUp(GraphBuilder &builder, const Dim &size, int64_t stride,
             int64_t reach, bool mayStartOutside, WindowPadding &padding);

/// Sets the padding of all dimensions: static, unless some size is dynamic.
void setPadding(Window &window, llvm::ArrayRef<WindowPadding> paddings);

/// The maximum of each window of \p input [N, C, spatial...].
mlir::Value maxPool(GraphBuilder &builder, mlir::Value input,
                    const Window &window);
/// The mean of each window; with \p countsPadding, padding counts as zeros,
/// except the amount that rounds up.
mlir::Value averagePool(GraphBuilder &builder, mlir::Value input,
                        const Window &window, bool countsPadding);
/// The mean over all of \p axes, which become 1.
mlir::Value averageAlong(GraphBuilder &builder, mlir::Value input,
                         llvm::ArrayRef<int64_t> axes);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_WINDOWS_H
