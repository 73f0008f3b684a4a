//===- NnShape.cpp - shapes, broadcasting, indexing -----------------------===//

#include "graph/nn/NnOps.h"
#include "interpreter/Evaluation.h"
#include "interpreter/Numbers.h"
#include "interpreter/OrderKeys.h"
#include "interpreter/Strided.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace mlir;

namespace sinter::interpreter {

static Result<Tensors> evaluateShape(const Call &call) {
  return single(
      integerTensor(ElementType::I64, {call[0].rank()}, call[0].shape()));
}

static Result<Tensors> evaluateBroadcastLike(const Call &call) {
  Shape shape = call[0].shape();
  for (const Tensor &other : call.operands.drop_front()) {
    const auto common = broadcastShapes(shape, other.shape());
    if (!common)
      return invalidModel(
          "shapes do not broadcast: " + toString(call[0].type(), shape) +
          " and " + toString(other.type(), other.shape()));
    shape = toShape(*common);
  }
  if (Result<void> ok = checkSize(call[0].type(), shape); !ok)
    return ok.takeError();
  return single(broadcastTo(call[0], shape));
}

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

/// \p index into [0, size): a negative one counts from the end, one that is
/// still outside is clamped.
static int64_t wrapIndex(int64_t index, int64_t size) {
  return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size - 1);
}

static Result<Tensors> evaluateTake(const Call &call) {
  const auto axis = static_cast<int64_t>(call.as<nn::TakeOp>().getAxis());
  const Tensor &operand = call[0], &indices = call[1];
  const AxisView view(operand.shape(), axis);
  Shape shape(operand.shape().begin(), operand.shape().begin() + axis);
  llvm::append_range(shape, indices.shape());
  shape.insert(shape.end(), operand.shape().begin() + axis + 1,
               operand.shape().end());
  if (view.size == 0 && indices.size() != 0)
    return invalidModel("the axis has no elements");
  return produce(operand.type(), shape, [&](Tensor &result) {
    const size_t row = view.inner * byteSize(operand.type());
    const std::vector<int64_t> positions = integers(indices);
    std::byte *to = result.mutableBytes();
    for (int64_t o = 0; o < view.outer; ++o)
      for (int64_t position : positions) {
        const int64_t at = o * view.size + wrapIndex(position, view.size);
        std::memcpy(to, operand.data() + at * row, row);
        to += row;
      }
  });
}

static Result<Tensors> evaluateTakeAlong(const Call &call) {
  const size_t axis = call.as<nn::TakeAlongOp>().getAxis();
  const Tensor &operand = call[0], &indices = call[1];
  for (size_t d = 0; d < operand.shape().size(); ++d)
    if (indices.size() != 0 &&
        (d == axis ? operand.dim(d) == 0 : indices.dim(d) > operand.dim(d)))
      return invalidModel("the indices reach beyond dimension " +
                          std::to_string(d) + " of the operand");
  return produce(operand.type(), indices.shape(), [&](Tensor &result) {
    const size_t size = byteSize(operand.type());
    const std::vector<int64_t> positions = integers(indices);
    const std::vector<int64_t> strides = rowMajorStrides(operand.shape());
    IndexCounter index(indices.shape());
    for (int64_t i = 0; i < result.size(); ++i, index.next()) {
      int64_t at = 0;
      for (size_t d = 0; d < strides.size(); ++d)
        at += strides[d] *
              (d == axis ? wrapIndex(positions[i], operand.dim(d)) : index[d]);
      std::memcpy(result.mutableBytes() + i * size, operand.data() + at * size,
                  size);
    }
  });
}

/// The index in [0, size) of the element at \p position, which may be outside.
static int64_t paddedIndex(StringRef mode, int64_t position, int64_t size) {
  auto modulo = [](int64_t value, int64_t period) {
    return (value % period + period) % period;
  };
  if (mode == "edge")
    return std::clamp<int64_t>(position, 0, size - 1);
  if (mode == "wrap")
    return modulo(position, size);
  // Reflects at the edges, which are not repeated.
  if (size == 1)
    return 0;
  const int64_t phase = modulo(position, 2 * (size - 1));
  return std::min(phase, 2 * (size - 1) - phase);
}

