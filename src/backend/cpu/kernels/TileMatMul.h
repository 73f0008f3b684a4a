//===- TileMatMul.h - matrix products on matrix units ---------------------===//
//
// C[m,n] = epilogue(sum over k of A[m,k] * B[k,n]), B a constant, by
// TileProduct: positions are rows of A. Where nobody knows how many rows there
// will be, they are tiles of 16, and their tasks are those of OpenTileCut.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_TILEMATMUL_H
#define SINTER_BACKEND_CPU_KERNELS_TILEMATMUL_H

#include "backend/cpu/kernels/MatMul.h"
#include "backend/cpu/kernels/OpenTileCut.h"
#include "backend/cpu/kernels/TileProduct.h"

#include <optional>

namespace sinter::cpu {

class TileMatMul {
public:
  /// Whether tiles take operands that lie so.
  static bool supports(const MatMulShape &shape, const Target &target);

  TileMatMul(const MatMulShape &shape, const Target &target,
             const TileArithmetic &arithmetic, const TilePartsOf &parts = {});

  /// How rows would lie that it reads in parts; who stores them says the rest.
  std::optional<TileParts> operandParts() const;
  /// How it would store its results in parts.
  std::optional<TileParts> resultParts() const;

  int64_t tasks() const { return open ? 1 : cut.tasks(); }
  /// Of open rows: what their number is the product of; else empty.
  std::vector<TaskPart> taskParts() const {
    return open ? open->taskParts(shape.openRows) : std::vector<TaskPart>();
  }
  /// Those that have to be done before, where rows are brought together for
  /// several tasks; else none.
  int64_t cutTasks() const;
  TilePartsGain gainByParts(const Target &target) const;
  /// Whether unusual numbers have a subroutine (TileVectors).
  bool hasSubroutines() const { return !arithmetic.isOfBytes(); }
  double flops() const { return 2.0 * shape.m * shape.n * shape.k; }
  /// Of each thread; with cutTasks() of what all tasks share.
  int64_t scratchBytes() const {
    return parts.operand ? 0 : product.scratchBytes();
  }
  int64_t packedBytes() const { return product.packedBytes(); }
  /// Packs a matrix whose element [k,n] is at k * kStride + n * nStride.
  void pack(const void *b, int64_t kStride, int64_t nStride,
            void *packed) const {
    product.pack(b, nStride, kStride, 0, packed);
  }
  /// What one thread should take for all tasks, but for weights that come from
  /// beyond the cache.
  double seconds(const Target &target) const;

  /// Emits one task. \p scratch is of bytes, \p b what was packed; the others
  /// are as for MatMul.
  void build(mlir::OpBuilder &builder, mlir::Location location,
             mlir::Value task, mlir::Value a, mlir::Value b, mlir::Value c,
             mlir::Value scratch, const MatMulEpilogue &epilogue) const;

  /// Emits one of the tasks before.
  void buildCut(mlir::OpBuilder &builder, mlir::Location location,
                mlir::Value task, mlir::Value a, mlir::Value scratch) const;

private:
  /// Of bringing rows together.
  double stageSeconds(const Target &target) const;
  TileProduct productOf(int64_t positions, int64_t cutPositions = 0) const;
  TileCut cutFor(const Target &target) const;
  /// Whether all rows have their place before any task runs.
  bool findsRows() const { return parts.operand || cut.isShared; }
  OpenTileCut openCutFor(const Target &target) const;
  struct Part;
  TileParts partsOf(int64_t columns) const;
  void buildPart(VectorBuilder &code, const Part &part, mlir::Value a,
                 mlir::Value b, mlir::Value c, mlir::Value scratch,
                 const MatMulEpilogue &epilogue) const;
  int64_t scratchRows() const;
  /// Those of \p firstPosition on.
  mlir::Value stageRows(VectorBuilder &code, mlir::Value a,
                        mlir::Value firstRow, mlir::Value endRow,
                        mlir::Value firstPosition, mlir::Value carried,
                        TileProduct::Put put) const;

  MatMulShape shape;
  TileArithmetic arithmetic;
  TilePartsOf parts;
  int64_t tileRows; ///< Of each tile but the last,
  int64_t tiles;    ///< and how many there are.
  /// Of rows that are open; `tiles` are an estimate then.
  std::optional<OpenTileCut> open;
  TileCut cut;     ///< Of others, into pairs of tiles.
  int64_t cutRows; ///< Of a task before; 0 without.
  TileProduct product;
};

/// One row of a block of \p arithmetic, 64 bytes of parts or bytes, from
/// neighbours in \p flat of which \p valid are there; the others are zero.
llvm::SmallVector<mlir::Value> loadBlock(VectorBuilder &code, mlir::Value flat,
                                         mlir::Value offset, int64_t valid,
                                         const TileArithmetic &arithmetic);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_TILEMATMUL_H
