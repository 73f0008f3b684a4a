//===- IndexedWindows.h - what gather and scatter have in common ----------===//
//
// Both name windows of a tensor by rows of indices. Writers put numbers to the
// elements of these windows, one for each "listed" dimension, and take or
// replace what the other dimensions hold as a whole:
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
  /// The dimensions that indices name, in the order of the index vector.
  Ints mapped;
  /// The dimensions that indices walk along with, and the indices' own.
  Ints batching, indicesBatching;
  mlir::Value indices;
  int64_t vectorDim;
  bool clamps;
  /// What is indexed. Where a window's size is unknown, the tensor that has it,
  /// and which of its dimensions each one of the window is.
  mlir::Value tensor, window = {};
  Ints windowDims = {};
  /// Dimensions of which windows are known to hold all, though their size may
  /// be unknown.
  Ints whole = {};

  static IndexedWindows of(stablehlo::GatherOp op);
  /// Nothing where a window's size is computed.
  static std::optional<IndexedWindows> of(stablehlo::DynamicGatherOp op);
  /// Of a scatter of one tensor.
  static IndexedWindows of(stablehlo::ScatterOp op);

  /// Dimensions that need a number for each element: the mapped ones, the
  /// batching ones, and those of which a window is only a part.
  Ints listed() const;
  /// All dimensions, the listed ones first.
  Ints order() const;
  /// The indices' dimensions without the one of the vector.
  Ints batchDims() const;
  /// Whether a window holds all of dimension \p dim.
  bool isWhole(int64_t dim) const;
};

/// How dimensions get from one order to another: those that go (of one
/// element), then a permutation of the rest.
struct Rearrangement {
  llvm::SmallVector<int64_t> dropped, permutation;
};

/// From [batch..., dimensions in the order \p order] to the result of a gather.
Rearrangement toResult(stablehlo::GatherDimensionNumbersAttr numbers,
                       const IndexedWindows &windows,
                       llvm::ArrayRef<int64_t> order, int64_t resultRank);

/// From a scatter's updates to [batch..., dimensions in the order of
/// windows.order()]: permuted first, then with what is `dropped` put in.
Rearrangement fromUpdates(stablehlo::ScatterOp op,
                          const IndexedWindows &windows);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_INDEXEDWINDOWS_H
