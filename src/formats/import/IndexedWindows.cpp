#include "formats/import/IndexedWindows.h"

#include "graph/SizeSources.h"
#include "graph/Types.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter::formats {

using Ints = IndexedWindows::Ints;

/// The windows of a gather, without their sizes.
template <typename Op> static IndexedWindows windowsOf(Op op) {
  auto numbers = op.getDimensionNumbers();
  return {Ints(tensorOf(op.getOperand()).getShape()),
          {},
          Ints(numbers.getStartIndexMap()),
          Ints(numbers.getOperandBatchingDims()),
          Ints(numbers.getStartIndicesBatchingDims()),
          op.getStartIndices(),
          numbers.getIndexVectorDim(),
          /*clamps=*/true,
          op.getOperand()};
}

IndexedWindows IndexedWindows::of(stablehlo::GatherOp op) {
  IndexedWindows windows = windowsOf(op);
  windows.sizes = Ints(op.getSliceSizes());
  return windows;
}

std::optional<IndexedWindows>
IndexedWindows::of(stablehlo::DynamicGatherOp op) {
  IndexedWindows windows = windowsOf(op);
  const Value source = shapeSource(op.getOperand());
  const auto sizes = sourcesOfSizes(op.getSliceSizes());
  if (sizes.size() != windows.shape.size())
    return std::nullopt;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    const auto dim = static_cast<int64_t>(i);
    if (!size.known && (size.of != source || size.dimension != dim))
      return std::nullopt;
    if (!size.known)
      windows.whole.push_back(dim);
    windows.sizes.push_back(size.known ? *size.known : windows.shape[i]);
  }
  return windows;
}

IndexedWindows IndexedWindows::of(stablehlo::ScatterOp op) {
  auto numbers = op.getScatterDimensionNumbers();
  auto type = tensorOf(op.getInputs()[0]),
       updates = tensorOf(op.getUpdates()[0]);
  Ints sizes(type.getRank(), 1), updateDims(type.getRank(), 0);
  size_t next = 0;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (!llvm::is_contained(numbers.getInsertedWindowDims(), i) &&
        !llvm::is_contained(numbers.getInputBatchingDims(), i)) {
      updateDims[i] = numbers.getUpdateWindowDims()[next++];
      sizes[i] = updates.getDimSize(updateDims[i]);
    }
  return {Ints(type.getShape()),
          sizes,
          Ints(numbers.getScatterDimsToOperandDims()),
          Ints(numbers.getInputBatchingDims()),
          Ints(numbers.getScatterIndicesBatchingDims()),
          op.getScatterIndices(),
          numbers.getIndexVectorDim(),
          /*clamps=*/false,
          op.getInputs()[0],
          op.getUpdates()[0],
          updateDims};
}

bool IndexedWindows::isWhole(int64_t dim) const {
  return llvm::is_contained(whole, dim) ||
         (sizes[dim] == shape[dim] && !ShapedType::isDynamic(sizes[dim]));
}

Ints IndexedWindows::listed() const {
  Ints result(mapped);
  result.append(batching);
  for (int64_t dim = 0; dim < static_cast<int64_t>(sizes.size()); ++dim)
    if (!isWhole(dim) && !llvm::is_contained(result, dim))
      result.push_back(dim);
  return result;
}

Ints IndexedWindows::order() const {
  Ints result = listed();
  for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim)
    if (!llvm::is_contained(result, dim))
      result.push_back(dim);
  return result;
}

Ints IndexedWindows::batchDims() const {
  Ints result =
      llvm::to_vector(llvm::seq<int64_t>(0, tensorOf(indices).getRank()));
  llvm::erase(result, vectorDim);
  return result;
}

Rearrangement toResult(stablehlo::GatherDimensionNumbersAttr numbers,
                       const IndexedWindows &windows, ArrayRef<int64_t> order,
                       int64_t resultRank) {
  const size_t batchRank = windows.batchDims().size();
  Rearrangement result;
  Ints kept;
  for (auto [i, dim] : llvm::enumerate(order)) {
    if (llvm::is_contained(numbers.getCollapsedSliceDims(), dim) ||
        llvm::is_contained(windows.batching, dim))
      result.dropped.push_back(batchRank + i);
    else
      kept.push_back(dim);
  }
  // The windows' dimensions in the operand's order stand at offset_dims.
  Ints sorted(kept);
  llvm::sort(sorted);
  int64_t nextBatch = 0;
  for (int64_t i = 0; i < resultRank; ++i) {
    auto offset = llvm::find(numbers.getOffsetDims(), i);
    if (offset == numbers.getOffsetDims().end()) {
      result.permutation.push_back(nextBatch++);
      continue;
    }
    int64_t dim = sorted[offset - numbers.getOffsetDims().begin()];
    result.permutation.push_back(batchRank +
                                 (llvm::find(kept, dim) - kept.begin()));
  }
  return result;
}

Rearrangement fromUpdates(stablehlo::ScatterOp op,
                          const IndexedWindows &windows) {
  auto numbers = op.getScatterDimensionNumbers();
  const int64_t rank = tensorOf(op.getUpdates()[0]).getRank();
  const size_t batchRank = windows.batchDims().size();
  Rearrangement result;
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(numbers.getUpdateWindowDims(), i))
      result.permutation.push_back(i);
  for (auto [i, dim] : llvm::enumerate(windows.order())) {
    if (llvm::is_contained(numbers.getInsertedWindowDims(), dim) ||
        llvm::is_contained(numbers.getInputBatchingDims(), dim))
      result.dropped.push_back(batchRank + i);
    else
      result.permutation.push_back(windows.windowDims[dim]);
  }
  return result;
}

} // namespace sinter::formats
