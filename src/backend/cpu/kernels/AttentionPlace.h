//===- AttentionPlace.h - which part of attention a task computes ---------===//
//
// What the generators of attention have in common: where the operands of one
// head begin, and what scale, mask and causality make of its scores.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_ATTENTIONPLACE_H
#define SINTER_BACKEND_CPU_KERNELS_ATTENTIONPLACE_H

#include "backend/cpu/kernels/AttentionShape.h"

namespace sinter::cpu {

struct AttentionPlace {
  /// That of number \p matrix of all heads.
  AttentionPlace(VectorBuilder &code, const AttentionShape &shape,
                 const AttentionOperands &operands, mlir::Value matrix);
  /// Lets rows begin at row \p row of the head.
  void beginAt(VectorBuilder &code, mlir::Value row);

  /// What softmax is taken of: scores of row \p row, counted from the first
  /// one, at column \p ofBlock of the block of keys that begins with \p first.
  mlir::Value finishScores(VectorBuilder &code, mlir::Value first,
                           mlir::Value vector, mlir::Value row,
                           mlir::Value ofBlock) const;

  const AttentionShape &shape;
  /// Flat buffers.
  mlir::Value query, key, value, mask, result, scratch;
  /// Where this task's part begins in each.
  mlir::Value queryBase, keyBase, valueBase, maskBase, resultBase;
  llvm::SmallVector<mlir::Value> heads;
  mlir::Value firstRow;
  /// Of the keys of a block, where scores beyond them are computed, too; else
  /// null.
  mlir::Value keyCount = {};

private:
  mlir::Value seenLanes(VectorBuilder &code, mlir::Value column,
                        mlir::VectorType type) const;
};

/// In all lanes, or one.
mlir::Value splatNumber(VectorBuilder &code, mlir::Type type, double number);
// Single elements of flat buffers.
mlir::Value loadNumber(VectorBuilder &code, mlir::Value flat,
                       mlir::Value offset);
void storeNumber(VectorBuilder &code, mlir::Value number, mlir::Value flat,
                 mlir::Value offset);
/// The greater; \p b where \p a is not a number.
mlir::Value greater(VectorBuilder &code, mlir::Value a, mlir::Value b);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_ATTENTIONPLACE_H
