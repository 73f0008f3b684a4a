//===- TileMatrices.h - products of two activations on matrix units -------===//
//
// C[m,n] = epilogue(sum over k of A[m,k] * B[k,n]) for any batch, where neither
// is a constant (TileOperands). A task takes some rows and some panels of
// columns of one matrix of the batch: it brings its rows together once, and
// each of its panels once for all of them.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_TILEMATRICES_H
#define SINTER_BACKEND_CPU_KERNELS_TILEMATRICES_H

#include "backend/cpu/kernels/MatMul.h"
#include "backend/cpu/kernels/TileCut.h"
#include "backend/cpu/kernels/TileOperands.h"

namespace sinter::cpu {

class TileMatrices {
public:
  /// Whether tiles take operands that lie so, of known sizes.
  static bool supports(const MatMulShape &shape, const Target &target);

  TileMatrices(const MatMulShape &shape, const Target &target,
               const TileArithmetic &arithmetic);

  int64_t tasks() const { return matrices() * cut.tasks(); }
  /// Bytes of scratch memory of each thread, which is of f32.
  int64_t scratchBytes() const { return lines * tileRowBytes; }
  /// What one thread should take for all tasks.
  double seconds(const Target &target) const;

  /// What is read of B, once.
  double readBytes() const {
    return double(shape.n) * double(shape.k) * double(byteSize(arithmetic.rhs));
  }

  /// Emits one task; all is as for MatMul, of bytes but for what turns them.
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
  TileCut cutFor(const Target &target) const;
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
  Arithmetic dot;   ///< What sums up the bytes of words.
  int64_t tileRows; ///< Of each tile but the last,
  int64_t tiles;    ///< and how many there are.
  TileCut cut;      ///< Into pairs of tiles.
  TileRows rows;    ///< Where a task's rows are in scratch memory,
  TileColumns columns;
  int64_t spare, lines; ///< what is free, and where it ends, in lines.
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_TILEMATRICES_H
