//===- AttentionShape.h - what the generators of attention are given ------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_ATTENTIONSHAPE_H
#define SINTER_BACKEND_CPU_KERNELS_ATTENTIONSHAPE_H

#include "backend/cpu/kernels/TileParts.h"
#include "backend/cpu/kernels/Tiling.h"
#include "graph/NamedSizes.h"

#include <vector>

namespace sinter::cpu {

/// All strides count elements. The elements of a value, of a row of the result
/// and of the mask lie side by side, and those of a key or one of all keys.
struct AttentionShape {
  int64_t rows = 0, keys = 0;   ///< Lq, Lk; may be named.
  int64_t depth = 0, width = 0; ///< D, Dv
  int64_t queryRow = 0, queryColumn = 1;
  int64_t keyRow = 0, keyColumn = 1;
  int64_t valueRow = 0, resultRow = 0;
  bool isCausal = false;
  /// What is chosen stands for the score where it is not 0.
  enum class Mask { None, Added, Chosen } mask = Mask::None;
  Distance maskRow = 0; ///< 0: one row for all.
  double scale = 1;
  /// Something is computed of the results before they are stored.
  bool hasEpilogue = false;
  /// In which the result is stored, where it is: rows of resultRow columns,
  /// those of a head in whole blocks. There is no epilogue then.
  std::optional<TileParts> parts = {};

  /// A dimension of heads. `shared` heads of the query read one of the key's.
  struct Heads {
    int64_t size, shared; ///< The size may be named.
    Distance query, key, value, mask, result;
  };
  std::vector<Heads> heads;

  /// Heads in all.
  int64_t matrices() const;
  /// How the rows of each are cut into tasks.
  Partition rowBlocks() const;
  /// How many keys are computed at a time; the last ones may be fewer.
  int64_t keyBlock() const;
};

/// Where in the result a vector of elements belongs.
struct AttentionPosition {
  llvm::SmallVector<mlir::Value> heads; ///< One index a dimension of heads.
  mlir::Value row, column;              ///< Of the vector's first element.
  mlir::Value offset; ///< In elements from the start of the result.
};

/// Gets neighbours in one row; shorter than a register at the right edge.
using AttentionEpilogue = ResultEpilogue<AttentionPosition>;

/// Buffers; the mask is null if there is none.
struct AttentionOperands {
  mlir::Value query, key, value, mask, result, scratch;
};

/// Writes e^x, of a number or a vector.
using Exponential = llvm::function_ref<mlir::Value(
    mlir::OpBuilder &, mlir::Location, mlir::Value x)>;

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_ATTENTIONSHAPE_H
