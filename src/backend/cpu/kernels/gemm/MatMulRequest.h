//===- MatMulRequest.h - what the code of a matmul's task is for ----------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_GEMM_MATMULREQUEST_H
#define SINTER_BACKEND_CPU_KERNELS_GEMM_MATMULREQUEST_H

#include "backend/cpu/kernels/gemm/MatMulShape.h"
#include "backend/cpu/kernels/gemm/Tiling.h"

namespace sinter::cpu {

/// The position of a vector of results in C.
struct MatMulPosition {
  llvm::SmallVector<mlir::Value> batch; ///< One index per batch dimension.
  mlir::Value row, column;              ///< Of the vector's first element.
  mlir::Value offset;                   ///< In elements from the start of C.
};

/// Receives neighbours in one row. The vector may be shorter than a register at
/// the right edge: use its type.
using MatMulEpilogue = ResultEpilogue<MatMulPosition>;

/// Scales and zero points of blocks, packed by MatMul::packNumbers; null where
/// there are none.
struct MatMulNumbers {
  mlir::Value scales, zeros;
};

/// The 32-bit zero points of int8 matmuls of two activations; null for 0. That
/// of B is for its elements after any change of signedness.
struct MatMulZeros {
  mlir::Value lhs, rhs;
};

/// The sizes that the shape says are given.
struct MatMulExtents {
  mlir::Value rows, columns, depth;
};

/// What one task multiplies. All but the buffers may be left out.
struct MatMulRequest {
  mlir::Value a, b, c;          ///< Contiguous memrefs of any rank.
  mlir::Value scratch = {};     ///< May be null if scratchElements() is 0.
  MatMulEpilogue epilogue = {}; ///< What is stored for sums; may be null.
  MatMulZeros zeros = {};
  MatMulNumbers numbers = {}; ///< If the shape has blocks.
  int64_t stage = 0;
  MatMulExtents extents = {};
  /// Where the first matrices begin, if not at the start of their buffers.
  std::optional<MatMulOrigin> origin = {};
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_GEMM_MATMULREQUEST_H
