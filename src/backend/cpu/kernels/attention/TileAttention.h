//===- TileAttention.h - AMX attention ------------------------------------===//
//
// The same computation and order as Attention, with both matmuls on AMX
// (TileOperands). A task stages the rows of its queries once; keys and values
// are processed in blocks, each packed once per task. Scores go through scratch
// memory of the thread, where softmax computes the weights of a row and splits
// them for the second matmul.
//
// Weights are from 0 to 1, or NaN. Rows with NaN, and queries or blocks of keys
// or values that bf16 terms do not represent, are computed in f32, without
// effect on other rows. So a row of results depends only on its query, all keys
// and all values, not on the rows computed with it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_ATTENTION_TILEATTENTION_H
#define SINTER_BACKEND_CPU_KERNELS_ATTENTION_TILEATTENTION_H

#include "backend/cpu/kernels/amx/TileOperands.h"
#include "backend/cpu/kernels/attention/Attention.h"

namespace sinter::cpu {

/// The arithmetic of attention on AMX.
struct AttentionTiles {
  TileArithmetic scores, sums; ///< Of queries by keys, and weights by values.
  Precision precision;         ///< Their precision.

  /// All arithmetics that \p precision allows, the least exact first. Queries,
  /// keys and values may be known to hold types of fewer bits.
  struct Numbers {
    std::optional<ElementType> query, key, value;
  };
  static std::vector<AttentionTiles> allOf(Precision precision,
                                           const Numbers &numbers = {});
  /// "tiles-attention-split6", by the products of weights by values.
  llvm::StringRef name() const;
};

class TileAttention {
public:
  /// Whether AMX kernels support operands of this layout: contiguous along
  /// either dimension.
  static bool supports(const AttentionShape &shape, const Target &target);

  TileAttention(const AttentionShape &shape, const Target &target,
                const AttentionTiles &arithmetic);

  int64_t tasks() const;
  /// Where sizes are named: what they are the product of.
  std::vector<TaskExtent> taskExtents() const;
  /// The f32 elements of each thread's scratch buffer.
  int64_t scratchElements() const { return lines * tileRowBytes / 4; }
  /// What one thread should take for all tasks, of sizes that are known.
  double seconds(const Target &target) const;

  /// Emits one task, as Attention does.
  void build(mlir::OpBuilder &builder, mlir::Location location,
             mlir::Value task, const AttentionOperands &operands,
             Exponential exponential,
             const AttentionEpilogue &epilogue = {}) const;

private:
  struct Emission;
  void layOut(int64_t mostRows);
  TileFactors factorsOf(const TileRows &rows, const TileColumns &columns,
                        mlir::Value anyRow) const;
  void buildBlock(Emission &e, mlir::Value first) const;
  void buildScores(Emission &e, mlir::Value first) const;
  mlir::Value buildWeights(Emission &e, mlir::Value row) const;
  void buildSums(Emission &e, mlir::Value first, mlir::Value anyRow) const;
  void finishSums(Emission &e, mlir::Value row, mlir::Value column,
                  mlir::Value sums, int64_t valid) const;
  void storeResult(Emission &e, mlir::Value row, mlir::Value column,
                   mlir::Value vector, int64_t valid) const;
  void clearRows(Emission &e) const;
  void divideRows(Emission &e) const;

  bool isOneBlock() const { return keyBlock == shape.keys; }
  int64_t widthPadded() const { return (shape.width + 15) / 16 * 16; }
  /// Whether the last panel of a block of keys may have one tile.
  bool mayEndInTile() const;
  double productSeconds(const Target &target) const;

  AttentionShape shape;
  AttentionTiles arithmetic;
  int64_t tileRows;  ///< Rows of each tile of queries but the last.
  int64_t taskTiles; ///< Tiles of each task but the last.
  int64_t keyBlock;  ///< Keys of a block; the last may have fewer.
  // Offsets in lines: queries, keys, weights, values.
  TileRows queries, weights;
  TileColumns keys, values;
  // One value per row: the maximum score, the sum, and the correction factor of
  // accumulators; rows of scores, and of accumulators over several blocks.
  int64_t greatestAt, sumAt, factorAt, scoresAt, sumsAt, spare, lines;
  int64_t scoresRow; ///< The stride of rows of scores, in lines.
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_ATTENTION_TILEATTENTION_H
