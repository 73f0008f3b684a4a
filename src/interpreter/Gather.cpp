//===- Gather.cpp - gather and scatter ------------------------------------===//

#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Evaluation.h"
#include "interpreter/Numbers.h"
#include "interpreter/Strided.h"

#include <algorithm>
#include <unordered_set>

using namespace mlir;

namespace sinter::interpreter {

namespace {

/// A tensor of index vectors along one dimension (behind the last one: of
/// scalar indices).
class IndexVectors {
public:
  IndexVectors(const Tensor &indices, int64_t vectorDim)
      : values(integers(indices)), strides(rowMajorStrides(indices.shape())),
        vectorDim(vectorDim) {
    for (int64_t i = 0; i < indices.rank(); ++i)
      if (i != vectorDim)
        batchDims.push_back(i);
    const bool isUnsigned = indices.type() == ElementType::UI64;
    // What int64_t cannot hold lies behind the end of anything.
    for (int64_t &value : values)
      if (isUnsigned && value < 0)
        value = std::numeric_limits<int64_t>::max();
  }

  /// Component \p component of the vector at \p batch, an index into the other
  /// dimensions.
  int64_t at(ArrayRef<int64_t> batch, int64_t component) const {
    int64_t place = 0;
    if (vectorDim < static_cast<int64_t>(strides.size()))
      place = component * strides[vectorDim];
    for (auto [i, dimension] : llvm::enumerate(batchDims))
      place += batch[i] * strides[dimension];
    return values[place];
  }

  /// The place of dimension \p dimension of the indices in a batch index.
  int64_t batchPlace(int64_t dimension) const {
    return dimension - (dimension > vectorDim);
  }

private:
  std::vector<int64_t> values;
  std::vector<int64_t> strides;
  int64_t vectorDim;
  SmallVector<int64_t> batchDims;
};

} // namespace

/// The elements of \p all whose places are not in \p dropped.
static SmallVector<int64_t> without(ArrayRef<int64_t> all,
                                    ArrayRef<int64_t> dropped) {
  SmallVector<int64_t> kept;
  for (auto [i, value] : llvm::enumerate(all))
    if (!llvm::is_contained(dropped, static_cast<int64_t>(i)))
      kept.push_back(value);
  return kept;
}

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

static Result<Tensors> evaluateGather(const Call &call) {
  auto op = call.as<stablehlo::GatherOp>();
  auto numbers = op.getDimensionNumbers();
  const Tensor &operand = call[0], &starts = call[1];
  ArrayRef<int64_t> sizes = op.getSliceSizes();
  const int64_t vectorDim = numbers.getIndexVectorDim();
  if (vectorDim < starts.rank() &&
      starts.dim(vectorDim) !=
          static_cast<int64_t>(numbers.getStartIndexMap().size()))
    return invalidModel("start_index_map has not one element an index "
                        "component");
  for (int64_t d = 0; d < operand.rank(); ++d)
    if (sizes[d] > operand.dim(d))
      return invalidModel("a slice is larger than the operand");
  for (auto [o, i] : llvm::zip_equal(numbers.getOperandBatchingDims(),
                                     numbers.getStartIndicesBatchingDims()))
    if (operand.dim(o) != starts.dim(i))
      return invalidModel("batching dimensions differ in size");

  SmallVector<int64_t> dropped(numbers.getCollapsedSliceDims());
  llvm::append_range(dropped, numbers.getOperandBatchingDims());
  const auto box = without(sizes, dropped);
  const auto batchSizes = without(ArrayRef<int64_t>(starts.shape()), vectorDim);
  const std::vector<int64_t> strides = rowMajorStrides(operand.shape());
  Layout from{0, {}};
  for (int64_t stride : without(strides, dropped))
    from.strides.push_back(stride);

  // The result's dimensions are the slices' at offset_dims, else the indices'.
  Shape shape;
  SmallVector<int64_t> batchPlaces, offsetPlaces;
  const size_t rank = box.size() + batchSizes.size();
  for (size_t i = 0; i < rank; ++i) {
    const bool isOffset =
        llvm::is_contained(numbers.getOffsetDims(), static_cast<int64_t>(i));
    shape.push_back(isOffset ? box[offsetPlaces.size()]
                             : batchSizes[batchPlaces.size()]);
    (isOffset ? offsetPlaces : batchPlaces).push_back(i);
  }
  return produce(operand.type(), shape, [&](Tensor &result) {
    const IndexVectors indices(starts, vectorDim);
    const std::vector<int64_t> resultStrides = rowMajorStrides(shape);
    Layout to{0, {}};
    for (int64_t place : offsetPlaces)
      to.strides.push_back(resultStrides[place]);
    IndexCounter batch(batchSizes);
    const int64_t batches = elementCount(batchSizes).value_or(0);
    for (int64_t b = 0; b < batches; ++b, batch.next()) {
      from.offset = to.offset = 0;
      for (auto [i, dimension] : llvm::enumerate(numbers.getStartIndexMap()))
        from.offset +=
            strides[dimension] *
            std::clamp<int64_t>(indices.at(*batch, static_cast<int64_t>(i)), 0,
                                operand.dim(dimension) - sizes[dimension]);
      for (auto [dimension, indexDim] :
           llvm::zip_equal(numbers.getOperandBatchingDims(),
                           numbers.getStartIndicesBatchingDims()))
        from.offset += strides[dimension] * batch[indices.batchPlace(indexDim)];
      for (auto [i, place] : llvm::enumerate(batchPlaces))
        to.offset += batch[i] * resultStrides[place];
      copyBox(byteSize(operand.type()), box, result.mutableBytes(), to,
              operand.data(), from);
    }
  });
}

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

namespace {

/// Updates that wait for being combined into the results. They are done many at
/// once, but of each place in the order of their coming.
class PendingUpdates {
public:
  PendingUpdates(const ScalarFunction &body, Tensors &results,
                 ArrayRef<Tensor> updates)
      : body(body), results(results), updates(updates) {}