static Result<Tensors> evaluatePadMode(const Call &call) {
  auto op = call.as<nn::PadModeOp>();
  Tensor current = call[0];
  // Dimensions are independent, and padded one after the other.
  for (int64_t d = 0; d < call[0].rank(); ++d) {
    const int64_t low = op.getLow()[d], high = op.getHigh()[d];
    if (low == 0 && high == 0)
      continue;
    const AxisView view(current.shape(), d);
    Shape shape = current.shape();
    if (__builtin_add_overflow(shape[d], low, &shape[d]) ||
        __builtin_add_overflow(shape[d], high, &shape[d]) || shape[d] < 0)
      return invalidModel("the size of dimension " + std::to_string(d) +
                          " becomes negative or too large");
    if (view.size == 0 && shape[d] > 0)
      return invalidModel("dimension " + std::to_string(d) +
                          " has no elements to pad with");
    const int64_t size = shape[d];
    Result<Tensors> padded =
        produce(current.type(), shape, [&](Tensor &result) {
          const size_t row = view.inner * byteSize(current.type());
          for (int64_t o = 0; o < view.outer; ++o)
            for (int64_t i = 0; i < size; ++i) {
              const int64_t at = paddedIndex(op.getMode(), i - low, view.size);
              std::memcpy(result.mutableBytes() + (o * size + i) * row,
                          current.data() + (o * view.size + at) * row, row);
            }
        });
    if (!padded)
      return padded;
    current = padded->front();
  }
  return single(current);
}

static Result<Tensors> evaluateOneHot(const Call &call) {
  const auto axis = static_cast<int64_t>(call.as<nn::OneHotOp>().getAxis());
  const Tensor &indices = call[0], &values = call[1];
  const int64_t depth = call.resultType().getDimSize(axis);
  if (ShapedType::isDynamic(depth))
    return invalidModel("the number of classes is not known");
  if (values.size() != 2)
    return invalidModel("values does not hold off and on");
  Shape shape = indices.shape();
  shape.insert(shape.begin() + axis, depth);
  return produce(values.type(), shape, [&](Tensor &result) {
    const AxisView view(shape, axis);
    const size_t size = byteSize(values.type());
    const std::vector<int64_t> positions = integers(indices);
    for (int64_t i = 0; i < result.size(); ++i) {
      const int64_t position = i / view.inner % depth;
      const int64_t wanted =
          positions[i / view.inner / depth * view.inner + i % view.inner];
      const bool isOn = (wanted < 0 ? wanted + depth : wanted) == position;
      std::memcpy(result.mutableBytes() + i * size,
                  values.data() + (isOn ? size : 0), size);
    }
  });
}

static Result<Tensors> evaluateNonZero(const Call &call) {
  const Tensor &operand = call[0];
  std::vector<int64_t> found;
  std::vector<std::complex<double>> values(operand.size());
  loadComplex(operand, 0, values);
  for (int64_t i = 0; i < operand.size(); ++i)
    if (values[i] != 0.0)
      found.push_back(i);
  const auto count = static_cast<int64_t>(found.size());
  return produce(
      ElementType::I64, {operand.rank(), count}, [&](Tensor &result) {
        const auto strides = rowMajorStrides(operand.shape());
        auto to = result.mutableValues<int64_t>();
        for (size_t d = 0; d < strides.size(); ++d)
          for (int64_t i = 0; i < count; ++i)
            to[d * count + i] = found[i] / strides[d] % operand.dim(d);
      });
}

//===----------------------------------------------------------------------===//
// Along an axis
//===----------------------------------------------------------------------===//

/// Replaces each element by the sum of those before it along the axis, itself
/// among them unless \p exclusive; from the end if \p reverse. \p round rounds
/// the accumulator after each addition.
template <typename T>
static void accumulate(std::vector<T> &values, const AxisView &view,
                       bool exclusive, bool reverse,
                       llvm::function_ref<void(std::vector<T> &sums)> round) {
  std::vector<T> sums(view.outer * view.inner), before;
  for (int64_t k = 0; k < view.size; ++k) {
    auto at = [&](size_t row) -> T & {
      const int64_t base =
          row / view.inner * view.size * view.inner + row % view.inner;
      return values[base + (reverse ? view.size - 1 - k : k) * view.inner];
    };
    before = sums;
    for (size_t row = 0; row < sums.size(); ++row)
      sums[row] += at(row);
    round(sums);
    for (size_t row = 0; row < sums.size(); ++row)
      at(row) = exclusive ? before[row] : sums[row];
  }
}

static Result<Tensors> evaluateCumulativeSum(const Call &call) {
  auto op = call.as<nn::CumulativeSumOp>();
  const Tensor &operand = call[0];
  const ElementType type = operand.type();
  if (operand.size() == 0)
    return Tensors{operand};
  const AxisView view(operand.shape(), static_cast<int64_t>(op.getAxis()));
  auto run = [&]<typename T>(std::vector<T> &values, auto round) {
    accumulate<T>(values, view, op.getExclusive(), op.getReverse(), round);
  };
  Tensor rounded(type, {view.outer * view.inner});
  return produce(type, operand.shape(), [&](Tensor &result) {
    if (isInteger(type)) {
      const std::vector<int64_t> loaded = integers(operand);
      std::vector<uint64_t> values(loaded.begin(), loaded.end());
      run(values, [](std::vector<uint64_t> &) {});
      storeIntegers(result, 0,
                    std::vector<int64_t>(values.begin(), values.end()));
    } else if (isComplex(type)) {
      std::vector<std::complex<double>> values(operand.size());
      loadComplex(operand, 0, values);
      run(values, [&](std::vector<std::complex<double>> &sums) {
        storeComplex(rounded, 0, sums);
        loadComplex(rounded, 0, sums);
      });
      storeComplex(result, 0, values);
    } else {
      std::vector<double> values = reals(operand);
      run(values, [&](std::vector<double> &sums) {
        storeReals(rounded, 0, sums);
        loadReals(rounded, 0, sums);
      });
      storeReals(result, 0, values);
    }
  });
}

