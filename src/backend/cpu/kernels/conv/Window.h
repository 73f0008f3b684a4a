//===- Window.h - sliding windows over rows of pixels ---------------------===//
//
// The common part of convolution and pooling: which rows of the window are in
// the input, and how an output row is split into tiles such that only tiles at
// its ends handle padding.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_CONV_WINDOW_H
#define SINTER_BACKEND_CPU_KERNELS_CONV_WINDOW_H

#include "backend/cpu/kernels/gemm/Tiling.h"

#include <functional>
#include <optional>

namespace sinter::cpu {

/// Output indices [begin, end) along a dimension.
struct OutputPlaces {
  int64_t begin, end;
};

/// A window on images. Sizes count pixels.
struct WindowShape {
  Dim inputHeight = 0, inputWidth = 0;
  Dim outputHeight = 0, outputWidth = 0;
  int64_t kernelHeight = 1, kernelWidth = 1;
  int64_t strideHeight = 1, strideWidth = 1;
  int64_t dilationHeight = 1, dilationWidth = 1;
  /// Padding before the first row and column (negative: cropping); the padding
  /// after the last ones follows from the output's size.
  int64_t padTop = 0, padLeft = 0;
  /// Padding after the last row and column, where heights or widths are named.
  int64_t padBottom = 0, padRight = 0;
  /// How large the output may be where its height or width is named: as a
  /// feature map in the middle of a network, unless something is known of it.
  int64_t estimatedHeight = 56, estimatedWidth = 56;
  /// The zero point of an integer convolution: it is subtracted from elements
  /// of the input, and padding equals it.
  int64_t zeroPoint = 0;
  /// Whether the zero point is in memory instead, as an argument.
  bool hasZeroInMemory = false;

  /// Whether a zero point must be subtracted.
  bool countsDistances() const { return zeroPoint != 0 || hasZeroInMemory; }

  /// Sets the output's size for symmetric padding.
  void setPadding(int64_t height, int64_t width);

  Dim inputPixels() const { return inputHeight * inputWidth; }
  Dim outputPixels() const { return outputHeight * outputWidth; }
  int64_t taps() const { return kernelHeight * kernelWidth; }

  // The same in code, also of named sizes.
  mlir::Value inputPixels(VectorBuilder &code) const;
  mlir::Value outputPixels(VectorBuilder &code) const;
  bool hasDynamicHeight() const;
  bool hasDynamicWidth() const;
  bool hasDynamicArea() const {
    return hasDynamicHeight() || hasDynamicWidth();
  }
  /// With numbers in the place of dynamic sizes, by which times are estimated.
  WindowShape nominal() const;

  /// The input column that tap \p s of output column \p column reads; may lie
  /// outside the input.
  int64_t inputColumn(int64_t column, int64_t s) const {
    return column * strideWidth - padLeft + s * dilationWidth;
  }
  bool hasInputColumn(int64_t column, int64_t s) const {
    int64_t at = inputColumn(column, s);
    return at >= 0 && Dim(at) < inputWidth;
  }
  /// Output rows, and columns, for which tap row \p r, or column \p s, is in
  /// the input.
  OutputPlaces rowsOf(int64_t r) const;
  OutputPlaces columnsOf(int64_t s) const;
  /// Output columns for which all taps of a row are in the input; may be none.
  OutputPlaces innerColumns() const;
  /// Whether all taps of these columns are inside the input.
  bool isInterior(int64_t firstColumn, int64_t columns) const;
};

/// The rows of the window that are in the input, for one output row.
struct RowTaps {
  /// The input row of tap row 0; may be negative.
  mlir::Value inputRow;
  /// Tap rows [first, end) are inside the input.
  mlir::Value first, end;

  static RowTaps of(VectorBuilder &code, const WindowShape &window,
                    mlir::Value outputRow);
};

/// A tile of an output row.
struct ColumnTile {
  mlir::Value firstColumn;
  int64_t columns;
  bool isInterior;
  /// If not interior and its place is static: the first column that determines
  /// which taps are inside the input, of this tile or of an equivalent one.
  std::optional<int64_t> edgeColumn;

  enum class Reach { Inside, Outside, Unknown };
  /// Where tap \p s of a column of the tile is, if that is known when code is
  /// made.
  Reach reach(const WindowShape &window, int64_t column, int64_t s) const;
  bool meetsInput(const WindowShape &window, int64_t column, int64_t s) const {
    return reach(window, column, s) == Reach::Inside;
  }
  /// The input column that tap \p s of a column of the tile reads; may lie
  /// outside the input.
  mlir::Value inputColumn(VectorBuilder &code, const WindowShape &window,
                          int64_t column, mlir::Value s) const;
  /// Whether it is inside, at run time.
  mlir::Value isInside(VectorBuilder &code, const WindowShape &window,
                       int64_t column, mlir::Value s) const;
  /// Whether the first \p columns of the tile, or the last, may all be outside
  /// for a tap at an edge.
  bool mayMiss(const WindowShape &window, int64_t columns) const {
    return !isInterior && std::max(window.padLeft, window.padRight) >
                              (columns - 1) * window.strideWidth;
  }
  /// The taps that are inside for a column of the tile, or more: [first, end).
  std::pair<mlir::Value, mlir::Value>
  tapsInside(VectorBuilder &code, const WindowShape &window) const;
};

/// Emits code for all tiles of an output row: a loop for each run of tiles of
/// one size with the same taps inside the input (all taps in the interior; none
/// deep in the padding).
void forEachTile(VectorBuilder &code, const WindowShape &window,
                 const Partition &tiles,
                 llvm::function_ref<void(const ColumnTile &)> emit);

/// How many columns tiles of a row of named width may have.
struct DynamicTiles {
  /// The most first, in the end 1.
  llvm::SmallVector<int64_t> sizes;
  /// A tile takes no less time than one of so many.
  int64_t least;
  /// From so many on there is code for tiles at no edge, besides that for all.
  int64_t leastInner;

  /// \p most and some parts of it, in fourteenths.
  static DynamicTiles of(int64_t most, llvm::ArrayRef<int64_t> parts,
                         int64_t least);
};

/// The same of rows whose width is named: in tiles of one of some sizes,
/// whichever takes the least. The last one ends where the row does, over
/// columns of the one before it. Which taps of a tile at an edge are inside the
/// input is asked as the program runs.
void forEachDynamicTile(VectorBuilder &code, const WindowShape &window,
                        const DynamicTiles &tiles,
                        llvm::function_ref<void(const ColumnTile &)> emit);

/// A tile of a row of \p width columns, all of whose taps are inside: that
/// which begins at \p first and has the most columns, or what is left of the
/// row, over columns before it. Tasks that share a row take it so.
void forDynamicTileAt(VectorBuilder &code, mlir::Value width, mlir::Value first,
                      const DynamicTiles &tiles,
                      llvm::function_ref<void(const ColumnTile &)> emit);

/// The position of a vector of results in an output of blocked layout, [N, K/L,
/// H * W, L]: L channels of one pixel.
struct BlockedPosition {
  mlir::Value batch, block, pixel;
  mlir::Value offset; ///< In elements from the start of the output.
};

/// Receives L channels of one pixel. In the last block, lanes beyond the last
/// channel are undefined.
using BlockedEpilogue = ResultEpilogue<BlockedPosition>;

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_CONV_WINDOW_H
