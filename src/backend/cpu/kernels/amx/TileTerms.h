//===- TileTerms.h - activations stored as bf16 terms for AMX -------------===//
//
// f32 values of rows, or of the pixels of images, as the two bf16 terms that
// AMX products multiply (TileArithmetic), in the layout that TileProduct
// stages:
//
//     image:  [term][block of 32 columns][position][64 bytes]
//             [tile][block of 32 columns] words of 32 bits
//
// A position is a row or, where users have windows that reach beyond the image,
// a zero of its border. Zeros after a row of pixels are also those before the
// next row:
//
//     border of 1 on all sides,     0 0 0 0 0
//     3 x 3 pixels:                 a b c 0
//                                   d e f 0
//                                   g h i 0
//                                   0 0 0 0
//
// so that a tap is an offset between positions. The task that stores the pixels
// at an edge stores the zeros next to them.
//
// Where sizes are dynamic, each row has words of its own, which are those of
// the tile that it was stored in: how high that is nobody else knows.
//
// The words are the largest magnitudes of a tile of rows by 32 columns, which
// one task stores at once, so that no two tasks share a word. If the magnitude
// is more than mostUsualMagnitude, infinite or NaN, the terms are the upper and
// the lower halves of the values' bits, without loss; else they are those of
// the values times tileScale. Padding columns are zeros.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_AMX_TILETERMS_H
#define SINTER_BACKEND_CPU_KERNELS_AMX_TILETERMS_H

#include "backend/cpu/kernels/amx/TileArithmetic.h"
#include "backend/cpu/kernels/amx/TileVectors.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace sinter::cpu {

/// Zeros around an image, in rows and columns of pixels.
struct TileBorder {
  int64_t top = 0, left = 0, bottom = 0, right = 0;

  bool operator==(const TileBorder &) const = default;
};

struct TileTerms {
  static constexpr int64_t parts = 2, blockColumns = 32;

  int64_t images = 1, rows = 1, columns = 1;
  /// Of an image, whose rows are pixels: how many of these are side by side.
  Dim width = 1;
  /// Sizes of which rows are the product, where some are dynamic: of an image
  /// height and width. `rows` says nothing then.
  std::vector<Dim> dynamicRows = {};
  /// Rows per tile, except for the last tile of each unit.
  int64_t tileRows = 1, unitRows = 1;
  TileBorder border = {};
  /// Positions after the last one that may be read, with undefined contents:
  /// the last tile of a user may have more rows than exist.
  int64_t beyond = 0;
  /// Whether the unsplit layout has blocks of channels.
  bool areBlocked = false;

  bool isDynamic() const { return !dynamicRows.empty(); }
  /// Whether \p other has the same values, whatever the tiles; of dynamic rows
  /// if their numbers are the same.
  bool haveNumbersOf(const TileTerms &other) const {
    return images == other.images && rows == other.rows &&
           columns == other.columns && width == other.width &&
           areBlocked == other.areBlocked && isDynamic() == other.isDynamic();
  }
  /// Extends the layout for the user \p reader, of the same values.
  void makeRoomFor(const TileTerms &reader);

  int64_t blocks() const;
  bool hasBorder() const { return border != TileBorder(); }
  /// Positions are as many as rows, `ofHeight` for each row of pixels,
  /// `ofWidth` for each column of them, and `more`.
  struct Zeros {
    int64_t ofHeight, ofWidth, more;
  };
  Zeros zeros() const;
  /// Of known sizes.
  int64_t positions() const;
  int64_t imageBytes() const;
  int64_t bytes() const {
    return images * imageBytes() + beyond * tileRowBytes;
  }
  /// Bytes of dynamic sizes: an image's are so many for each position, each
  /// row, and more.
  struct DynamicBytes {
    int64_t ofPosition, ofRow, more;
  };
  DynamicBytes dynamicBytes() const;

  /// The distance between rows of pixels, in positions.
  mlir::Value rowPositions(VectorBuilder &code) const;
  /// The position of the first pixel.
  mlir::Value firstPosition(VectorBuilder &code) const;
  mlir::Value planeBytes(VectorBuilder &code) const;

  /// Flat memory of bytes, and the start of an image in it.
  struct Image {
    mlir::Value memory, start;
  };
  mlir::Value linePlace(VectorBuilder &code, const Image &image,
                        mlir::Value block, mlir::Value position) const;
  Image imageIn(VectorBuilder &code, mlir::Value memory,
                mlir::Value number) const;

  /// The two vectors of 16 values of a block in a row, whose index is relative
  /// to its tile.
  using ValuesOf =
      llvm::function_ref<std::array<mlir::Value, 2>(mlir::Value row)>;
  /// Stores \p count rows of a tile, from \p first on, and their magnitude;
  /// \p areInARow if they are in one row of pixels. May call \p valuesOf twice
  /// per row.
  void store(VectorBuilder &code, const Image &image, mlir::Value block,
             mlir::Value first, mlir::Value count, bool areInARow,
             ValuesOf valuesOf) const;

  /// An upper bound of the magnitudes in rows [first, end), as bits of f32: it
  /// may include other rows of the same tiles.
  mlir::Value largest(VectorBuilder &code, const Image &image,
                      mlir::Value first, mlir::Value end) const;
  /// Access to the values as f32.
  TileVectorValues numbers(VectorBuilder &code, const Image &image) const;

private:
  int64_t unitTiles() const;
  int64_t tiles() const;
  /// Zeros after a row of pixels, and after the last one of an image.
  int64_t gap() const { return std::max(border.left, border.right); }
  mlir::Value lastZeros(VectorBuilder &code) const;
  mlir::Value rowCount(VectorBuilder &code) const;
  mlir::Value positions(VectorBuilder &code) const;
  mlir::Value height(VectorBuilder &code) const;
  mlir::Value positionOf(VectorBuilder &code, mlir::Value row) const;
  void storeZeros(VectorBuilder &code, const Image &image, mlir::Value block,
                  mlir::Value position, mlir::Value count) const;
  void storeBorder(VectorBuilder &code, const Image &image, mlir::Value block,
                   mlir::Value first, mlir::Value count) const;
  mlir::Value wordPlace(VectorBuilder &code, const Image &image,
                        mlir::Value tile, mlir::Value block) const;
  mlir::Value tileOf(VectorBuilder &code, mlir::Value row) const;
};

/// Seconds of one thread that a product saves with a split operand, and seconds
/// of a separate splitting kernel.
struct TileTermsGain {
  double saved = 0, once = 0;
};

/// The split operand and the split result of a product.
struct TileTermsOf {
  std::optional<TileTerms> operand = {}, result = {};
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_AMX_TILETERMS_H
