//===- MatMulParts.h - what a generator of products passes on -------------===//
//
// Of MatMul's own files alone.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_MATMULPARTS_H
#define SINTER_BACKEND_CPU_KERNELS_MATMULPARTS_H

#include "backend/cpu/kernels/MatMul.h"

namespace sinter::cpu {

/// The buffers, flat, and where the matrices of this task begin in them.
struct MatMul::Operands {
  mlir::Value a, b, c, scratch;
  MatMulNumbers numbers;
  mlir::Value aBase, bBase, cBase;
  MatMulPosition position;
  const MatMulEpilogue *epilogue;
  int64_t firstDepth, endDepth; ///< The steps of the reduction.
  mlir::Value unit;             ///< The number of the tile's rows.
  MatMulExtents extents;        ///< What is open of its size.
  mlir::Value lastRow;          ///< If set, stands for the rows behind it.
};

/// A panel of columns.
struct MatMul::Panel {
  mlir::Value firstColumn;
  int64_t vectors;     ///< How many vectors it has,
  int64_t valid;       ///< and how many lanes of the last one are columns of B.
  mlir::Value source;  ///< The buffer that its rows are read from,
  mlir::Value offset;  ///< where its first row is there,
  int64_t stride;      ///< and how far apart rows are.
  bool isPadded;       ///< Whole vectors can be read.
  mlir::Value numbers; ///< Where its scales and zero points begin.
  mlir::Value left;    ///< Of one vector that may reach beyond the columns: how
                       ///< many there are from its first one on.
};

/// What is computed in registers.
struct MatMul::Tile {
  RegisterTile registers;
  const Operands &operands;
  const Panel &panel;
  llvm::SmallVector<mlir::Value> aRows; ///< Where its rows of A begin.

  int64_t size() const { return registers.rows * registers.vectors; }
};

/// Some steps of a reduction.
struct MatMul::Range {
  mlir::Value first;
  int64_t steps;
  int64_t lastValid; ///< Products of the last one.
};

/// What columns are multiplied by as they are widened, and what is taken off
/// before, a vector each of the panel; empty where nothing is.
struct MatMul::Numbers {
  llvm::SmallVector<mlir::Value> scales, zeros;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_MATMULPARTS_H
