//===- TileMatrixTask.h - the code of a task of TileMatrices --------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_AMX_TILEMATRIXTASK_H
#define SINTER_BACKEND_CPU_KERNELS_AMX_TILEMATRIXTASK_H

#include "backend/cpu/kernels/amx/TileOperands.h"
#include "backend/cpu/kernels/gemm/MatMulRequest.h"

namespace sinter::cpu {

struct TileMatrixTask {
  VectorBuilder &code;
  TileRegisters &registers;
  TileOperands operands;
  const MatMulRequest &request;
  mlir::Value scratch, c; ///< Flat.
  /// The task's matrix, its first row and column, and its columns.
  llvm::SmallVector<mlir::Value> batch = {};
  MatMulOrigin origin = {};
  mlir::Value firstRow = {}, firstColumn = {}, columns = {};
  TileFactors factors = {}; ///< The task's rows by all columns and depth.

  mlir::VectorType words() const {
    return mlir::VectorType::get({16}, code.builder.getI32Type());
  }
  mlir::VectorType floats() const {
    return mlir::VectorType::get({16}, code.builder.getF32Type());
  }

  /// Sets the matrices of the factors, but for the number of rows.
  /// \p depthUnit is a known divisor of the depth.
  void setMatrices(const MatMulShape &shape, mlir::Value columns,
                   mlir::Value depth, int64_t depthUnit) {
    const bool isTransposed = shape.isTransposed();
    factors.a = {code.flatten(request.a),
                 code.add(origin.a, code.mul(firstRow, shape.aRowStride)),
                 shape.aRowStride,
                 shape.aColumnStride,
                 {},
                 depth,
                 depthUnit};
    factors.b = {code.flatten(request.b),
                 origin.b,
                 isTransposed ? shape.bStride : Dim(1),
                 isTransposed ? Dim(1) : shape.bStride,
                 columns,
                 depth,
                 depthUnit};
  }

  /// Passes results of \p row of the task, from \p column on, to the epilogue,
  /// and stores them at \p offset.
  void store(mlir::Value row, mlir::Value column, mlir::Value offset,
             mlir::Value results) const {
    if (request.epilogue)
      results = request.epilogue(code.builder, code.loc, results,
                                 {batch, row, column, offset});
    code.store(results, c, offset);
  }
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_AMX_TILEMATRIXTASK_H
