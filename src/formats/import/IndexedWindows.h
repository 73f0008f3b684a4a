//===- IndexedWindows.h - what gather and scatter have in common ----------===//
//
// Both select windows of a tensor by rows of indices. Writers emit an index for
// each element of these windows in the "listed" dimensions, and take or replace
// the other dimensions as a whole:
//
//   gather   rows [batch..., listed windows..., listed]
//            result [batch..., listed windows..., other dimensions...]
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_IMPORT_INDEXEDWINDOWS_H
#define SINTER_FORMATS_IMPORT_INDEXEDWINDOWS_H

#include "graph/stablehlo/StablehloOps.h"
#include "llvm/ADT/SmallVector.h"

namespace sinter::formats {

struct IndexedWindows {
  using Ints = llvm::SmallVector<int64_t>;

  /// The indexed tensor's shape, and a window's size in each of its dimensions.
  Ints shape, sizes;
  /// The dimensions that the index vector addresses, in its order.
  Ints mapped;
  /// The operand's batching dimensions, and the corresponding ones of the
  /// indices.
  Ints batching, indicesBatching;
  mlir::Value indices;
  int64_t vectorDim;
  bool clamps;
  /// The indexed tensor. If a window's size is dynamic: the tensor that has it,
  /// and the dimension of that tensor for each dimension of the window.
  mlir::Value tensor, window = {};
  Ints windowDims = {};
  /// Dimensions that windows are known to span entirely, though their size may
  /// be dynamic.
  Ints whole = {};

  static IndexedWindows of(stablehlo::GatherOp op);
  /// Nothing if a window's size is computed.
  static std::optional<IndexedWindows> of(stablehlo::DynamicGatherOp op);
  /// For a scatter of one tensor.
  static IndexedWindows of(stablehlo::ScatterOp op);

  /// Dimensions that need an index for each element: the mapped ones, the
  /// batching ones, and those that a window does not span entirely.
  Ints listed() const;
  /// All dimensions, the listed ones first.
  Ints order() const;
  /// The indices' dimensions without the one of the vector.
  Ints batchDims() const;
  /// Whether a window holds all of dimension \p dim.
  bool isWhole(int64_t dim) const;
};

/// How to get from one order of dimensions to another: dropped dimensions (of
/// size 1), then a permutation of the rest.
struct Rearrangement {
  llvm::SmallVector<int64_t> dropped, permutation;
};

/// From [batch..., dimensions in the order \p order] to the result of a gather.
Rearrangement toResult(stablehlo::GatherDimensionNumbersAttr numbers,
                       const IndexedWindows &windows,
                       llvm::ArrayRef<int64_t> order, int64_t resultRank);

/// From a scatter's updates to [batch..., dimensions in the order of
/// windows.order()]: permuted first, then with the `dropped` dimensions
/// inserted.
Rearrangement fromUpdates(stablehlo::ScatterOp op,
                          const IndexedWindows &windows);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_INDEXEDWINDOWS_H
