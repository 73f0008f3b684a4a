//===- Gather.cpp - gather and scatter ------------------------------------===//

#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Evaluation.h"
#include "interpreter/Numbers.h"
#include "interpreter/ScalarFunction.h"
#include "interpreter/Strided.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace sinter::interpreter {

namespace {

/// A tensor of index vectors along one dimension; if that is behind the last
/// one, of scalar indices.
class IndexVectors {
public:
  IndexVectors(const Tensor &indices, int64_t vectorDim)
      : values(integers(indices)), strides(rowMajorStrides(indices.shape())),
        vectorDim(vectorDim) {
    for (int64_t i = 0; i < indices.rank(); ++i)
      if (i != vectorDim)
        batchDims.push_back(i);
    const bool isUnsigned = indices.type() == ElementType::UI64;
    // Indices that overflow int64_t are behind the end of any dimension.
    for (int64_t &value : values)
      if (isUnsigned && value < 0)
        value = std::numeric_limits<int64_t>::max();
  }

  /// Component \p component of the vector at \p batch, an index into the other
  /// dimensions.
  int64_t at(ArrayRef<int64_t> batch, int64_t component) const {
    int64_t offset = 0;
    if (vectorDim < static_cast<int64_t>(strides.size()))
      offset = component * strides[vectorDim];
    for (auto [i, dimension] : llvm::enumerate(batchDims))
      offset += batch[i] * strides[dimension];
    return values[offset];
  }

  /// The position of dimension \p dimension of the indices in a batch index.
  int64_t batchPosition(int64_t dimension) const {
    return dimension - (dimension > vectorDim);
  }

private:
  std::vector<int64_t> values;
  std::vector<int64_t> strides;
  int64_t vectorDim;
  SmallVector<int64_t> batchDims;
};

} // namespace

/// The elements of \p all whose indices are not in \p dropped.
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

static Result<Tensors> gather(stablehlo::GatherDimensionNumbersAttr numbers,
                              const Tensor &operand, const Tensor &starts,
                              ArrayRef<int64_t> sizes) {
  const int64_t vectorDim = numbers.getIndexVectorDim();
  if (vectorDim < starts.rank() &&
      starts.dim(vectorDim) !=
          static_cast<int64_t>(numbers.getStartIndexMap().size()))
    return invalidModel("start_index_map has not one element an index "
                        "component");
  if (static_cast<int64_t>(sizes.size()) != operand.rank())
    return invalidModel("slice_sizes has not one element a dimension");
  for (int64_t d = 0; d < operand.rank(); ++d)
    if (sizes[d] < 0 || sizes[d] > operand.dim(d))
      return invalidModel("a slice is larger than the operand");
  for (int64_t d : numbers.getCollapsedSliceDims())
    if (sizes[d] != 1)
      return invalidModel("a slice is not of size 1 where it is collapsed");
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
  SmallVector<int64_t> resultBatchDims, resultOffsetDims;
  const size_t rank = box.size() + batchSizes.size();
  for (size_t i = 0; i < rank; ++i) {
    const bool isOffset =
        llvm::is_contained(numbers.getOffsetDims(), static_cast<int64_t>(i));
    shape.push_back(isOffset ? box[resultOffsetDims.size()]
                             : batchSizes[resultBatchDims.size()]);
    (isOffset ? resultOffsetDims : resultBatchDims).push_back(i);
  }
  return produce(operand.type(), shape, [&](Tensor &result) {
    const IndexVectors indices(starts, vectorDim);
    const std::vector<int64_t> resultStrides = rowMajorStrides(shape);
    Layout to{0, {}};
    for (int64_t dimension : resultOffsetDims)
      to.strides.push_back(resultStrides[dimension]);
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
        from.offset +=
            strides[dimension] * batch[indices.batchPosition(indexDim)];
      for (auto [i, resultDim] : llvm::enumerate(resultBatchDims))
        to.offset += batch[i] * resultStrides[resultDim];
      copyBox(byteSize(operand.type()), box, result.mutableBytes(), to,
              operand.data(), from);
    }
  });
}

static Result<Tensors> evaluateGather(const Call &call) {
  auto op = call.as<stablehlo::GatherOp>();
  return gather(op.getDimensionNumbers(), call[0], call[1], op.getSliceSizes());
}

static Result<Tensors> evaluateDynamicGather(const Call &call) {
  auto op = call.as<stablehlo::DynamicGatherOp>();
  return gather(op.getDimensionNumbers(), call[0], call[1], integers(call[2]));
}

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

namespace {

/// Combines the window of each index vector into the results.
class Scatterer {
public:
  Scatterer(stablehlo::ScatterDimensionNumbersAttr numbers,
            const Tensor &indices, ScalarFunction &body, Tensors &results,
            ArrayRef<Tensor> updates)
      : numbers(numbers), indices(indices, numbers.getIndexVectorDim()),
        body(body), results(results), updates(updates),
        shape(results.front().shape()), strides(rowMajorStrides(shape)) {
    const Tensor &update = updates.front();
    const auto updateStrides = rowMajorStrides(update.shape());
    SmallVector<int64_t> inserted(numbers.getInsertedWindowDims());
    llvm::append_range(inserted, numbers.getInputBatchingDims());
    windowDims =
        without(llvm::to_vector(llvm::seq<int64_t>(0, shape.size())), inserted);
    for (int64_t i = 0; i < update.rank(); ++i) {
      const bool isWindow =
          llvm::is_contained(numbers.getUpdateWindowDims(), i);
      (isWindow ? windowSizes : batchSizes).push_back(update.dim(i));
      (isWindow ? windowStrides : batchStrides).push_back(updateStrides[i]);
    }
  }

