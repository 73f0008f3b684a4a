//===- Window.h - windows that slide over rows of pixels ------------------===//
//
// What convolution and pooling share: which rows of the window meet the input,
// and how an output row is cut into tiles such that only the tiles at its ends
// have to know about padding.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_WINDOW_H
#define SINTER_BACKEND_CPU_KERNELS_WINDOW_H

#include "backend/cpu/kernels/Tiling.h"

#include <functional>
#include <optional>

namespace sinter::cpu {

/// Output places [begin, end) along a dimension.
struct OutputPlaces {
  int64_t begin, end;
};

/// A window on images. Sizes count pixels; those of input and output may be
/// named, which code is made for and nothing else here asks about, but for what
/// says so.
struct WindowShape {
  int64_t inputHeight = 0, inputWidth = 0;
  int64_t outputHeight = 0, outputWidth = 0;
  int64_t kernelHeight = 1, kernelWidth = 1;
  int64_t strideHeight = 1, strideWidth = 1;
  int64_t dilationHeight = 1, dilationWidth = 1;
  /// Padding before the first row and column (negative: rows left out); how
  /// much comes after the last ones follows from the output's size.
  int64_t padTop = 0, padLeft = 0;
  /// Padding after the last row and column, where heights or widths are named.
  int64_t padBottom = 0, padRight = 0;
  /// How large the output may be where its height or width is named: as a
  /// feature map in the middle of a network, unless something is known of it.
  int64_t estimatedHeight = 56, estimatedWidth = 56;
  /// Of a convolution of integers: elements of the input count as distances
  /// from it, and padding as none.
  int64_t zeroPoint = 0;
  /// Whether that is a number in memory instead, which code is given.
  bool hasZeroInMemory = false;

  /// Whether elements count as distances from another number than 0.
  bool countsDistances() const { return zeroPoint != 0 || hasZeroInMemory; }

  /// Sets the output's size for symmetric padding.
  void setPadding(int64_t height, int64_t width);

  int64_t inputPixels() const { return inputHeight * inputWidth; }
  int64_t outputPixels() const { return outputHeight * outputWidth; }
  int64_t taps() const { return kernelHeight * kernelWidth; }

  // The same in code, whose sizes may be named.
  mlir::Value inputPixels(VectorBuilder &code) const;
  mlir::Value outputPixels(VectorBuilder &code) const;
  bool hasOpenHeight() const;
  bool hasOpenWidth() const;
  bool hasOpenArea() const { return hasOpenHeight() || hasOpenWidth(); }
  /// With numbers in the place of names, by which times are estimated.
  WindowShape nominal() const;

  /// The input column that tap \p s of output column \p column reads; may lie
  /// outside the input.
  int64_t inputColumn(int64_t column, int64_t s) const {
    return column * strideWidth - padLeft + s * dilationWidth;
  }
  bool hasInputColumn(int64_t column, int64_t s) const {
    int64_t at = inputColumn(column, s);
    return at >= 0 && at < inputWidth;
  }
  /// Output rows, and columns, under which tap row \p r, or column \p s, lies
  /// in the input.
  OutputPlaces rowsOf(int64_t r) const;
  OutputPlaces columnsOf(int64_t s) const;
  /// Output columns under which all taps of a row lie in the input; may be
  /// none.
  OutputPlaces innerColumns() const;
  /// Whether all taps of these columns are inside the input.
  bool isInterior(int64_t firstColumn, int64_t columns) const;
};

/// The rows of the window that meet the input, for one output row.
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
  /// Where it is not, and its place is known: a first column by which to ask
  /// which taps are inside the input. It is that of this tile or of one that is
  /// alike.
  std::optional<int64_t> edgeColumn;

  enum class Reach { Inside, Outside, Unknown };
  /// Where tap \p s of a column of the tile is, if that is known when code is
  /// made.
  Reach reach(const WindowShape &window, int64_t column, int64_t s) const;
  bool meetsInput(const WindowShape &window, int64_t column, int64_t s) const {
    return reach(window, column, s) == Reach::Inside;
  }
  /// Whether it is inside, as the program runs.
  mlir::Value isInside(VectorBuilder &code, const WindowShape &window,
                       int64_t column, mlir::Value s) const;
};

/// Emits code for all tiles of an output row: a loop for neighbouring tiles of
/// one size of which the same taps are inside the input (all, where there is no
/// padding; none, deep inside of it).
void forEachTile(VectorBuilder &code, const WindowShape &window,
                 const Partition &tiles,
                 llvm::function_ref<void(const ColumnTile &)> emit);

/// How many columns tiles of a row of named width may have.
struct OpenTiles {
  /// The most first, in the end 1.
  llvm::SmallVector<int64_t> sizes;
  /// A tile takes no less time than one of so many.
  int64_t least;
  /// From so many on there is code for tiles at no edge, besides that for all.
  int64_t leastInner;

  /// \p most and some parts of it, in fourteenths.
  static OpenTiles of(int64_t most, llvm::ArrayRef<int64_t> parts,
                      int64_t least);
};

/// The same of rows whose width is named: in tiles of one of some sizes,
/// whichever takes the least. The last one ends where the row does, over
/// columns of the one before it. Which taps of a tile at an edge are inside the
/// input is asked as the program runs.
void forEachOpenTile(VectorBuilder &code, const WindowShape &window,
                     const OpenTiles &tiles,
                     llvm::function_ref<void(const ColumnTile &)> emit);

/// A tile of a row of \p width columns, all of whose taps are inside: that
/// which begins at \p first and has the most columns, or what is left of the
/// row, over columns before it. Tasks that share a row take it so.
void forOpenTileAt(VectorBuilder &code, mlir::Value width, mlir::Value first,
                   const OpenTiles &tiles,
                   llvm::function_ref<void(const ColumnTile &)> emit);

/// Where in an output of blocked layout, [N, K/L, H * W, L], a vector of
/// results belongs: L channels of one pixel.
struct BlockedPosition {
  mlir::Value batch, block, pixel;
  mlir::Value offset; ///< In elements from the start of the output.
};

/// Gets L channels of one pixel. In the last block, lanes beyond the last
/// channel hold anything.
using BlockedEpilogue = ResultEpilogue<BlockedPosition>;

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_WINDOW_H
