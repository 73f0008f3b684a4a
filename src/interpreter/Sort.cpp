//===- Sort.cpp - sorting by a comparator ---------------------------------===//

#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Evaluation.h"
#include "interpreter/Numbers.h"
#include "interpreter/ScalarFunction.h"
#include "interpreter/Strided.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace mlir;

namespace sinter::interpreter {

/// Merge sort. `less` may be no order at all: nothing is assumed of it. What it
/// finds equal stays in order.
template <typename Less>
static void mergeSort(std::vector<int64_t> &order, std::vector<int64_t> &merged,
                      Less less) {
  const auto size = static_cast<int64_t>(order.size());
  merged.resize(order.size());
  for (int64_t run = 1; run < size; run *= 2) {
    for (int64_t begin = 0; begin < size; begin += 2 * run) {
      const int64_t middle = std::min(begin + run, size);
      const int64_t end = std::min(begin + 2 * run, size);
      int64_t left = begin, right = middle;
      for (int64_t to = begin; to < end; ++to) {
        const bool takeRight =
            right < end && (left == middle || less(order[right], order[left]));
        merged[to] = order[takeRight ? right++ : left++];
      }
    }
    std::swap(order, merged);
  }
}

namespace {

/// Sorts the positions of one row after the other.
class RowSorter {
public:
  RowSorter(stablehlo::SortOp op, const Call &call)
      : inputs(call.operands), body(op.getComparator(), call.scope),
        comparison(soleComparison(op.getComparator())) {}

  /// Sorts the positions \p order by what stands at base + position * stride.
  Result<void> sort(std::vector<int64_t> &order, int64_t base, int64_t stride) {
    if (comparison) {
      sortByKeys(order, base, stride);
      return {};
    }
    Result<void> outcome;
    SmallVector<const std::byte *> arguments(2 * inputs.size());
    std::byte isLess = {};
    mergeSort(order, merged, [&](int64_t a, int64_t b) {
      for (size_t k = 0; k < inputs.size(); ++k) {
        arguments[2 * k] = elementsFrom(inputs[k], base + a * stride);
        arguments[2 * k + 1] = elementsFrom(inputs[k], base + b * stride);
      }
      if (Result<void> ok = body.run(1, arguments, &isLess); !ok)
        outcome = ok.takeError();
      return isLess != std::byte();
    });
    return outcome;
  }

private:
  /// A region that is `a < b` or `a > b` of one input, compared by value.
  struct Comparison {
    size_t input;
    bool descending;
  };

  static std::optional<Comparison> soleComparison(Region &region) {
    using stablehlo::ComparisonDirection;
    Block &block = region.front();
    auto compare = dyn_cast<stablehlo::CompareOp>(block.front());
    if (!compare || compare->getNextNode() != block.getTerminator() ||
        block.getTerminator()->getOperand(0) != compare.getResult() ||
        compare.getCompareType() == stablehlo::ComparisonType::TOTALORDER)
      return std::nullopt;
    auto lhs = dyn_cast<BlockArgument>(compare.getLhs());
    auto rhs = dyn_cast<BlockArgument>(compare.getRhs());
    auto type = dyn_cast<RankedTensorType>(compare.getLhs().getType());
    if (!lhs || !rhs || lhs.getOwner() != &block || rhs.getOwner() != &block ||
        lhs.getArgNumber() / 2 != rhs.getArgNumber() / 2 || lhs == rhs ||
        !type || !type.getElementType().isIntOrFloat())
      return std::nullopt;
    const ComparisonDirection direction = compare.getComparisonDirection();
    if (direction != ComparisonDirection::LT &&
        direction != ComparisonDirection::GT)
      return std::nullopt;
    const bool isSwapped = lhs.getArgNumber() % 2;
    return Comparison{lhs.getArgNumber() / 2,
                      (direction == ComparisonDirection::GT) != isSwapped};
  }

  void sortByKeys(std::vector<int64_t> &order, int64_t base, int64_t stride) {
    const Tensor &input = inputs[comparison->input];
    auto run = [&](const auto &keys) {
      if (comparison->descending)
        mergeSort(order, merged,
                  [&](int64_t a, int64_t b) { return keys[a] > keys[b]; });
      else
        mergeSort(order, merged,
                  [&](int64_t a, int64_t b) { return keys[a] < keys[b]; });
    };
    Tensor row(input.type(), {static_cast<int64_t>(order.size())});
    copyBox(byteSize(input.type()), row.shape(), row.mutableBytes(), {0, {1}},
            input.data(), {base, {stride}});
    if (isFloat(input.type()))
      return run(reals(row));
    std::vector<int64_t> keys = integers(row);
    if (input.type() == ElementType::UI64)
      for (int64_t &key : keys)
        key ^= std::numeric_limits<int64_t>::min();
    run(keys);
  }

  llvm::ArrayRef<Tensor> inputs;
  ScalarFunction body;
  std::optional<Comparison> comparison;
  std::vector<int64_t> merged;
};

} // namespace

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
  RowSorter sorter(op, call);
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
