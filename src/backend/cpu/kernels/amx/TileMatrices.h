//===- TileMatrices.h - AMX matmuls of two activations --------------------===//
//
// C[m,n] = epilogue(sum over k of A[m,k] * B[k,n]) for any batch, where neither
// is a constant (TileOperands). A task computes some rows and some panels of
// columns of one matrix of the batch: it stages its rows once, and each of its
// panels once for all of them.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_AMX_TILEMATRICES_H
#define SINTER_BACKEND_CPU_KERNELS_AMX_TILEMATRICES_H

#include "backend/cpu/kernels/amx/TileOperands.h"
#include "backend/cpu/kernels/amx/TileTasks.h"
#include "backend/cpu/kernels/gemm/MatMul.h"

namespace sinter::cpu {

class TileMatrices {
public:
  /// Whether tiles take operands that lie so, of known sizes.
  static bool supports(const MatMulShape &shape, const Target &target);

  TileMatrices(const MatMulShape &shape, const Target &target,
               const TileArithmetic &arithmetic);

  int64_t tasks() const { return matrices() * cut.tasks(); }
  /// The bytes of each thread's scratch memory, of f32.
  int64_t scratchBytes() const { return lines * tileRowBytes; }
  /// The estimated time of one thread for all tasks.
  double seconds(const Target &target) const;

  /// The bytes of B.
  double readBytes() const {
    return double(shape.n) * double(shape.k) * double(byteSize(arithmetic.rhs));
  }

  /// Emits one task; as for MatMul, but int8 operands keep their signedness.
  void build(mlir::OpBuilder &builder, mlir::Location location,
             mlir::Value task, mlir::Value a, mlir::Value b, mlir::Value c,
             mlir::Value scratch, const MatMulEpilogue &epilogue,
             const MatMulZeros &zeros = {}) const;

private:
  struct Emission;
  static constexpr int64_t groupTiles = TileRegisters::groupTiles,
                           panelTiles = TileRegisters::panelTiles,
                           panelColumns = TileRegisters::panelColumns;
  int64_t matrices() const;
  int64_t panels() const;
  TileTasks cutFor(const Target &target) const;
  double packSeconds(const Target &target) const;
  double stageSeconds(int64_t units, const Target &target) const;
  double productSeconds(const Target &target) const;
  mlir::Value originsOf(Emission &e, mlir::Value task) const;
  double movedBytes(int64_t parts, bool isTransposed) const;
  void buildPanel(Emission &e, const TilePanel &panel, int64_t valid) const;
  llvm::SmallVector<mlir::Value> columnSums(Emission &e,
                                            const TilePanel &panel) const;

  MatMulShape shape;
  TileArithmetic arithmetic;
  Arithmetic dot;   ///< Sums the int8 of 32-bit lanes.
  int64_t tileRows; ///< The rows of each tile but the last,
  int64_t tiles;    ///< and the number of tiles.
  TileTasks cut;    ///< In pairs of tiles.
  TileRows rows;    ///< Offsets of a task's rows in scratch memory,
  TileColumns columns;
  int64_t spare, lines; ///< of free memory and of its end, in lines.
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_AMX_TILEMATRICES_H
