// Gathers and scatters by index tuples.

#include "formats/import/Indexing.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::formats {

static Ints dimensionsFrom(int64_t begin, int64_t end) {
  return llvm::to_vector(llvm::seq(begin, std::max(begin, end)));
}

/// Tuples of indices into the dimensions from \p first on, as i64 with negative
/// ones resolved; each tuple is a row of the last dimension.
static Value wrapTuples(GraphBuilder &builder, Value indices, Value data,
                        int64_t first, int64_t length) {
  indices = builder.cast(indices, builder.i64());
  if (auto known = builder.knownIntegers(indices)) {
    if (llvm::all_of(*known, [](int64_t index) { return index >= 0; }))
      return indices;
    ArrayRef<int64_t> bounds = builder.shape(data).slice(first, length);
    if (!ShapedType::isDynamicShape(bounds)) {
      for (auto [i, index] : llvm::enumerate(*known))
        index += index < 0 ? bounds[i % length] : 0;
      return integersLike(builder, *known, indices);
    }
  }
  Dims sizes;
  for (int64_t i = first; i < first + length; ++i)
    sizes.push_back(builder.dim(data, i));
  Value negative = builder.compare(indices, builder.scalar(builder.i64(), 0),
                                   ComparisonDirection::LT);
  Value shifted =
      builder.binary<stablehlo::AddOp>(indices, builder.extents(sizes));
  return builder.op<stablehlo::SelectOp>(negative, shifted, indices);
}

/// The length of the tuples in the last dimension of \p indices, which index
/// the dimensions of \p data from \p first on.
static std::optional<int64_t> tupleLength(GraphBuilder &builder, Value indices,
                                          Value data, int64_t first) {
  int64_t available = builder.rank(data) - first;
  if (builder.rank(indices) < 1)
    return builder.fail("the indices are a scalar");
  int64_t length = builder.size(indices, -1);
  if (ShapedType::isDynamic(length))
    return builder.unknown("the last dimension of the indices is unknown");
  if (length < 1 || length > available)
    return builder.fail("the indices have " + Twine(length) +
                        " elements each, for " + Twine(available) +
                        " dimensions");
  for (int64_t i = 0; i < length; ++i)
    if (!indicesFit(builder, indices, data, first + i, i, length))
      return std::nullopt;
  return length;
}

Value gatherTuples(GraphBuilder &builder, Value data, Value indices,
                   int64_t batch) {
  const int64_t rank = builder.rank(data), indexRank = builder.rank(indices);
  auto length = tupleLength(builder, indices, data, batch);
  if (!length)
    return {};
  int64_t whole = batch + *length;
  Ints sizes(rank, 1);
  for (int64_t i = whole; i < rank; ++i) {
    sizes[i] = builder.size(data, i);
    if (ShapedType::isDynamic(sizes[i]) && !builder.expandsUnknown())
      return builder.unknown("dimension " + Twine(i) +
                             " of the data is unknown");
  }
  auto numbers = stablehlo::GatherDimensionNumbersAttr::get(
      builder.context(), /*offsetDims=*/
      dimensionsFrom(indexRank - 1, indexRank - 1 + rank - whole),
      /*collapsedSliceDims=*/dimensionsFrom(batch, whole),
      /*operandBatchingDims=*/dimensionsFrom(0, batch),
      /*startIndicesBatchingDims=*/dimensionsFrom(0, batch),
      /*startIndexMap=*/dimensionsFrom(batch, whole),
      /*indexVectorDim=*/indexRank - 1);
  if (ShapedType::isDynamicShape(sizes)) {
    Dims taken(rank, Dim(1));
    for (int64_t i = whole; i < rank; ++i)
      taken[i] = builder.dim(data, i);
    Ints shape(builder.shape(indices).drop_back());
    llvm::append_range(shape, builder.shape(data).drop_front(whole));
    return builder.typed<stablehlo::DynamicGatherOp>(
        builder.tensorType(shape, builder.element(data)), data,
        wrapTuples(builder, indices, data, batch, *length),
        builder.extents(taken), numbers, /*indices_are_sorted=*/false);
  }
  return builder.op<stablehlo::GatherOp>(
      data, wrapTuples(builder, indices, data, batch, *length), numbers,
      ArrayRef<int64_t>(sizes));
}

Value scatterTuples(GraphBuilder &builder, Value data, Value indices,
                    Value updates, Combine combine) {
  int64_t rank = builder.rank(data), indexRank = builder.rank(indices);
  auto length = tupleLength(builder, indices, data, 0);
  if (!length)
    return {};
  if (builder.rank(updates) != indexRank - 1 + rank - *length)
    return builder.fail("the updates have another rank than what they replace");
  for (int64_t i = 0; i < builder.rank(updates); ++i)
    requireSize(builder, {updates, i, "updates"},
                i < indexRank - 1
                    ? OperandDim{indices, i, "indices"}
                    : OperandDim{data, i - indexRank + 1 + *length, "data"});
  auto numbers = stablehlo::ScatterDimensionNumbersAttr::get(
      builder.context(), /*updateWindowDims=*/
      dimensionsFrom(indexRank - 1, indexRank - 1 + rank - *length),
      /*insertedWindowDims=*/dimensionsFrom(0, *length),
      /*inputBatchingDims=*/{},
      /*scatterIndicesBatchingDims=*/{},
      /*scatterDimsToOperandDims=*/dimensionsFrom(0, *length),
      /*indexVectorDim=*/indexRank - 1);
  return scatter(builder, data, wrapTuples(builder, indices, data, 0, *length),
                 updates, numbers, combine);
}

Value scatterAlong(GraphBuilder &builder, Value data, Value indices,
                   Value updates, int64_t axis, Combine combine) {
  const int64_t rank = builder.rank(data);
  for (int64_t i = 0; i < rank; ++i) {
    requireSize(builder, {updates, i, "updates"}, {indices, i, "indices"});
    if (i != axis)
      requireSize(builder, {indices, i, "indices"}, {data, i, "data"},
                  ComparisonDirection::LE);
  }
  Value wrapped = wrapNegative(builder, indices, builder.dim(data, axis));
  // An element keeps its own coordinates, except along the axis.
  Values coordinates;
  Dims sizes = builder.dims(indices);
  for (int64_t i = 0; i < rank; ++i)
    coordinates.push_back(builder.unsqueeze(
        i == axis ? wrapped : iota(builder, sizes, i, builder.i64()), {rank}));
  auto numbers = stablehlo::ScatterDimensionNumbersAttr::get(
      builder.context(), /*updateWindowDims=*/{},
      /*insertedWindowDims=*/dimensionsFrom(0, rank), /*inputBatchingDims=*/{},
      /*scatterIndicesBatchingDims=*/{},
      /*scatterDimsToOperandDims=*/dimensionsFrom(0, rank),
      /*indexVectorDim=*/rank);
  return scatter(builder, data, builder.concatenate(coordinates, rank), updates,
                 numbers, combine);
}

} // namespace sinter::formats
