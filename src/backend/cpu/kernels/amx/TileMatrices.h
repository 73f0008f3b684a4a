//===- TileMatrices.h - AMX matmuls of two activations --------------------===//
//
// C[m,n] = epilogue(sum over k of A[m,k] * B[k,n]) for any batch, where neither
// is a constant (TileOperands). A task stages its rows once, and each of its
// panels of columns once for all of them. Accumulators are the same, whatever
// is known of sizes.
//
// For static sizes a task is some rows and some panels of one matrix, as costs
// least (TileTasks).
//
// For dynamic sizes (TileMatrixBlocks.cpp) a task is a block of 64 rows by 256
// columns, as on vectors. Where there are many, one takes its neighbours'
// blocks, too, which have nothing to do then, so that rows are staged for more
// columns and columns for more rows: as many as the cache holds and eight tasks
// are left for. The depth is split into pieces of one length, except for the
// last. A piece of all rows stays in the cache; between pieces, accumulators
// are in scratch memory, which has room for those of all columns of a task.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_AMX_TILEMATRICES_H
#define SINTER_BACKEND_CPU_KERNELS_AMX_TILEMATRICES_H

#include "backend/cpu/kernels/amx/TileOperands.h"
#include "backend/cpu/kernels/amx/TileTasks.h"
#include "backend/cpu/kernels/gemm/MatMul.h"

namespace sinter::cpu {

struct TileMatrixTask;

class TileMatrices {
public:
  /// Whether AMX kernels support operands of this layout.
  static bool supports(const MatMulShape &shape, const Target &target);

  TileMatrices(const MatMulShape &shape, const Target &target,
               const TileArithmetic &arithmetic);

  // Of static sizes.
  int64_t tasks() const { return matrices() * cut.tasks(); }
  /// The estimated time of one thread for all tasks.
  double seconds(const Target &target) const;
  /// The bytes of B.
  double readBytes() const {
    return double(shape.n) * double(shape.k) * double(byteSize(arithmetic.rhs));
  }

  /// The bytes of each thread's scratch memory, of f32.
  int64_t scratchBytes() const { return lines * tileRowBytes; }

  /// The registers that build() uses.
  TileRegisters registersIn(VectorBuilder &code) const {
    return {code, tileRows, arithmetic};
  }
  /// Emits one task, as MatMul does; int8 operands keep their signedness, and
  /// zero points are those of the original values.
  void build(VectorBuilder &code, TileRegisters &registers, mlir::Value task,
             const MatMulRequest &request) const;

private:
  static constexpr int64_t lanes = 16, groupTiles = TileRegisters::groupTiles,
                           panelColumns = TileRegisters::panelColumns,
                           pairRows = groupTiles * mostTileRows;
  int64_t reserve(int64_t count) { return (lines += count) - count; }

  // Static sizes.
  void planTasks(const Target &target);
  int64_t matrices() const;
  int64_t panels() const;
  TileTasks cutFor(const Target &target) const;
  double packSeconds(const Target &target) const;
  double stageSeconds(int64_t units, const Target &target) const;
  double productSeconds(const Target &target) const;
  double movedBytes(int64_t parts, bool isTransposed) const;
  void buildTask(TileMatrixTask &e, mlir::Value task) const;
  void buildPanel(TileMatrixTask &e, const TilePanel &panel,
                  int64_t valid) const;
  llvm::SmallVector<mlir::Value> columnSums(TileMatrixTask &e,
                                            const TilePanel &panel) const;

  // Dynamic sizes.
  void planBlocks(const Target &target);
  /// The blocks that a task takes.
  struct Blocks {
    int64_t rows, columns;
  };
  static std::vector<Blocks> blocksFor(int64_t mostRows, int64_t most);
  bool isOnePiece() const { return pieces == 1; }
  int64_t panelTiles() const;
  std::pair<mlir::Value, mlir::Value>
  blocksOfTask(TileMatrixTask &e, const MatMulShape::Block &own) const;
  void buildBlocks(TileMatrixTask &e, mlir::Value task) const;
  void buildPieces(TileMatrixTask &e) const;
  void buildPiece(TileMatrixTask &e, mlir::Value start,
                  const TilePiece &piece) const;
  void buildPanel(TileMatrixTask &e, const TileMatrix &b, mlir::Value number,
                  const TilePiece &piece) const;
  void keepMagnitude(TileMatrixTask &e, TilePanel &panel, mlir::Value number,
                     mlir::Value magnitude, const TilePiece &piece) const;
  void sumColumns(TileMatrixTask &e, const TileMatrix &b,
                  const TilePanel &panel, mlir::Value number,
                  const TilePiece &piece) const;
  void finish(TileMatrixTask &e, const TilePanel &panel, mlir::Value number,
              mlir::Value first) const;
  void finishRow(TileMatrixTask &e, const TilePanel &panel,
                 mlir::Value ofColumns, mlir::Value row,
                 mlir::Value place) const;
  void finishRest(TileMatrixTask &e, const TilePanel &panel, mlir::Value c,
                  mlir::Value left, mlir::Value row, mlir::Value sums) const;
  void store(TileMatrixTask &e, mlir::Value row, mlir::Value column,
             mlir::Value sums) const;

  MatMulShape shape;
  TileArithmetic arithmetic;
  Arithmetic dot;      ///< Sums the int8 of 32-bit lanes.
  int64_t tileRows;    ///< The rows of each tile but the last.
  TileRows rows;       ///< Offsets in scratch memory, in lines: of rows,
  TileColumns columns; ///< of a panel,
  int64_t spare = 0;   ///< of free memory,
  int64_t lines = 0;   ///< and of its end.
  // Static sizes.
  int64_t tiles = 0; ///< Of rows.
  TileTasks cut;     ///< In pairs of tiles.
  // Dynamic sizes.
  int64_t pieces = 0;         ///< Of the depth; 0 if that is dynamic.
  int64_t pieceDepth = 0;     ///< Of each but the last.
  std::vector<Blocks> blocks; ///< Choices per task, the fewest first.
  int64_t magnitudes = 0;     ///< The lines of one magnitude per panel,
  int64_t byteSums = 0;       ///< of column sums, a line per tile,
  int64_t waiting = 0; ///< of accumulators, by panels and pairs of tiles.
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_AMX_TILEMATRICES_H
