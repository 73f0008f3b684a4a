//===- TileParts.h - activations that lie as matrix units read them -------===//
//
// f32 numbers of rows, or of the pixels of images, in the two parts that
// products on matrix units multiply (TileArithmetic), where TileProduct would
// bring them together:
//
//     image:  [part][block of 32 columns][position][64 bytes]
//             [tile][block of 32 columns] words of 32 bits
//
// A position is a row's or, where readers have windows that reach beyond the
// image, one of its zeros around it. Those behind a row of pixels are the ones
// before the next row, too:
//
//     border of 1 on all sides,     0 0 0 0 0
//     3 x 3 pixels:                 a b c 0
//                                   d e f 0
//                                   g h i 0
//                                   0 0 0 0
//
// so that a tap is a distance between positions. Who stores the pixels at an
// edge stores the zeros beside them.
//
// Where sizes are open, each row has words of its own, which are those of the
// tile that it was stored in: how high that is nobody else knows.
//
// Their words are the magnitudes of the largest numbers of so many rows by 32
// columns, which are what one task stores at once: nobody shares one. Where
// that is more than mostUsualMagnitude, infinite or NaN, parts are the upper
// and the lower halves of the numbers' bits, and nothing is lost; else they are
// those of the numbers times tileScale. Columns beyond the last one are zeros.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_TILEPARTS_H
#define SINTER_BACKEND_CPU_KERNELS_TILEPARTS_H

#include "backend/cpu/kernels/TileArithmetic.h"
#include "backend/cpu/kernels/TileVectors.h"

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

struct TileParts {
  static constexpr int64_t parts = 2, blockColumns = 32;

  int64_t images = 1, rows = 1, columns = 1;
  /// Of an image, whose rows are pixels: how many of these are side by side.
  int64_t width = 1;
  /// Sizes of which rows are the product, where some have names: of an image
  /// height and width. `rows` says nothing then, and `width` may be a name.
  std::vector<int64_t> openRows = {};
  /// Rows come in tiles of so many, but the last of each unit.
  int64_t tileRows = 1, unitRows = 1;
  TileBorder border = {};
  /// Positions behind the last one that may be read, whatever is there: the
  /// last tile of a reader may have more rows than there are.
  int64_t beyond = 0;
  /// Whether what is in parts lies in blocks of channels else.
  bool areBlocked = false;

  bool isOpen() const { return !openRows.empty(); }
  /// Whether \p other has the same numbers, whoever stores them; of open rows
  /// if their numbers are the same.
  bool haveNumbersOf(const TileParts &other) const {
    return images == other.images && rows == other.rows &&
           columns == other.columns && width == other.width &&
           areBlocked == other.areBlocked && isOpen() == other.isOpen();
  }
  /// Lets \p reader, of the same numbers, read them, too.
  void makeRoomFor(const TileParts &reader);

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
  /// Bytes of open sizes: an image's are so many for each position, each row,
  /// and more.
  struct OpenBytes {
    int64_t ofPosition, ofRow, more;
  };
  OpenBytes openBytes() const;

  /// How far rows of pixels are apart.
  mlir::Value rowPositions(VectorBuilder &code) const;
  /// Where the first pixel is.
  mlir::Value firstPosition(VectorBuilder &code) const;
  mlir::Value planeBytes(VectorBuilder &code) const;

  /// Flat memory of bytes, and where an image begins in it.
  struct Image {
    mlir::Value memory, start;
  };
  mlir::Value linePlace(VectorBuilder &code, const Image &image,
                        mlir::Value block, mlir::Value position) const;
  Image imageIn(VectorBuilder &code, mlir::Value memory,
                mlir::Value number) const;

  /// Two vectors of 16 neighbours, those of a block in a row that is counted
  /// from the first of its tile.
  using NumbersOf =
      llvm::function_ref<std::array<mlir::Value, 2>(mlir::Value row)>;
  /// Stores \p count rows of a tile, from \p first on, and their word, those of
  /// one row of pixels if \p areInARow. May ask for its numbers twice.
  void store(VectorBuilder &code, const Image &image, mlir::Value block,
             mlir::Value first, mlir::Value count, bool areInARow,
             NumbersOf numbersOf) const;

  /// At least the magnitude of the largest number in rows [first, end), as bits
  /// of f32: rows of the same units may count.
  mlir::Value largest(VectorBuilder &code, const Image &image,
                      mlir::Value first, mlir::Value end) const;
  /// As f32.
  TileVectorNumbers numbers(VectorBuilder &code, const Image &image) const;

private:
  int64_t unitTiles() const;
  int64_t tiles() const;
  /// Zeros behind a row of pixels, and behind the last one of an image.
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

/// Seconds of one thread that a product takes less where it reads parts that
/// others have cut, and what a step that only cuts takes.
struct TilePartsGain {
  double saved = 0, once = 0;
};

/// What of a product lies in memory in parts: what it reads, what it stores.
struct TilePartsOf {
  std::optional<TileParts> operand = {}, result = {};
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_TILEPARTS_H
