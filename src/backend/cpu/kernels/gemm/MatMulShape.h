//===- MatMulShape.h - sizes and layouts of matmuls -----------------------===//
//
// A batch of matmuls, each of A [m, k] and B [k, n]. Sizes are static, or:
//
//   dynamicRows   only m is dynamic: B is a constant, or has static sizes
//   dynamic       any size may be dynamic, that of the batch, too
//   given...      the size is an argument of the code (MatMulRequest::extents);
//                 of matmuls inside of other kernels, whose sizes are computed
//
// Then m, n and k say what the tiling is chosen for.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_GEMM_MATMULSHAPE_H
#define SINTER_BACKEND_CPU_KERNELS_GEMM_MATMULSHAPE_H

#include "backend/cpu/kernels/common/IndexBuilder.h"
#include "backend/cpu/kernels/common/TaskExtent.h"
#include "runtime/ElementType.h"

#include <optional>
#include <vector>

namespace sinter::cpu {

/// The offsets of matrices in their buffers, in elements.
struct MatMulOrigin {
  mlir::Value a, b, c;
};

/// All strides are in elements.
struct MatMulShape {
  int64_t m = 0, n = 0, k = 0;
  /// If only m is dynamic: what it is the product of. Then m is an estimate; B
  /// is packed, or has contiguous rows.
  std::vector<Dim> dynamicRows;
  /// If any size may be dynamic. A task is a block of at most taskRows by
  /// taskColumns of one matrix: enough rows to pay for columns that are packed
  /// for them. B is not packed; where it is transposed, the depth is static.
  /// MatMulPlan sets m, n, k and what follows them to those of a block.
  struct DynamicSizes {
    std::vector<Dim> rows; ///< The number of rows is their product.
    Dim columns, depth;
  };
  std::optional<DynamicSizes> dynamic;
  static constexpr int64_t taskRows = 64, taskColumns = 256;

  /// Whether the numbers of rows, columns or steps of the reduction are
  /// arguments (MatMulExtents); m, n and k are upper bounds of these.
  bool givenRows = false, givenColumns = false, givenDepth = false;
  /// With givenColumns: whether what is beyond them is neither read nor
  /// written. B is no constant then.
  bool clipsColumns = false;

  /// A[m,k] is at m * aRowStride + k * aColumnStride; a transposed matrix has
  /// the column stride larger than the row stride.
  Dim aRowStride = 0, aColumnStride = 1;

  enum class BLayout {
    Packed, ///< A constant, packed by MatMul::pack; the same in all batches.
    Rows,   ///< B[k,n] is at k * bStride + n.
    CopiedRows, ///< The same; a task first copies its columns together.
    Transposed, ///< B[k,n] is at n * bStride + k.
  };
  BLayout bLayout = BLayout::Packed;
  Dim bStride = 0;
  /// For int8 activations: whether B has another signedness than the
  /// arithmetic's, so that packing flips its top bit.
  bool turnsB = false;
  bool isTransposed() const { return bLayout == BLayout::Transposed; }

  Dim cRowStride = 0; ///< C[m,n] is at m * cRowStride + n.
  /// Whether narrow columns are widened in each tile, however many rows there
  /// are.
  bool widensInTiles = false;
  /// Whether C has the accumulators' type, so that it can hold partial sums
  /// between stages.
  bool holdsSums = false;

  /// The quantisation of a packed B.
  struct Blocks {
    int64_t size = 0; ///< Along k; the last one may be smaller. 0: none.
    std::optional<ElementType> scale, zero; ///< Elements of these, if any.
    /// If blocks are along n, the columns of a block, whole vectors unless it
    /// is all of them; size is 1 then. 0: each column has its own.
    int64_t columns = 0;
  };
  Blocks blocks;
  int64_t blockCount() const {
    return blocks.size ? (k + blocks.size - 1) / blocks.size : 0;
  }
  /// The scales of a row of blocks.
  int64_t blockColumns() const {
    return blocks.columns ? (n + blocks.columns - 1) / blocks.columns : n;
  }

  /// Dimensions of the batch, outermost first, and the strides of the matrices
  /// in each; a stride of 0 broadcasts.
  struct BatchDim {
    Dim size;
    Distance aStride, bStride, cStride;
  };
  std::vector<BatchDim> batch;
  /// Moves \p origin to matrix \p number of the batch, and returns its index in
  /// each dimension.
  llvm::SmallVector<mlir::Value>
  toMatrix(IndexBuilder &code, mlir::Value number, MatMulOrigin &origin) const;

  /// Contiguous row-major A [m,k] and C [m,n], packed B.
  static MatMulShape dense(int64_t m, int64_t n, int64_t k);

  // Of dynamic sizes.
  /// What the number of tasks is the product of.
  std::vector<TaskExtent> taskExtents() const;
  struct Block {
    llvm::SmallVector<mlir::Value> batch; ///< The index of its matrix,
    MatMulOrigin origin;                  ///< and where that begins.
    mlir::Value matrices, rows, columns;  ///< How many there are.
    mlir::Value rowBlocks, columnBlocks;  ///< Of taskRows, of taskColumns.
    mlir::Value rowBlock, columnBlock;    ///< The task's own.
  };
  Block block(IndexBuilder &code, mlir::Value task) const;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_GEMM_MATMULSHAPE_H