/// The position of the greatest or the least element along the axis, NaN before
/// any number; of equal ones the first or the last.
template <typename Op>
static Result<Tensors> evaluateArg(const Call &call, bool least) {
  auto op = call.as<Op>();
  const auto axis = static_cast<int64_t>(op.getAxis());
  const AxisView view(call[0].shape(), axis);
  if (view.size == 0)
    return invalidModel("the axis has no elements");
  Shape shape = call[0].shape();
  if (op.getKeepDimension())
    shape[axis] = 1;
  else
    shape.erase(shape.begin() + axis);
  return produce(ElementType::I64, shape, [&](Tensor &result) {
    std::vector<int64_t> keys = orderKeys(call[0]);
    if (least && !isInteger(call[0].type()))
      std::ranges::replace(keys, std::numeric_limits<int64_t>::max(),
                           std::numeric_limits<int64_t>::min());
    for (int64_t i = 0; i < result.size(); ++i) {
      const int64_t base =
          i / view.inner * view.size * view.inner + i % view.inner;
      int64_t best = 0;
      for (int64_t k = 1; k < view.size; ++k) {
        const int64_t key = keys[base + k * view.inner];
        const int64_t bestKey = keys[base + best * view.inner];
        const bool isBetter = least ? key < bestKey : key > bestKey;
        if (isBetter || (key == bestKey && op.getSelectLast()))
          best = k;
      }
      result.set(i, best);
    }
  });
}
static Result<Tensors> evaluateArgMax(const Call &call) {
  return evaluateArg<nn::ArgMaxOp>(call, false);
}
static Result<Tensors> evaluateArgMin(const Call &call) {
  return evaluateArg<nn::ArgMinOp>(call, true);
}

static Result<Tensors> evaluateTopK(const Call &call) {
  auto op = call.as<nn::TopKOp>();
  const Tensor &operand = call[0];
  const auto axis = static_cast<int64_t>(op.getAxis());
  const auto k = static_cast<int64_t>(op.getK());
  const AxisView view(operand.shape(), axis);
  if (k > view.size)
    return invalidModel("the axis has fewer than k elements");
  Shape shape = operand.shape();
  shape[axis] = k;
  const std::vector<int64_t> keys = orderKeys(operand);
  Tensor values(operand.type(), shape), indices(ElementType::I64, shape);
  const size_t size = byteSize(operand.type());
  std::vector<int64_t> order(view.size);
  for (int64_t row = 0; row < view.outer * view.inner; ++row) {
    const int64_t base =
        row / view.inner * view.size * view.inner + row % view.inner;
    auto keyAt = [&](int64_t i) { return keys[base + i * view.inner]; };
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
      return op.getLargest() ? keyAt(a) > keyAt(b) : keyAt(a) < keyAt(b);
    });
    for (int64_t i = 0; i < k; ++i) {
      const int64_t to =
          (row / view.inner * k + i) * view.inner + row % view.inner;
      std::memcpy(values.mutableBytes() + to * size,
                  operand.data() + (base + order[i] * view.inner) * size, size);
      indices.set(to, order[i]);
    }
  }
  return Tensors{std::move(values), std::move(indices)};
}

void registerNnShape(Registry &registry) {
  registry.add<nn::ShapeOp>(evaluateShape);
  registry.add<nn::BroadcastLikeOp>(evaluateBroadcastLike);
  registry.add<nn::TakeOp>(evaluateTake);
  registry.add<nn::TakeAlongOp>(evaluateTakeAlong);
  registry.add<nn::PadModeOp>(evaluatePadMode);
  registry.add<nn::OneHotOp>(evaluateOneHot);
  registry.add<nn::NonZeroOp>(evaluateNonZero);
  registry.add<nn::CumulativeSumOp>(evaluateCumulativeSum);
  registry.add<nn::ArgMaxOp>(evaluateArgMax);
  registry.add<nn::ArgMinOp>(evaluateArgMin);
  registry.add<nn::TopKOp>(evaluateTopK);
}

} // namespace sinter::interpreter
