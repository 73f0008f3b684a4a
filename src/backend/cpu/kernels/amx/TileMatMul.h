//===- TileMatMul.h - AMX matmuls -----------------------------------------===//
//
// C[m,n] = epilogue(sum over k of A[m,k] * B[k,n]), B a constant, by
// TileProduct: positions are rows of A. Where nobody knows how many rows there
// will be, they are tiles of 16, and their tasks are those of DynamicTileTasks.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_AMX_TILEMATMUL_H
#define SINTER_BACKEND_CPU_KERNELS_AMX_TILEMATMUL_H

#include "backend/cpu/kernels/amx/DynamicTileTasks.h"
#include "backend/cpu/kernels/amx/TileProduct.h"
#include "backend/cpu/kernels/gemm/MatMul.h"

#include <optional>

namespace sinter::cpu {

class TileMatMul {
public:
  /// Whether AMX kernels support operands of this layout.
  static bool supports(const MatMulShape &shape, const Target &target);

  TileMatMul(const MatMulShape &shape, const Target &target,
             const TileArithmetic &arithmetic, const TileTermsOf &parts = {});

  /// The layout of a split operand; the producer sets the rest.
  std::optional<TileTerms> operandTerms() const;
  /// The layout of a split result.
  std::optional<TileTerms> resultTerms() const;

  int64_t tasks() const { return dynamic ? 1 : cut.tasks(); }
  /// Of dynamic rows: what their number is the product of; else empty.
  std::vector<TaskExtent> taskExtents() const {
    return dynamic ? dynamic->taskExtents(shape.dynamicRows)
                   : std::vector<TaskExtent>();
  }
  /// The staging tasks that run before, if rows are staged for several tasks;
  /// else none.
  int64_t cutTasks() const;
  TileTermsGain gainByTerms(const Target &target) const;
  /// Whether unusual values are handled by a subroutine (TileVectors).
  bool hasSubroutines() const { return !arithmetic.isOfBytes(); }
  double flops() const { return 2.0 * shape.m * shape.n * shape.k; }
  /// Per thread; with cutTasks(), of the memory that all tasks share.
  int64_t scratchBytes() const {
    return parts.operand ? 0 : product.scratchBytes();
  }
  int64_t packedBytes() const { return product.packedBytes(); }
  /// Packs a matrix whose element [k,n] is at k * kStride + n * nStride.
  void pack(const void *b, int64_t kStride, int64_t nStride,
            void *packed) const {
    product.pack(b, nStride, kStride, 0, packed);
  }
  /// The estimated time of one thread for all tasks, without loading weights
  /// from beyond the cache.
  double seconds(const Target &target) const;

  /// Emits one task, as MatMul does, of the packed matrix. Scratch memory is
  /// bytes.
  void build(mlir::OpBuilder &builder, mlir::Location location,
             mlir::Value task, const MatMulRequest &request) const;

  /// Emits one of the staging tasks.
  void buildCut(mlir::OpBuilder &builder, mlir::Location location,
                mlir::Value task, mlir::Value a, mlir::Value scratch) const;

private:
  /// The time to stage rows.
  double stageSeconds(const Target &target) const;
  TileProduct productOf(int64_t positions, int64_t cutPositions = 0) const;
  TileTasks cutFor(const Target &target) const;
  /// Whether all rows are staged before any task runs.
  bool findsRows() const { return parts.operand || cut.isShared; }
  DynamicTileTasks dynamicTasksFor(const Target &target) const;
  struct Part;
  TileTerms partsOf(int64_t columns) const;
  void buildPart(VectorBuilder &code, const Part &part,
                 const MatMulRequest &request) const;
  int64_t scratchRows() const;
  /// Stages the rows from \p firstPosition on.
  mlir::Value stageRows(VectorBuilder &code, mlir::Value a,
                        mlir::Value firstRow, mlir::Value endRow,
                        mlir::Value firstPosition, mlir::Value carried,
                        TileProduct::Put put) const;

  MatMulShape shape;
  TileArithmetic arithmetic;
  TileTermsOf parts;
  int64_t tileRows; ///< The rows of each tile but the last,
  int64_t tiles;    ///< and the number of tiles.
  /// Of rows that are dynamic; `tiles` are an estimate then.
  std::optional<DynamicTileTasks> dynamic;
  TileTasks cut;   ///< For static rows, in pairs of tiles.
  int64_t cutRows; ///< Rows of a staging task; 0 without.
  TileProduct product;
};

/// One row of a block of \p arithmetic, as inputs of split(), from neighbours
/// in \p flat, of which \p valid exist; the others are zero.
llvm::SmallVector<mlir::Value> loadBlock(VectorBuilder &code, mlir::Value flat,
                                         mlir::Value offset, int64_t valid,
                                         const TileArithmetic &arithmetic);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_AMX_TILEMATMUL_H
