//===- Sort.cpp - sorting by a comparator ---------------------------------===//

#include "graph/stablehlo/ElementOrder.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Evaluation.h"
#include "interpreter/Numbers.h"
#include "interpreter/ScalarFunction.h"
#include "interpreter/Strided.h"
#include "interpreter/TotalOrder.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

using namespace mlir;

namespace sinter::interpreter {

/// Stable merge sort. `less` need not be an order: nothing is assumed of it.
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

/// The results of a comparison for values that are less, equal or greater.
struct Direction {
  bool onLess, onEqual, onGreater, onUnordered;

  template <typename T> bool operator()(T a, T b) const {
    return a < b ? onLess : a > b ? onGreater : a == b ? onEqual : onUnordered;
  }
  static Direction of(stablehlo::ComparisonDirection direction) {
    using stablehlo::ComparisonDirection;
    switch (direction) {
    case ComparisonDirection::EQ:
      return {false, true, false, false};
    case ComparisonDirection::NE:
      return {true, false, true, true};
    case ComparisonDirection::GE:
      return {false, true, true, false};
    case ComparisonDirection::GT:
      return {false, false, true, false};
    case ComparisonDirection::LE:
      return {true, true, false, false};
    case ComparisonDirection::LT:
      return {true, false, false, false};
    }
    return {false, false, false, false};
  }
};

/// \p list with room for \p size elements.
std::span<int64_t> fitted(std::vector<int64_t> &list, int64_t size) {
  list.resize(size);
  return list;
}

/// Integers as int64_t keys; signed ones in the order of their bits, if
/// \p asUnsigned.
std::vector<int64_t> integerKeys(const Tensor &tensor, bool asUnsigned) {
  std::vector<int64_t> keys = integers(tensor);
  if (tensor.type() == ElementType::UI64 || asUnsigned)
    for (int64_t &key : keys)
      key ^= std::numeric_limits<int64_t>::min();
  return keys;
}

/// Sorts the indices of one row after the other.
class RowSorter {
public:
  RowSorter(stablehlo::SortOp op, const Call &call)
      : inputs(call.operands), body(op.getComparator(), call.scope) {}

  /// Computes the values that the comparator compares, if that can be done once
  /// an element.
  Result<void> prepare() {
    auto compare =
        dyn_cast_or_null<stablehlo::CompareOp>(body.splitComparison());
    if (!compare)
      return {};
    Tensors arguments;
    for (const Tensor &input : inputs)
      arguments.insert(arguments.end(), 2, input);
    Result<Tensors> sides = body.apply(arguments);
    if (!sides)
      return sides.takeError();
    direction = Direction::of(compare.getComparisonDirection());
    const ElementType type = sides->front().type();
    if (isComplex(type))
      return unsupported("complex numbers have no order");
    const bool isTotal =
        compare.getCompareType() == stablehlo::ComparisonType::TOTALORDER;
    for (size_t side : {0, 1})
      if (!isFloat(type))
        keys[side] =
            integerKeys((*sides)[side], stablehlo::comparesOtherwise(compare));
      else if (isTotal)
        totalOrderKeys(type, (*sides)[side].data(),
                       fitted(keys[side], (*sides)[side].size()));
      else
        numbers[side] = reals((*sides)[side]);
    return {};
  }

  /// Sorts the indices \p order by the elements at base + index * stride.
  Result<void> sort(std::vector<int64_t> &order, int64_t base, int64_t stride) {
    if (direction) {
      if (numbers[0].empty())
        sortBy(keys, order, base, stride);
      else
        sortBy(numbers, order, base, stride);
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
  template <typename Keys>
  void sortBy(const Keys &sides, std::vector<int64_t> &order, int64_t base,
              int64_t stride) {
    const auto *left = sides[0].data() + base, *right = sides[1].data() + base;
    const Direction holds = *direction;
    mergeSort(order, merged, [=](int64_t a, int64_t b) {
      return holds(left[a * stride], right[b * stride]);
    });
  }

  llvm::ArrayRef<Tensor> inputs;
  ScalarFunction body;
  std::optional<Direction> direction;
  /// The compared values of each element, if the comparator has been split.
  std::array<std::vector<int64_t>, 2> keys;
  std::array<std::vector<double>, 2> numbers;
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
  if (Result<void> ok = sorter.prepare(); !ok)
    return ok.takeError();
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
  registry.add<stablehlo::SortOp>(evaluateSort);
}

} // namespace sinter::interpreter