  /// Element \p update of the updates is for element \p place of the results.
  Result<void> add(int64_t place, int64_t update) {
    if (!taken.insert(place).second || places.size() >= limit) {
      if (Result<void> ok = flush(); !ok)
        return ok;
      taken.insert(place);
    }
    places.push_back(place);
    sources.push_back(update);
    return {};
  }

  Result<void> flush() {
    if (places.empty())
      return {};
    Tensors arguments;
    for (const Tensor &result : results)
      arguments.push_back(elementsAt(result, places));
    for (const Tensor &update : updates)
      arguments.push_back(elementsAt(update, sources));
    Result<Tensors> combined = body.apply(arguments);
    if (!combined)
      return combined.takeError();
    for (auto [result, values] : llvm::zip_equal(results, *combined)) {
      const size_t size = byteSize(result.type());
      for (size_t i = 0; i < places.size(); ++i)
        std::memcpy(result.mutableBytes() + places[i] * size,
                    values.data() + i * size, size);
    }
    places.clear();
    sources.clear();
    taken.clear();
    return {};
  }

private:
  static constexpr size_t limit = 1 << 16;

  static Tensor elementsAt(const Tensor &tensor, ArrayRef<int64_t> at) {
    Tensor result(tensor.type(), {static_cast<int64_t>(at.size())});
    const size_t size = byteSize(tensor.type());
    for (size_t i = 0; i < at.size(); ++i)
      std::memcpy(result.mutableBytes() + i * size,
                  tensor.data() + at[i] * size, size);
    return result;
  }

  const ScalarFunction &body;
  Tensors &results;
  ArrayRef<Tensor> updates;
  std::vector<int64_t> places, sources;
  std::unordered_set<int64_t> taken;
};

/// Where each element of the updates goes.
class ScatterPlaces {
public:
  ScatterPlaces(stablehlo::ScatterDimensionNumbersAttr numbers,
                const Shape &input, const Tensor &indices, int64_t updateRank)
      : numbers(numbers), input(input),
        indices(indices, numbers.getIndexVectorDim()),
        strides(rowMajorStrides(input)) {
    for (int64_t i = 0; i < updateRank; ++i)
      if (!llvm::is_contained(numbers.getUpdateWindowDims(), i))
        scatterDims.push_back(i);
    SmallVector<int64_t> inserted(numbers.getInsertedWindowDims());
    llvm::append_range(inserted, numbers.getInputBatchingDims());
    windowDims =
        without(llvm::to_vector(llvm::seq<int64_t>(0, int64_t(input.size()))),
                inserted);
  }

