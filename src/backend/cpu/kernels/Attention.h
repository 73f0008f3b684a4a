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

#include "backend/cpu/kernels/MatMul.h"
#include "backend/cpu/kernels/TaskPart.h"
#include "graph/NamedSizes.h"

#include <optional>

namespace sinter::cpu {

/// All strides count elements. The elements of a value, of a row of the result
/// and of the mask lie side by side, and those of a key or one of all keys.
struct AttentionShape {
  int64_t rows = 0, keys = 0;   ///< Lq, Lk; may be named.
  int64_t depth = 0, width = 0; ///< D, Dv
  int64_t queryRow = 0, queryColumn = 1;
  int64_t keyRow = 0, keyColumn = 1;
  int64_t valueRow = 0, resultRow = 0;
  bool isCausal = false;
  /// What is chosen stands for the score where it is not 0.
  enum class Mask { None, Added, Chosen } mask = Mask::None;
  Distance maskRow = 0; ///< 0: one row for all.
  double scale = 1;
  /// Something is computed of the results before they are stored.
  bool hasEpilogue = false;

  /// A dimension of heads. `shared` heads of the query read one of the key's.
  struct Heads {
    int64_t size, shared; ///< The size may be named.
    Distance query, key, value, mask, result;
  };
  std::vector<Heads> heads;

  /// Heads in all.
  int64_t matrices() const;
  /// How the rows of each are cut into tasks.
  Partition rowBlocks() const;
  /// How many keys are computed at a time; the last ones may be fewer.
  int64_t keyBlock() const;
};

/// Where in the result a vector of elements belongs.
struct AttentionPosition {
  llvm::SmallVector<mlir::Value> heads; ///< One index a dimension of heads.
  mlir::Value row, column;              ///< Of the vector's first element.
  mlir::Value offset; ///< In elements from the start of the result.
};

/// Gets neighbours in one row; shorter than a register at the right edge.
using AttentionEpilogue = ResultEpilogue<AttentionPosition>;

/// Buffers; the mask is null if there is none.
struct AttentionOperands {
  mlir::Value query, key, value, mask, result, scratch;
};

/// Writes e^x, of a number or a vector.
using Exponential = llvm::function_ref<mlir::Value(
    mlir::OpBuilder &, mlir::Location, mlir::Value x)>;

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
  void buildWeights(VectorBuilder &code, const Block &block, mlir::Value first,
                    mlir::Value row, int64_t count) const;
  void buildSums(VectorBuilder &code, const Block &block, mlir::Value first,
                 int64_t count) const;
  void clearRows(VectorBuilder &code, const Block &block) const;
  void divideRows(VectorBuilder &code, const Block &block) const;
  void forRowVectors(
      VectorBuilder &code, const Block &block,
      llvm::function_ref<void(mlir::Value row, int64_t column, mlir::Value sums,
                              mlir::VectorType type)>
          body) const;
  mlir::Value finished(VectorBuilder &code, const Block &block,
                       mlir::Value vector, mlir::Value row, mlir::Value column,
                       mlir::Value offset) const;
  /// Sums of several blocks of keys wait in scratch memory, not in the result.
  bool sumsApart() const { return shape.hasEpilogue && !isOneBlock(); }

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
