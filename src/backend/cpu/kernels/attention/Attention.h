//===- Attention.h - generator of fused attention -------------------------===//
//
// O = softmax(Q . K^T * scale + mask) . V for any number of heads, one kernel
// per shape. A task computes some rows of Q; their scores are computed one
// block of keys after the other and never leave the cache. With several blocks,
// the running maximum and sum of each row correct the accumulators (Milakov,
// Gimelshein, "Online normalizer calculation for softmax", 2018; Dao et al.,
// "FlashAttention", 2022).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_ATTENTION_ATTENTION_H
#define SINTER_BACKEND_CPU_KERNELS_ATTENTION_ATTENTION_H

#include "backend/cpu/kernels/attention/AttentionShape.h"
#include "backend/cpu/kernels/common/TaskExtent.h"
#include "backend/cpu/kernels/gemm/MatMul.h"

namespace sinter::cpu {

class Attention {
public:
  /// All sizes are positive; elements are f32.
  Attention(const AttentionShape &shape, const Target &target,
            mlir::Type element);

  int64_t tasks() const { return matrices * rowBlocks.count; }
  /// Where sizes are named: what they are the product of.
  std::vector<TaskExtent> taskExtents() const;
  /// Arithmetic operations for an element of the result, and for each key if
  /// these are dynamic.
  double flopsPerElement() const;
  /// Of static rows and keys; 0 if they are dynamic.
  double flops() const;
  /// Elements of each thread's scratch buffer.
  int64_t scratchElements() const;

  /// Emits one task. \p epilogue may be null, and may return elements of
  /// another type than f32.
  void build(mlir::OpBuilder &builder, mlir::Location location,
             mlir::Value task, const AttentionOperands &operands,
             Exponential exponential,
             const AttentionEpilogue &epilogue = {}) const;

private:
  struct Block;
  void buildRows(VectorBuilder &code, const Block &block) const;
  void buildKeys(VectorBuilder &code, const Block &block, mlir::Value first,
                 int64_t count) const;
  void buildScores(VectorBuilder &code, const Block &block, mlir::Value first,
                   int64_t count) const;
  mlir::Value finishDynamicRow(VectorBuilder &code, const Block &block,
                               mlir::Value first, mlir::Value row,
                               mlir::Value base) const;
  void buildWeights(VectorBuilder &code, const Block &block, mlir::Value first,
                    mlir::Value row, int64_t count) const;
  void buildSums(VectorBuilder &code, const Block &block, mlir::Value first,
                 int64_t count) const;
  void clearRows(VectorBuilder &code, const Block &block) const;
  void divideRows(VectorBuilder &code, const Block &block) const;
  void storeTerms(VectorBuilder &code, const Block &block) const;
  void forRowVectors(
      VectorBuilder &code, const Block &block,
      llvm::function_ref<void(mlir::Value row, int64_t column, mlir::Value sums,
                              mlir::VectorType type)>
          body) const;
  mlir::Value finished(VectorBuilder &code, const Block &block,
                       mlir::Value vector, mlir::Value row, mlir::Value column,
                       mlir::Value offset) const;
  /// Whether accumulators are in scratch memory, not in the result, because the
  /// stored type differs.
  bool sumsApart() const {
    return (shape.hasEpilogue && !isOneBlock()) || shape.parts;
  }

  MatMul scoresOf(int64_t rows, int64_t count) const;
  MatMul weightedValues(int64_t rows, int64_t count) const;
  bool isOneBlock() const { return keyBlock == shape.keys; }
  /// Whether rows or keys are counted when the program runs.
  bool isDynamic() const {
    return shape.rows.isDynamic() || shape.keys.isDynamic();
  }
  void buildDynamicRows(VectorBuilder &code, const Block &block) const;
  /// Whether strided values are packed, because many rows use them.
  bool packsValues(int64_t rows) const;
  int64_t widthPadded() const;

  AttentionShape shape;
  Target target;
  mlir::VectorType vectorType;
  int64_t lanes;
  int64_t matrices = 1; ///< Heads in all.
  Partition rowBlocks;
  int64_t keyBlock;  ///< Keys of a block; the last may have fewer.
  int64_t scoresRow; ///< The stride of rows of scores.
  // The offsets of the regions of the scratch buffer.
  int64_t greatestAt, sumAt, factorAt, scoresAt, valuesAt, sumsAt, packedAt,
      scratchEnd;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_ATTENTION_ATTENTION_H
