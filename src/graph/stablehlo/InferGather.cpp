// Shape inference for gather.

#include "graph/stablehlo/Verify.h"

using namespace mlir;

namespace sinter::stablehlo {

using Shape = SmallVector<int64_t>;

/// lhs followed by rhs.
static Shape concatenated(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
  Shape all(lhs);
  llvm::append_range(all, rhs);
  return all;
}

/// A message for the first constraint that the dimension numbers violate;
/// nothing if they satisfy all.
static std::optional<std::string>
brokenConstraint(RankedTensorType operand, RankedTensorType indices,
                 GatherDimensionNumbersAttr numbers,
                 std::optional<ArrayRef<int64_t>> sizes,
                 const GatherLabels &labels) {
  int64_t rank = operand.getRank(), indexRank = indices.getRank();
  int64_t vectorDim = numbers.getIndexVectorDim();
  ArrayRef<int64_t> offsets = numbers.getOffsetDims();
  ArrayRef<int64_t> collapsed = numbers.getCollapsedSliceDims();
  ArrayRef<int64_t> batching = numbers.getOperandBatchingDims();
  ArrayRef<int64_t> indexBatching = numbers.getStartIndicesBatchingDims();
  ArrayRef<int64_t> map = numbers.getStartIndexMap();
  auto broken = [](StringRef label, StringRef words) {
    return (label + " " + words).str();
  };
  if (rank !=
      static_cast<int64_t>(offsets.size() + collapsed.size() + batching.size()))
    return broken(labels.rank, "offset_dims, collapsed_slice_dims and "
                               "operand_batching_dims are not as many as the "
                               "operand's dimensions");
  if (vectorDim < 0 || vectorDim > indexRank)
    return broken(labels.vectorDim,
                  "index_vector_dim is not a dimension of start_indices");
  int64_t indexSize = vectorDim < indexRank ? indices.getDimSize(vectorDim) : 1;
  if (differ(indexSize, map.size()))
    return broken(labels.indexSize, "start_index_map has not one element an "
                                    "index component");
  if (!isUnique(offsets) || !isSorted(offsets))
    return broken(labels.offsetsSorted, "offset_dims are not in order");
  int64_t resultRank =
      indexRank - (vectorDim < indexRank ? 1 : 0) + offsets.size();
  if (!isWithin(offsets, resultRank))
    return broken(labels.offsetsWithin,
                  "offset_dims are not dimensions of the result");
  if (!isUnique(concatenated(collapsed, batching)))
    return broken(labels.collapsedUnique, "a dimension stands twice in "
                                          "collapsed_slice_dims and "
                                          "operand_batching_dims");
  if (!isSorted(collapsed))
    return broken(labels.collapsedSorted,
                  "collapsed_slice_dims are not in order");
  if (!isWithin(collapsed, rank))
    return broken(labels.collapsedWithin,
                  "collapsed_slice_dims are not dimensions of the operand");
  if (!isSorted(batching))
    return broken("(C10)", "operand_batching_dims are not in order");
  if (!isWithin(batching, rank))
    return broken("(C11)",
                  "operand_batching_dims are not dimensions of the operand");
  if (!isUnique(indexBatching))
    return broken("(C13)",
                  "a dimension stands twice in start_indices_batching_dims");
  if (!isWithin(indexBatching, indexRank))
    return broken("(C14)", "start_indices_batching_dims are not dimensions of "
                           "start_indices");
  if (llvm::is_contained(indexBatching, vectorDim))
    return broken("(C15)",
                  "index_vector_dim is one of start_indices_batching_dims");
  if (batching.size() != indexBatching.size())
    return broken("(C16)", "operand_batching_dims and "
                           "start_indices_batching_dims are not as many");
  for (auto [dimension, other] : llvm::zip_equal(batching, indexBatching))
    if (differ(operand.getDimSize(dimension), indices.getDimSize(other)))
      return broken("(C17)",
                    "operand and start_indices differ in a batching dimension");
  if (!isUnique(concatenated(map, batching)))
    return broken(labels.mapUnique,
                  "a dimension stands twice in "
                  "start_index_map and operand_batching_dims");
  if (!isWithin(map, rank))
    return broken(labels.mapWithin,
                  "start_index_map has no dimensions of the operand");
  if (!sizes)
    return std::nullopt;
  if (static_cast<int64_t>(sizes->size()) != rank)
    return broken(labels.sizesRank,
                  "slice_sizes has not one element a dimension of the operand");
  for (int64_t dimension : collapsed)
    if ((*sizes)[dimension] > 1)
      return broken(labels.collapsedSizes, "a slice size of a collapsed "
                                           "dimension is greater than 1");
  for (int64_t dimension : batching)
    if ((*sizes)[dimension] > 1)
      return broken("(C12)", "a slice size of a batching dimension is greater "
                             "than 1");
  for (auto [size, most] : llvm::zip_equal(*sizes, operand.getShape()))
    if (size < 0 || (!ShapedType::isDynamic(most) && size > most))
      return broken(labels.sizesFit,
                    "a slice size is negative or greater than the operand's");
  return std::nullopt;
}

std::optional<Dimensions> inferGather(std::optional<Location> location,
                                      RankedTensorType operand,
                                      RankedTensorType indices,
                                      GatherDimensionNumbersAttr numbers,
                                      std::optional<ArrayRef<int64_t>> sizes,
                                      const GatherLabels &labels) {
  if (auto words = brokenConstraint(operand, indices, numbers, sizes, labels)) {
    (void)emitOptionalError(location, *words);
    return std::nullopt;
  }
  Dimensions window, batch;
  for (int64_t i = 0; i < operand.getRank(); ++i)
    if (!llvm::is_contained(numbers.getCollapsedSliceDims(), i) &&
        !llvm::is_contained(numbers.getOperandBatchingDims(), i))
      window.push_back(sizes ? Dimension{(*sizes)[i]} : Dimension{});
  for (auto [i, dimension] : llvm::enumerate(dimensionsOf(indices)))
    if (static_cast<int64_t>(i) != numbers.getIndexVectorDim())
      batch.push_back(dimension);
  // By the constraints there are as many offset_dims as window sizes.
  Dimensions shape;
  auto nextWindow = window.begin();
  auto nextBatch = batch.begin();
  for (size_t i = 0; i < window.size() + batch.size(); ++i)
    shape.push_back(
        llvm::is_contained(numbers.getOffsetDims(), static_cast<int64_t>(i))
            ? *nextWindow++
            : *nextBatch++);
  return shape;
}

} // namespace sinter::stablehlo
