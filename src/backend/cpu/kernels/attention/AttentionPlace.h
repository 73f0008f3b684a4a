//===- AttentionPlace.h - the head and rows of an attention task ----------===//
//
// The common part of the attention generators: the offsets of the operands of
// one head, and scale, mask and causality of its scores.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_ATTENTION_ATTENTIONPLACE_H
#define SINTER_BACKEND_CPU_KERNELS_ATTENTION_ATTENTIONPLACE_H

#include "backend/cpu/kernels/attention/AttentionShape.h"

namespace sinter::cpu {

struct AttentionPlace {
  /// The place of head \p matrix among all heads.
  AttentionPlace(VectorBuilder &code, const AttentionShape &shape,
                 const AttentionOperands &operands, mlir::Value matrix);
  /// Moves the start to row \p row of the head.
  void beginAt(VectorBuilder &code, mlir::Value row);

  /// The inputs of softmax: scores of row \p row, relative to the first one, at
  /// column \p ofBlock of the block of keys that starts at \p first.
  mlir::Value finishScores(VectorBuilder &code, mlir::Value first,
                           mlir::Value vector, mlir::Value row,
                           mlir::Value ofBlock) const;

  const AttentionShape &shape;
  /// Flat buffers.
  mlir::Value query, key, value, mask, result, scratch;
  /// The offsets of this task in each.
  mlir::Value queryBase, keyBase, valueBase, maskBase, resultBase;
  llvm::SmallVector<mlir::Value> heads;
  mlir::Value firstRow;
  /// The number of keys of a block, if scores beyond them are computed, too;
  /// else null.
  mlir::Value keyCount = {};

private:
  mlir::Value seenLanes(VectorBuilder &code, mlir::Value column,
                        mlir::VectorType type) const;
};

/// A constant scalar or splat.
mlir::Value splatNumber(VectorBuilder &code, mlir::Type type, double number);
// Single elements of flat buffers.
mlir::Value loadNumber(VectorBuilder &code, mlir::Value flat,
                       mlir::Value offset);
void storeNumber(VectorBuilder &code, mlir::Value number, mlir::Value flat,
                 mlir::Value offset);
/// The maximum; \p b where \p a is NaN.
mlir::Value greater(VectorBuilder &code, mlir::Value a, mlir::Value b);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_ATTENTION_ATTENTIONPLACE_H
