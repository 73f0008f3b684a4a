//===- NnPooling.cpp - max, average and Lp pools --------------------------===//

#include "graph/nn/NnOps.h"
#include "interpreter/Evaluation.h"
#include "interpreter/Numbers.h"
#include "interpreter/OrderKeys.h"
#include "interpreter/Strided.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;

namespace sinter::interpreter {

namespace {

/// The elements of a plane (the spatial dimensions of one channel) that each
/// window covers; the same for all planes.
struct WindowTable {
  Shape inputSizes, outputSizes; ///< Spatial.
  /// The elements of window i are elements[begins[i]] up to begins[i + 1].
  std::vector<int64_t> begins, elements;
  /// Positions of each window that lie in the operand or in padding that
  /// counts.
  std::vector<int64_t> counted;

  int64_t inputSize() const { return elementCount(inputSizes).value_or(0); }
  int64_t outputSize() const { return elementCount(outputSizes).value_or(0); }
  ArrayRef<int64_t> window(int64_t i) const {
    return ArrayRef(elements).slice(begins[i], begins[i + 1] - begins[i]);
  }
};

} // namespace

/// \p ceilPadding is how much of the high padding never counts.
static WindowTable makeTable(const Shape &inputSizes, const Shape &outputSizes,
                             ArrayRef<stablehlo::WindowDimension> window,
                             ArrayRef<int64_t> ceilPadding) {
  WindowTable table{inputSizes, outputSizes, {0}, {}, {}};
  Shape sizes;
  for (const stablehlo::WindowDimension &dimension : window)
    sizes.push_back(dimension.size);
  const int64_t positions = elementCount(sizes).value_or(0);
  IndexCounter output(outputSizes), position(sizes);
  for (int64_t i = 0; i < table.outputSize(); ++i, output.next()) {
    int64_t counted = 0;
    for (int64_t p = 0; p < positions; ++p, position.next()) {
      bool isInside = true, counts = true;
      int64_t element = 0;
      for (size_t d = 0; d < window.size(); ++d) {
        const int64_t at = output[d] * window[d].stride - window[d].paddingLow +
                           position[d] * window[d].windowDilation;
        const int64_t ceiling = ceilPadding.empty() ? 0 : ceilPadding[d];
        isInside &= at >= 0 && at < inputSizes[d];
        counts &= at < inputSizes[d] + window[d].paddingHigh - ceiling;
        element = element * inputSizes[d] + at;
      }
      if (isInside)
        table.elements.push_back(element);
      counted += counts;
    }
    table.begins.push_back(static_cast<int64_t>(table.elements.size()));
    table.counted.push_back(counted);
  }
  return table;
}

/// The table of a pooling operation.
template <typename Op>
static Result<WindowTable> tableFor(Op op, const Tensor &operand,
                                    ArrayRef<int64_t> ceilPadding = {}) {
  SmallVector<stablehlo::WindowDimension> window;
  Shape inputSizes, outputSizes;
  for (size_t i = 0; i < op.getWindow().size(); ++i) {
    stablehlo::WindowDimension dimension;
    dimension.size = op.getWindow()[i];
    dimension.stride = op.getStrides()[i];
    dimension.windowDilation = op.getDilations()[i];
    dimension.paddingLow = op.getPaddingLow()[i];
    dimension.paddingHigh = op.getPaddingHigh()[i];
    inputSizes.push_back(operand.dim(i + 2));
    std::optional<int64_t> size =
        stablehlo::windowedSize(inputSizes.back(), dimension);
    if (!size)
      return invalidModel("the window of spatial dimension " +
                          std::to_string(i) + " makes no sense");
    outputSizes.push_back(*size);
    window.push_back(dimension);
  }
  if (Result<void> ok = checkSize(operand.type(), outputSizes); !ok)
    return ok.takeError();
  return makeTable(inputSizes, outputSizes, window, ceilPadding);
}

static Shape pooledShape(const Tensor &operand, const WindowTable &table) {
  Shape shape = {operand.dim(0), operand.dim(1)};
  llvm::append_range(shape, table.outputSizes);
  return shape;
}

/// For each window of each plane, the index of its greatest element (of equal
/// ones the first) in the operand; -1 if it has none.
static std::vector<int64_t> indicesOfMaxima(const Tensor &operand,
                                            const WindowTable &table) {
  const std::vector<int64_t> keys = orderKeys(operand);
  const int64_t planes = operand.dim(0) * operand.dim(1);
  std::vector<int64_t> indices;
  indices.reserve(planes * table.outputSize());
  for (int64_t plane = 0; plane < planes; ++plane)
    for (int64_t i = 0; i < table.outputSize(); ++i) {
      int64_t best = -1;
      for (int64_t element : table.window(i)) {
        const int64_t at = plane * table.inputSize() + element;
        if (best < 0 || keys[at] > keys[best])
          best = at;
      }
      indices.push_back(best);
    }
  return indices;
}

static Result<Tensors> evaluateMaxPool(const Call &call) {
  const Tensor &operand = call[0];
  Result<WindowTable> table = tableFor(call.as<nn::MaxPoolOp>(), operand);
  if (!table)
    return table.takeError();
  return produce(
      operand.type(), pooledShape(operand, *table), [&](Tensor &result) {
        const std::vector<int64_t> indices = indicesOfMaxima(operand, *table);
        const double none[] = {-std::numeric_limits<double>::infinity()};
        const size_t size = byteSize(operand.type());
        for (int64_t i = 0; i < result.size(); ++i)
          if (indices[i] < 0)
            storeReals(result, i, none);
          else
            std::memcpy(result.mutableBytes() + i * size,
                        operand.data() + indices[i] * size, size);
      });
}

/// An index in a plane in column-major order: the first dimension varies
/// fastest.
static int64_t columnMajor(int64_t element, const Shape &sizes) {
  int64_t result = 0;
  int64_t stride = elementCount(sizes).value_or(0);
  for (size_t d = sizes.size(); d-- > 0; element /= sizes[d]) {
    stride /= sizes[d];
    result += element % sizes[d] * stride;
  }
  return result;
}

static Result<Tensors> evaluateMaxPoolIndices(const Call &call) {
  auto op = call.as<nn::MaxPoolIndicesOp>();
  const Tensor &operand = call[0];
  Result<WindowTable> table = tableFor(op, operand);
  if (!table)
    return table.takeError();
  std::vector<int64_t> indices = indicesOfMaxima(operand, *table);
  const int64_t plane = table->inputSize();
  if (op.getColumnMajor())
    for (int64_t &index : indices)
      if (index >= 0)
        index = index / plane * plane +
                columnMajor(index % plane, table->inputSizes);
  return produce(ElementType::I64, pooledShape(operand, *table),
                 [&](Tensor &result) { storeIntegers(result, 0, indices); });
}

/// Each window's elements, reduced by \p summarize(numbers, window).
template <typename F>
static Result<Tensors> pooled(const Tensor &operand, const WindowTable &table,
                              F summarize) {
  return produce(operand.type(), pooledShape(operand, table),
                 [&](Tensor &result) {
                   std::vector<double> plane(table.inputSize());
                   std::vector<double> outputs(table.outputSize());
                   std::vector<double> numbers;
                   const int64_t planes = operand.dim(0) * operand.dim(1);
                   for (int64_t p = 0; p < planes; ++p) {
                     loadReals(operand, p * table.inputSize(), plane);
                     for (int64_t i = 0; i < table.outputSize(); ++i) {
                       numbers.clear();
                       for (int64_t element : table.window(i))
                         numbers.push_back(plane[element]);
                       outputs[i] = summarize(numbers, i);
                     }
                     storeReals(result, p * table.outputSize(), outputs);
                   }
                 });
}

static Result<Tensors> evaluateAveragePool(const Call &call) {
  auto op = call.as<nn::AveragePoolOp>();
  Result<WindowTable> table = tableFor(op, call[0], op.getCeilPadding());
  if (!table)
    return table.takeError();
  return pooled(call[0], *table,
                [&](const std::vector<double> &numbers, int64_t window) {
                  double sum = 0;
                  for (double number : numbers)
                    sum += number;
                  return sum / static_cast<double>(op.getCountPadding()
                                                       ? table->counted[window]
                                                       : numbers.size());
                });
}

static Result<Tensors> evaluateLpPool(const Call &call) {
  auto op = call.as<nn::LpPoolOp>();
  Result<WindowTable> table = tableFor(op, call[0]);
  if (!table)
    return table.takeError();
  const auto p = static_cast<double>(op.getP());
  return pooled(call[0], *table,
                [=](const std::vector<double> &numbers, int64_t) {
                  double sum = 0;
                  for (double number : numbers)
                    sum += std::pow(std::fabs(number), p);
                  return std::pow(sum, 1 / p);
                });
}

void registerNnPooling(Registry &registry) {
  registry.add<nn::MaxPoolOp>(evaluateMaxPool);
  registry.add<nn::MaxPoolIndicesOp>(evaluateMaxPoolIndices);
  registry.add<nn::AveragePoolOp>(evaluateAveragePool);
  registry.add<nn::LpPoolOp>(evaluateLpPool);
}

} // namespace sinter::interpreter
