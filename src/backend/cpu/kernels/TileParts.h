//===- TileParts.h - activations that lie as matrix units read them -------===//
//
// f32 numbers of rows, or of the pixels of images, in the two parts that
// products on matrix units multiply (TileArithmetic), where TileProduct would
// bring them together:
//
//     image:  [part][block of 32 columns][row][64 bytes]
//             [tile][block of 32 columns] words of 32 bits
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

#include <array>
#include <optional>

namespace sinter::cpu {

struct TileParts {
  static constexpr int64_t parts = 2, blockColumns = 32;

  int64_t images = 1, rows = 1, columns = 1;
  /// Rows come in tiles of so many, but the last of each unit.
  int64_t tileRows = 1, unitRows = 1;
  /// Whether what is in parts lies in blocks of channels else.
  bool areBlocked = false;

  /// Whether \p other has the same numbers, whoever stores them.
  bool haveNumbersOf(const TileParts &other) const {
    return images == other.images && rows == other.rows &&
           columns == other.columns && areBlocked == other.areBlocked;
  }

  int64_t blocks() const;
  /// Rows for which there is room: the last tile that is read may have more
  /// than there are.
  int64_t positions() const;
  int64_t planeBytes() const { return blocks() * positions() * tileRowBytes; }
  int64_t imageBytes() const;
  int64_t bytes() const { return images * imageBytes(); }

  /// Flat memory of bytes, and where an image begins in it.
  struct Image {
    mlir::Value memory, start;
  };
  Image imageIn(VectorBuilder &code, mlir::Value memory,
                mlir::Value number) const;

  /// Two vectors of 16 neighbours, those of a block in a row that is counted
  /// from the first of its tile.
  using NumbersOf =
      llvm::function_ref<std::array<mlir::Value, 2>(mlir::Value row)>;
  /// Stores \p count rows of a tile, from \p first on, and their word. May ask
  /// for its numbers twice.
  void store(VectorBuilder &code, const Image &image, mlir::Value block,
             mlir::Value first, mlir::Value count, NumbersOf numbersOf) const;

  /// At least the magnitude of the largest number in rows [first, end), as bits
  /// of f32: rows of the same units may count.
  mlir::Value largest(VectorBuilder &code, const Image &image,
                      mlir::Value first, mlir::Value end) const;
  /// Two neighbours as f32, the \p pair-th of a block.
  std::array<mlir::Value, 2> numbersAt(VectorBuilder &code, const Image &image,
                                       mlir::Value row, mlir::Value block,
                                       mlir::Value pair) const;

private:
  int64_t unitTiles() const;
  int64_t tiles() const;
  mlir::Value wordPlace(VectorBuilder &code, const Image &image,
                        mlir::Value tile, mlir::Value block) const;
  mlir::Value tileOf(VectorBuilder &code, mlir::Value row) const;
  mlir::Value rowPlace(VectorBuilder &code, const Image &image,
                       mlir::Value block, mlir::Value row) const;
};

/// What of a product lies in memory in parts: what it reads, what it stores.
struct TilePartsOf {
  std::optional<TileParts> operand = {}, result = {};
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_TILEPARTS_H