  Result<void> run() {
    IndexCounter batch(batchSizes);
    const int64_t count = elementCount(batchSizes).value_or(0);
    for (int64_t i = 0; i < count; ++i, batch.next()) {
      int64_t source = 0;
      for (size_t d = 0; d < batchSizes.size(); ++d)
        source += batch[d] * batchStrides[d];
      if (Result<void> ok = combineWindow(*batch, source); !ok)
        return ok;
    }
    return {};
  }

private:
  /// The update window of one index vector, which begins at \p source. Elements
  /// outside of the results are skipped.
  Result<void> combineWindow(ArrayRef<int64_t> batch, int64_t source) {
    SmallVector<int64_t> start(shape.size(), 0);
    for (auto [i, dimension] :
         llvm::enumerate(numbers.getScatterDimsToOperandDims()))
      start[dimension] = indices.at(batch, static_cast<int64_t>(i));
    for (auto [dimension, indexDim] :
         llvm::zip_equal(numbers.getInputBatchingDims(),
                         numbers.getScatterIndicesBatchingDims()))
      start[dimension] = batch[indices.batchPosition(indexDim)];

    std::vector<int64_t> box;
    int64_t offset = 0;
    SmallVector<int64_t> steps;
    for (size_t d = 0, w = 0; d < shape.size(); ++d) {
      const bool isWindow =
          w < windowDims.size() && windowDims[w] == static_cast<int64_t>(d);
      const int64_t size = isWindow ? windowSizes[w] : 1;
      // No addition overflows: both ends are compared with values in range.
      const int64_t skipped =
          start[d] < 0 ? (start[d] <= -size ? size : -start[d]) : 0;
      if (start[d] >= shape[d] || skipped >= size)
        return {};
      const int64_t first = start[d] + skipped;
      const int64_t count = std::min(size - skipped, shape[d] - first);
      if (count <= 0)
        return {};
      offset += first * strides[d];
      if (!isWindow)
        continue;
      source += skipped * windowStrides[w];
      box.push_back(count);
      steps.push_back(strides[d]);
      ++w;
    }
    return combineBox(box, offset, steps, source);
  }

  Result<void> combineBox(std::vector<int64_t> box, int64_t offset,
                          ArrayRef<int64_t> steps, int64_t source) {
    // Along the last dimension many elements at once, if they are contiguous.
    int64_t row = 1;
    if (!box.empty() && steps.back() == 1 && windowStrides.back() == 1) {
      row = box.back();
      box.back() = 1;
    }
    IndexCounter index(box);
    const int64_t count = elementCount(box).value_or(0);
    for (int64_t i = 0; i < count; ++i, index.next()) {
      int64_t to = offset, from = source;
      for (size_t d = 0; d < box.size(); ++d) {
        to += index[d] * steps[d];
        from += index[d] * windowStrides[d];
      }
      SmallVector<const std::byte *, 4> arguments;
      SmallVector<std::byte *, 2> targets;
      for (Tensor &result : results)
        targets.push_back(elementsFrom(result, to));
      llvm::append_range(arguments, targets);
      for (const Tensor &update : updates)
        arguments.push_back(elementsFrom(update, from));
      if (Result<void> ok = body.run(row, arguments, targets); !ok)
        return ok;
    }
    return {};
  }

  stablehlo::ScatterDimensionNumbersAttr numbers;
  IndexVectors indices;
  ScalarFunction &body;
  Tensors &results;
  ArrayRef<Tensor> updates;
  const Shape shape;
  const std::vector<int64_t> strides;
  SmallVector<int64_t> windowDims; ///< Of the results.
  /// Sizes and strides of the updates' dimensions.
  std::vector<int64_t> windowSizes, windowStrides, batchSizes, batchStrides;
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
  const auto count = static_cast<unsigned>(op.getInputs().size());
  const Tensor &indices = call[count];
  auto numbers = op.getScatterDimensionNumbers();
  const Shape &shape = call[0].shape();
  for (auto [input, update] :
       llvm::zip_equal(call.slice(op.getInputs()), call.slice(op.getUpdates())))
    if (input.shape() != shape || update.shape() != call[count + 1].shape())
      return invalidModel("inputs or updates differ in shape");
  if (Result<void> ok =
          checkScatter(numbers, call[0], indices, call[count + 1]);
      !ok)
    return ok.takeError();

  Region &region = op.getUpdateComputation();
  Result<Tensors> inputs = promoted(call.slice(op.getInputs()),
                                    op.getInputs().getTypes(), region, 0);
  if (!inputs)
    return inputs;
  Result<Tensors> updates = promoted(call.slice(op.getUpdates()),
                                     op.getUpdates().getTypes(), region, count);
  if (!updates)
    return updates;
  Tensors results;
  for (unsigned i = 0; i < count; ++i) {
    Tensor input = std::exchange((*inputs)[i], Tensor());
    if (input.data() != call[i].data()) {
      results.push_back(std::move(input));
      continue;
    }
    // Not promoted: released, so that the operand's memory may have no other
    // user.
    input = Tensor();
    results.push_back(call.writable(i));
  }
  if (updates->front().size() == 0 || results.front().size() == 0)
    return results;
  ScalarFunction body(region, call.scope);
  if (Result<void> ok =
          Scatterer(numbers, indices, body, results, *updates).run();
      !ok)
    return ok.takeError();
  return results;
}

void registerGather(Registry &registry) {
  registry.add<stablehlo::GatherOp>(evaluateGather);
  registry.add<stablehlo::DynamicGatherOp>(evaluateDynamicGather);
  registry.add<stablehlo::ScatterOp>(evaluateScatter);
}

} // namespace sinter::interpreter
