//===- TileVectors.h - products of unusual numbers, on vectors ------------===//
//
// Infinities, NaN and what is larger than mostUsualMagnitude have no parts that
// matrix units multiply. A task that reads any multiplies its tiles in f32, on
// vectors of columns, by the weights as they lie for tiles:
//
//     sums[row][columns] = sum of number[row][k] * weights[k][columns]
//
// That is rarely run, and the same for all layers but for their sizes: a
// subroutine (codegen/Subroutine) that is told these has it once for all.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_TILEVECTORS_H
#define SINTER_BACKEND_CPU_KERNELS_TILEVECTORS_H

#include "backend/cpu/kernels/TileArithmetic.h"
#include "backend/cpu/kernels/VectorBuilder.h"

#include <array>

namespace sinter::cpu {

/// The \p members of \p from, as a subroutine is handed them,
template <typename T>
llvm::SmallVector<mlir::Value>
valuesOfMembers(const T &from, llvm::ArrayRef<mlir::Value T::*> members) {
  llvm::SmallVector<mlir::Value> values;
  for (mlir::Value T::*member : members)
    values.push_back(from.*member);
  return values;
}
/// and what has them there.
template <typename T>
T withMembers(mlir::ValueRange values,
              llvm::ArrayRef<mlir::Value T::*> members) {
  T made;
  for (auto [member, value] : llvm::zip_equal(members, values))
    made.*member = value;
  return made;
}

/// Numbers that products are of: what a subroutine is handed, flat memory and
/// indices, and how it finds them with that.
struct TileVectorNumbers {
  llvm::SmallVector<mlir::Value> values;
  /// Where those of a block are at a position, in values of any kind,
  llvm::SmallVector<mlir::Value> (*lineAt)(VectorBuilder &code,
                                           mlir::ValueRange values,
                                           mlir::Value position,
                                           mlir::Value block);
  /// and two neighbours there as f32, the \p pair-th.
  std::array<mlir::Value, 2> (*pairOf)(VectorBuilder &code,
                                       mlir::ValueRange values,
                                       mlir::ValueRange line, mlir::Value pair);
};

/// Rows of f32 in flat memory, or pixels in blocks of 16 channels. Positions,
/// `shift` added, are so many to a `width`, of which the first is `row`,
/// `column` of an image; its rows and columns are so far apart as strides say,
/// and zeros around it.
struct TileVectorImage {
  mlir::Value memory, start;
  mlir::Value shift, width, row, column, rowStride, columnStride;
  mlir::Value imageRows, imageColumns;
  /// How far pixels, blocks of 32 numbers and their halves are apart.
  mlir::Value ofPixel, ofBlock, ofHalf;
  mlir::Value depth; ///< How many numbers a pixel has.

  TileVectorNumbers numbers() const;
};

/// 64 bytes of packed weights, as 16 words.
mlir::Value tileWordsAt(VectorBuilder &code, mlir::Value weights,
                        mlir::Value line);
/// What they are multiplied by to be as they were, which \p line says.
mlir::Value tileUnscaleAt(VectorBuilder &code, mlir::Value weights,
                          mlir::Value line);

/// A tile of rows by the columns of a panel.
struct TileVectorTile {
  mlir::Value weights;    ///< Flat, of anything.
  mlir::Value sums;       ///< Flat, of f32, which nothing else shares.
  mlir::Value rows;       ///< How many there are,
  mlir::Value position;   ///< where the first one's numbers begin,
  mlir::Value rowStep;    ///< and how far they are apart.
  mlir::Value firstBlock; ///< Of k,
  mlir::Value blocks;     ///< and how many.
  mlir::Value tapRows, tapColumns, tapRowStep, tapColumnStep;
  mlir::Value panel;       ///< Its number,
  mlir::Value line;        ///< where its weights begin, in 64 bytes,
  mlir::Value columnTiles; ///< and how many registers of columns it has.
  mlir::Value unscaleLine; ///< See tileUnscaleAt().
  mlir::Value firstSum;    ///< Where the sums of the first row are.
};

/// Calls what computes the sums of \p tile, whose numbers are \p numbers. \p
/// group: how many inputs each group has (TileProductShape).
void multiplyOnVectors(VectorBuilder &code, const TileArithmetic &arithmetic,
                       int64_t group, const TileVectorNumbers &numbers,
                       const TileVectorTile &tile);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_TILEVECTORS_H
