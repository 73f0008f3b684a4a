//===- Sort.cpp - sorting by a comparator ---------------------------------===//

#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Evaluation.h"
#include "interpreter/Strided.h"

#include <algorithm>
#include <numeric>

namespace sinter::interpreter {

namespace {

/// Sorts positions of one row by the comparator region, always stably.
class RowSorter {
public:
  RowSorter(const ScalarFunction &less, llvm::ArrayRef<Tensor> inputs)
      : less(less), inputs(inputs) {}

  /// Merge sort of the positions \p order by what stands at
  /// base + position * stride. The comparator may be no order at all: nothing
  /// is assumed of it. All merges of a level compare in step, so that the
  /// comparator runs on many pairs at once.
  Result<void> sort(std::vector<int64_t> &order, int64_t base, int64_t stride);

private:
  /// One merge of two neighbouring sorted runs.
  struct Merge {
    int64_t left, leftEnd, right, rightEnd;
    bool isRunning() const { return left < leftEnd && right < rightEnd; }
  };

  /// For each merge, whether its right element comes before its left one.
  Result<std::vector<uint8_t>> compare(llvm::ArrayRef<Merge *> merges,
                                       const std::vector<int64_t> &order,
                                       int64_t base, int64_t stride) const;

  const ScalarFunction &less;
  llvm::ArrayRef<Tensor> inputs;
};

} // namespace

/// The elements at \p places.
static Tensor elementsAt(const Tensor &tensor,
                         const std::vector<int64_t> &places) {
  Tensor result(tensor.type(), {static_cast<int64_t>(places.size())});
  const size_t size = byteSize(tensor.type());
  std::byte *to = result.mutableBytes();
  for (size_t i = 0; i < places.size(); ++i)
    std::memcpy(to + i * size, tensor.data() + places[i] * size, size);
  return result;
}

Result<std::vector<uint8_t>>
RowSorter::compare(llvm::ArrayRef<Merge *> merges,
                   const std::vector<int64_t> &order, int64_t base,
                   int64_t stride) const {
  std::vector<int64_t> left, right;
  for (const Merge *merge : merges) {
    left.push_back(base + order[merge->left] * stride);
    right.push_back(base + order[merge->right] * stride);
  }
  Tensors arguments;
  for (const Tensor &input : inputs) {
    arguments.push_back(elementsAt(input, right));
    arguments.push_back(elementsAt(input, left));
  }
  Result<Tensors> results = less.apply(arguments);
  if (!results)
    return results.takeError();
  const auto values = results->front().values<uint8_t>();
  return std::vector<uint8_t>(values.begin(), values.end());
}

Result<void> RowSorter::sort(std::vector<int64_t> &order, int64_t base,
                             int64_t stride) {
  const auto size = static_cast<int64_t>(order.size());
  std::vector<int64_t> merged(order.size());
  for (int64_t run = 1; run < size; run *= 2) {
    std::vector<Merge> merges;
    for (int64_t begin = 0; begin < size; begin += 2 * run) {
      const int64_t middle = std::min(begin + run, size);
      merges.push_back(
          {begin, middle, middle, std::min(begin + 2 * run, size)});
    }
    std::vector<Merge *> running;
    for (Merge &merge : merges)
      if (merge.isRunning())
        running.push_back(&merge);
    std::vector<int64_t> ends(merges.size());
    for (size_t i = 0; i < merges.size(); ++i)
      ends[i] = merges[i].left;
    while (!running.empty()) {
      Result<std::vector<uint8_t>> rightFirst =
          compare(running, order, base, stride);
      if (!rightFirst)
        return rightFirst.takeError();
      std::vector<Merge *> still;
      for (size_t i = 0; i < running.size(); ++i) {
        Merge &merge = *running[i];
        int64_t &end = ends[&merge - merges.data()];
        merged[end++] = order[(*rightFirst)[i] ? merge.right++ : merge.left++];
        if (merge.isRunning())
          still.push_back(&merge);
      }
      running = std::move(still);
    }
    for (size_t i = 0; i < merges.size(); ++i) {
      auto to = std::copy(order.begin() + merges[i].left,
                          order.begin() + merges[i].leftEnd,
                          merged.begin() + ends[i]);
      std::copy(order.begin() + merges[i].right,
                order.begin() + merges[i].rightEnd, to);
    }
    std::swap(order, merged);
  }
  return {};
}

static Result<Tensors> evaluateSort(const Call &call) {
  auto op = call.as<stablehlo::SortOp>();
  const Shape &shape = call[0].shape();
  for (const Tensor &input : call.operands)
    if (input.shape() != shape)
      return invalidModel("inputs differ in shape");
  Tensors results(call.operands.begin(), call.operands.end());
  if (shape.empty() || call[0].size() == 0)
    return results;
  auto axis = static_cast<int64_t>(op.getDimension());
  if (axis < 0)
    axis += call[0].rank();
  for (Tensor &result : results)
    result = Tensor(result.type(), shape);

  const AxisView view(shape, axis);
  const ScalarFunction less(op.getComparator(), call.scope);
  RowSorter sorter(less, call.operands);
  std::vector<int64_t> order(view.size);
  for (int64_t row = 0; row < view.outer * view.inner; ++row) {
    const int64_t base =
        row / view.inner * view.size * view.inner + row % view.inner;
    std::iota(order.begin(), order.end(), 0);
    if (Result<void> ok = sorter.sort(order, base, view.inner); !ok)
      return ok.takeError();
    for (size_t i = 0; i < results.size(); ++i) {
      const size_t size = byteSize(results[i].type());
      for (int64_t k = 0; k < view.size; ++k)
        std::memcpy(results[i].mutableBytes() + (base + k * view.inner) * size,
                    call[i].data() + (base + order[k] * view.inner) * size,
                    size);
    }
  }
  return results;
}

void registerSort(Registry &registry) {
  registry.addMoving<stablehlo::SortOp>(evaluateSort);
}

} // namespace sinter::interpreter
