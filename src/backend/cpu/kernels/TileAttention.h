//===- TileAttention.h - attention on matrix units ------------------------===//
//
// What Attention computes, in the same order, with both products by tiles
// (TileOperands). A task brings the rows of its queries together once; keys and
// values come a block after the other, each packed once a task. Scores go
// through scratch memory of the thread, where softmax makes weights of a row
// and cuts them into parts for the second product.
//
// Weights are numbers from 0 to 1, or NaN. A row that has one, a query or a
// block of keys or values with numbers that parts do not add up to has its sums
// computed in f32, and changes nothing beside it. What a row of results is thus
// follows from its query, all keys and all values, whatever rows are computed
// with it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_TILEATTENTION_H
#define SINTER_BACKEND_CPU_KERNELS_TILEATTENTION_H

#include "backend/cpu/kernels/Attention.h"
#include "backend/cpu/kernels/TileOperands.h"

namespace sinter::cpu {

/// What tiles multiply for attention.
struct AttentionTiles {
  TileArithmetic scores, sums; ///< Queries by keys, weights by values.
  Precision precision;         ///< That they have.

  /// All that \p precision allows, the least exact first. Queries, keys and
  /// values may be known to hold numbers of fewer bits.
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
  /// Whether tiles take operands that lie so: neighbours along either side.
  static bool supports(const AttentionShape &shape, const Target &target);

  TileAttention(const AttentionShape &shape, const Target &target,
                const AttentionTiles &arithmetic);

  int64_t tasks() const;
  /// Where sizes are named: what they are the product of.
  std::vector<TaskPart> taskParts() const;
  /// Elements of f32 of the scratch buffer that each thread needs.
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
  int64_t tileRows;  ///< Of each tile of queries but the last.
  int64_t taskTiles; ///< Of a task, but the last.
  int64_t keyBlock;  ///< Keys of a block; the last may have fewer.
  // Where what is, in lines: queries, keys, weights, values.
  TileRows queries, weights;
  TileColumns keys, values;
  // A number a row: the greatest score, the sum, and what corrects sums; rows
  // of scores, and of sums of several blocks.
  int64_t greatestAt, sumAt, factorAt, scoresAt, sumsAt, spare, lines;
  int64_t scoresRow; ///< How many lines rows of scores are apart.
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_TILEATTENTION_H
