//===- Attention.h - generator of fused attention -------------------------===//
//
// O = softmax(Q . K^T * scale + mask) . V for any number of heads, one exact
// shape a kernel. A task takes some rows of Q; their scores are computed a
// block of keys after the other and never leave the cache. Where there are
// several blocks, the running maximum and sum of each row correct what has been
// summed so far (Milakov, Gimelshein, "Online normalizer calculation for
// softmax", 2018; Dao et al., "FlashAttention", 2022).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_ATTENTION_H
#define SINTER_BACKEND_CPU_KERNELS_ATTENTION_H

#include "backend/cpu/kernels/AttentionShape.h"
#include "backend/cpu/kernels/MatMul.h"
#include "backend/cpu/kernels/TaskPart.h"

namespace sinter::cpu {

class Attention {
public:
  /// All sizes are positive; elements are f32.
  Attention(const AttentionShape &shape, const Target &target,
            mlir::Type element);

  int64_t tasks() const { return matrices * rowBlocks.count; }
  /// Where sizes are named: what they are the product of.
  std::vector<TaskPart> taskParts() const;
  /// Arithmetic operations for an element of the result, and for each key if
  /// these are open.
  double flopsPerElement() const;
  double flops() const;
  /// Elements of the scratch buffer that each thread needs.
  int64_t scratchElements() const;

  /// Emits one task. \p epilogue may be null, and may give elements of another
  /// type than f32.
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
  mlir::Value finishOpenRow(VectorBuilder &code, const Block &block,
                            mlir::Value first, mlir::Value row,
                            mlir::Value base) const;
  void buildWeights(VectorBuilder &code, const Block &block, mlir::Value first,
                    mlir::Value row, int64_t count) const;
  void buildSums(VectorBuilder &code, const Block &block, mlir::Value first,
                 int64_t count) const;
  void clearRows(VectorBuilder &code, const Block &block) const;
  void divideRows(VectorBuilder &code, const Block &block) const;
  void storeParts(VectorBuilder &code, const Block &block) const;
  void forRowVectors(
      VectorBuilder &code, const Block &block,
      llvm::function_ref<void(mlir::Value row, int64_t column, mlir::Value sums,
                              mlir::VectorType type)>
          body) const;
  mlir::Value finished(VectorBuilder &code, const Block &block,
                       mlir::Value vector, mlir::Value row, mlir::Value column,
                       mlir::Value offset) const;
  /// Sums wait in scratch memory, not in the result: what is stored is not
  /// they.
  bool sumsApart() const {
    return (shape.hasEpilogue && !isOneBlock()) || shape.parts;
  }

  MatMul scoresOf(int64_t rows, int64_t count) const;
  MatMul sumsOf(int64_t rows, int64_t count) const;
  bool isOneBlock() const { return keyBlock == shape.keys; }
  /// Whether rows or keys are counted when the program runs.
  bool isOpen() const { return isNamed(shape.rows) || isNamed(shape.keys); }
  void buildOpenRows(VectorBuilder &code, const Block &block) const;
  /// Values that lie apart are copied together, where many rows read them.
  bool packsValues(int64_t rows) const;
  int64_t widthPadded() const;

  AttentionShape shape;
  Target target;
  mlir::VectorType vectorType;
  int64_t lanes;
  int64_t matrices = 1; ///< Heads in all.
  Partition rowBlocks;
  int64_t keyBlock;  ///< Keys of a block; the last may have fewer.
  int64_t scoresRow; ///< How far rows of scores are apart.
  // Where the parts of the scratch buffer begin.
  int64_t greatestAt, sumAt, factorAt, scoresAt, valuesAt, sumsAt, packedAt,
      scratchEnd;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_ATTENTION_H