  /// The place in the input for the update at \p index; -1 if it lies outside.
  int64_t find(ArrayRef<int64_t> index) const {
    SmallVector<int64_t> batch;
    for (int64_t dimension : scatterDims)
      batch.push_back(index[dimension]);
    SmallVector<int64_t> place(input.size(), 0);
    for (auto [i, dimension] :
         llvm::enumerate(numbers.getScatterDimsToOperandDims()))
      place[dimension] = indices.at(batch, static_cast<int64_t>(i));
    for (auto [dimension, indexDim] :
         llvm::zip_equal(numbers.getInputBatchingDims(),
                         numbers.getScatterIndicesBatchingDims()))
      place[dimension] = batch[indices.batchPlace(indexDim)];
    int64_t flat = 0;
    for (auto [i, dimension] : llvm::enumerate(windowDims))
      if (__builtin_add_overflow(place[dimension],
                                 index[numbers.getUpdateWindowDims()[i]],
                                 &place[dimension]))
        return -1;
    for (size_t d = 0; d < input.size(); ++d) {
      if (place[d] < 0 || place[d] >= input[d])
        return -1;
      flat += place[d] * strides[d];
    }
    return flat;
  }

private:
  stablehlo::ScatterDimensionNumbersAttr numbers;
  const Shape &input;
  IndexVectors indices;
  std::vector<int64_t> strides;
  SmallVector<int64_t> scatterDims; ///< Of the updates.
  SmallVector<int64_t> windowDims;  ///< Of the input.
};

} // namespace

/// The updates' scatter dimensions are those of the indices.
static Result<void> checkScatter(stablehlo::ScatterDimensionNumbersAttr numbers,
                                 const Tensor &input, const Tensor &indices,
                                 const Tensor &update) {
  const int64_t vectorDim = numbers.getIndexVectorDim();
  SmallVector<int64_t> windowDims(numbers.getUpdateWindowDims());
  if (!llvm::is_sorted(windowDims))
    return invalidModel("update_window_dims are not in order");
  if (without(update.shape(), windowDims) !=
      without(indices.shape(), vectorDim))
    return invalidModel("the updates do not match the indices");
  if (vectorDim < indices.rank() &&
      indices.dim(vectorDim) !=
          static_cast<int64_t>(numbers.getScatterDimsToOperandDims().size()))
    return invalidModel("scatter_dims_to_operand_dims has not one element an "
                        "index component");
  return {};
}

static Result<Tensors> evaluateScatter(const Call &call) {
  auto op = call.as<stablehlo::ScatterOp>();
  ArrayRef<Tensor> inputs = call.slice(op.getInputs());
  ArrayRef<Tensor> updates = call.slice(op.getUpdates());
  const Tensor &indices = call[inputs.size()];
  auto numbers = op.getScatterDimensionNumbers();
  const Shape &shape = inputs.front().shape();
  const Shape &updateShape = updates.front().shape();
  for (auto [input, update] : llvm::zip_equal(inputs, updates))
    if (input.shape() != shape || update.shape() != updateShape)
      return invalidModel("inputs or updates differ in shape");
  if (Result<void> ok =
          checkScatter(numbers, inputs.front(), indices, updates.front());
      !ok)
    return ok.takeError();

  Tensors results;
  for (const Tensor &input : inputs) {
    Tensor copy(input.type(), shape);
    std::memcpy(copy.mutableBytes(), input.data(), input.bytes());
    results.push_back(std::move(copy));
  }
  const ScalarFunction body(op.getUpdateComputation(), call.scope);
  const ScatterPlaces places(numbers, shape, indices, updates.front().rank());
  PendingUpdates pending(body, results, updates);
  IndexCounter index(updateShape);
  for (int64_t i = 0; i < updates.front().size(); ++i, index.next()) {
    const int64_t place = places.find(*index);
    if (place < 0)
      continue;
    if (Result<void> ok = pending.add(place, i); !ok)
      return ok.takeError();
  }
  if (Result<void> ok = pending.flush(); !ok)
    return ok.takeError();
  return results;
}

void registerGather(Registry &registry) {
  registry.addMoving<stablehlo::GatherOp>(evaluateGather);
  registry.addMoving<stablehlo::ScatterOp>(evaluateScatter);
}

} // namespace sinter::interpreter
