//===- AttentionShape.h - parameters of the attention generators ----------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_ATTENTION_ATTENTIONSHAPE_H
#define SINTER_BACKEND_CPU_KERNELS_ATTENTION_ATTENTIONSHAPE_H

#include "backend/cpu/kernels/amx/TileTerms.h"
#include "backend/cpu/kernels/gemm/Tiling.h"

#include <vector>

namespace sinter::cpu {

/// All strides are in elements. Values, rows of the result and of the mask are
/// contiguous, and either each key or each column of the keys.
struct AttentionShape {
  Dim rows = 0, keys = 0;       ///< Lq, Lk
  int64_t depth = 0, width = 0; ///< D, Dv
  int64_t queryRow = 0, queryColumn = 1;
  int64_t keyRow = 0, keyColumn = 1;
  int64_t valueRow = 0, resultRow = 0;
  bool isCausal = false;
  /// A chosen mask replaces the score where it is not 0.
  enum class Mask { None, Added, Chosen } mask = Mask::None;
  Distance maskRow = 0; ///< 0: one row for all.
  double scale = 1;
  /// Whether results have an epilogue.
  bool hasEpilogue = false;
  /// The layout of a result that is stored split: rows of resultRow columns,
  /// with those of a head in whole blocks. There is no epilogue then.
  std::optional<TileTerms> parts = {};

  /// A dimension of heads. `shared` heads of the query use one of the key's.
  struct Heads {
    Dim size;
    int64_t shared;
    Distance query, key, value, mask, result;
  };
  std::vector<Heads> heads;

  /// The total number of heads.
  Dim matrices() const;
  /// The partition of each head's rows into tasks, of static sizes.
  Partition rowBlocks() const;
  /// The keys of a block; the last one may have fewer.
  int64_t keyBlock() const;
};

/// The position of a vector in the result.
struct AttentionPosition {
  llvm::SmallVector<mlir::Value> heads; ///< One index per dimension of heads.
  mlir::Value row, column;              ///< Of the vector's first element.
  mlir::Value offset; ///< In elements from the start of the result.
};

/// Receives neighbours in one row; shorter than a register at the right edge.
using AttentionEpilogue = ResultEpilogue<AttentionPosition>;

/// Buffers; the mask is null if there is none.
struct AttentionOperands {
  mlir::Value query, key, value, mask, result, scratch;
};

/// Builds e^x, of a scalar or a vector.
using Exponential = llvm::function_ref<mlir::Value(
    mlir::OpBuilder &, mlir::Location, mlir::Value x)>;

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_ATTENTION_ATTENTIONSHAPE_H
