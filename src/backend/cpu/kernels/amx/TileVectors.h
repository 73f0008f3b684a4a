//===- TileVectors.h - products of unusual values, on vectors -------------===//
//
// Infinities, NaN and values larger than mostUsualMagnitude have no bf16 terms
// for AMX. A task that reads any multiplies its tiles in f32, on vectors of
// columns, with the weights as packed for tiles:
//
//     sums[row][columns] = sum of value[row][k] * weights[k][columns]
//
// This runs rarely, and is the same for all layers except for sizes: a
// subroutine (codegen/Subroutine) with the sizes as arguments serves all.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_AMX_TILEVECTORS_H
#define SINTER_BACKEND_CPU_KERNELS_AMX_TILEVECTORS_H

#include "backend/cpu/kernels/amx/TileArithmetic.h"
#include "backend/cpu/kernels/common/VectorBuilder.h"

#include <array>

namespace sinter::cpu {

/// The \p members of \p from, as arguments of a subroutine,
template <typename T>
llvm::SmallVector<mlir::Value>
valuesOfMembers(const T &from, llvm::ArrayRef<mlir::Value T::*> members) {
  llvm::SmallVector<mlir::Value> values;
  for (mlir::Value T::*member : members)
    values.push_back(from.*member);
  return values;
}
/// and the structure rebuilt from these.
template <typename T>
T withMembers(mlir::ValueRange values,
              llvm::ArrayRef<mlir::Value T::*> members) {
  T made;
  for (auto [member, value] : llvm::zip_equal(members, values))
    made.*member = value;
  return made;
}

/// The values of the left operand: the arguments of a subroutine, flat memory
/// and indices, and how it locates the values by these.
struct TileVectorValues {
  llvm::SmallVector<mlir::Value> values;
  /// The location of a block at a position, as any values,
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
/// plus `shift`, form rows of `width`, whose first is at `row`, `column` of an
/// image, with the given strides of rows and columns. Outside the image are
/// zeros.
struct TileVectorImage {
  mlir::Value memory, start;
  mlir::Value shift, width, row, column, rowStride, columnStride;
  mlir::Value imageRows, imageColumns;
  /// The strides of pixels, blocks of 32 values and their halves.
  mlir::Value ofPixel, ofBlock, ofHalf;
  mlir::Value depth; ///< The channels of a pixel.

  TileVectorValues numbers() const;
};

/// 64 bytes of packed weights, as 16 32-bit lanes.
mlir::Value tileWordsAt(VectorBuilder &code, mlir::Value weights,
                        mlir::Value line);
/// The factor that undoes the weights' scaling, at \p line.
mlir::Value tileUnscaleAt(VectorBuilder &code, mlir::Value weights,
                          mlir::Value line);

/// A tile of rows by the columns of a panel.
struct TileVectorTile {
  mlir::Value weights;    ///< Flat, of anything.
  mlir::Value sums;       ///< Flat, of f32, not aliased.
  mlir::Value rows;       ///< The number of rows,
  mlir::Value position;   ///< the position of the first one's values,
  mlir::Value rowStep;    ///< and their distance.
  mlir::Value firstBlock; ///< The first block of k,
  mlir::Value blocks;     ///< and their number.
  mlir::Value tapRows, tapColumns, tapRowStep, tapColumnStep;
  mlir::Value panel;       ///< Its index,
  mlir::Value line;        ///< the start of its weights, in lines of 64 bytes,
  mlir::Value columnTiles; ///< and its registers of columns.
  mlir::Value unscaleLine; ///< See tileUnscaleAt().
  mlir::Value firstSum;    ///< The offset of the first row's accumulators.
};

/// Calls the subroutine that computes the accumulators of \p tile from
/// \p numbers. \p group: the inputs of each group (TileProductShape).
void multiplyOnVectors(VectorBuilder &code, const TileArithmetic &arithmetic,
                       int64_t group, const TileVectorValues &numbers,
                       const TileVectorTile &tile);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_AMX_TILEVECTORS_H
