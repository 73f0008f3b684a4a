//===- Reductions.cpp - reduce, reduce_window, batch_norm_inference -------===//

#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Evaluation.h"
#include "interpreter/Numbers.h"
#include "interpreter/Strided.h"

#include <cmath>

using namespace mlir;

namespace sinter::interpreter {

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

/// Every second of \p count rows of \p rowSize elements, from \p first on.
static Tensor everySecondRow(const Tensor &rows, int64_t first, int64_t count,
                             int64_t rowSize) {
  Tensor result(rows.type(), {count, rowSize});
  const int64_t box[] = {count, rowSize};
  copyBox(byteSize(rows.type()), box, result.mutableBytes(), {0, {rowSize, 1}},
          rows.data(), {first * rowSize, {2 * rowSize, 1}});
  return result;
}

/// \p head above \p row.
static Tensor withRow(const Tensor &head, const std::byte *row,
                      int64_t rowSize) {
  Tensor result(head.type(), {head.dim(0) + 1, rowSize});
  std::byte *to = result.mutableBytes();
  std::memcpy(to, head.data(), head.bytes());
  std::memcpy(to + head.bytes(), row, rowSize * byteSize(head.type()));
  return result;
}

/// Combines neighbouring rows until one is left: the specification allows any
/// tree that keeps the order, and this one is the most exact for sums
/// (Higham, "The Accuracy of Floating Point Summation", 1993).
static Result<Tensors> combineRows(const ScalarFunction &body, Tensors rows,
                                   int64_t rowSize) {
  while (rows.front().dim(0) > 1) {
    const int64_t count = rows.front().dim(0), pairs = count / 2;
    Tensors arguments;
    for (int64_t first : {0, 1})
      for (const Tensor &each : rows)
        arguments.push_back(everySecondRow(each, first, pairs, rowSize));
    Result<Tensors> combined = body.apply(arguments);
    if (!combined)
      return combined;
    if (count % 2)
      for (auto [result, each] : llvm::zip_equal(*combined, rows))
        result = withRow(
            result, each.data() + (count - 1) * rowSize * byteSize(each.type()),
            rowSize);
    rows = std::move(*combined);
  }
  return rows;
}

/// `body(init, value)` for the elements of the values.
static Result<Tensors> startFrom(const ScalarFunction &body,
                                 ArrayRef<Tensor> inits, Tensors values) {
  Tensors arguments;
  for (auto [init, value] : llvm::zip_equal(inits, values))
    arguments.push_back(splat(init, value.shape()));
  for (Tensor &value : values)
    arguments.push_back(std::move(value));
  return body.apply(arguments);
}

static Result<Tensors> evaluateReduce(const Call &call) {
  auto op = call.as<stablehlo::ReduceOp>();
  ArrayRef<Tensor> inputs = call.slice(op.getInputs());
  ArrayRef<Tensor> inits = call.slice(op.getInitValues());
  const Shape &shape = inputs.front().shape();
  SmallVector<int64_t> permutation(op.getDimensions());
  llvm::sort(permutation);
  int64_t count = 1;
  for (int64_t dimension : permutation)
    count *= shape[dimension];
  Shape kept;
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i)
    if (!llvm::is_contained(op.getDimensions(), i)) {
      permutation.push_back(i);
      kept.push_back(shape[i]);
    }
  for (const Tensor &input : inputs)
    if (input.shape() != shape)
      return invalidModel("inputs differ in shape");
  if (Result<void> ok = checkSize(inputs.front().type(), kept); !ok)
    return ok.takeError();

  Tensors results;
  if (count == 0 || inputs.front().size() == 0) {
    for (const Tensor &init : inits)
      results.push_back(splat(init, kept));
    return results;
  }
  const ScalarFunction body(op.getBody(), call.scope);
  const int64_t rowSize = inputs.front().size() / count;
  Tensors rows;
  for (const Tensor &input : inputs)
    rows.push_back(transposed(input, permutation).reshaped({count, rowSize}));
  Result<Tensors> combined = combineRows(body, std::move(rows), rowSize);
  if (!combined)
    return combined;
  Result<Tensors> finished = startFrom(body, inits, std::move(*combined));
  if (!finished)
    return finished;
  for (Tensor &result : *finished)
    result = result.reshaped(kept);
  return finished;
}

//===----------------------------------------------------------------------===//
// reduce_window
//===----------------------------------------------------------------------===//

/// For each place of the windows, the element at \p position of the window;
/// \p init where that lies in the padding or between dilated elements.
static Tensor windowElements(const Tensor &input, const Tensor &init,
                             ArrayRef<stablehlo::WindowDimension> window,
                             const Shape &places, ArrayRef<int64_t> position) {
  Tensor result = splat(init, places);
  const size_t size = byteSize(input.type());
  IndexCounter index(places);
  for (int64_t i = 0; i < result.size(); ++i, index.next()) {
    int64_t at = 0;
    bool isThere = true;
    for (size_t d = 0; d < places.size() && isThere; ++d) {
      const int64_t dilated = index[d] * window[d].stride -
                              window[d].paddingLow +
                              position[d] * window[d].windowDilation;
      const int64_t place = dilated / window[d].baseDilation;
      isThere = dilated >= 0 && dilated % window[d].baseDilation == 0 &&
                place < input.dim(d);
      at = at * input.dim(d) + place;
    }
    if (isThere)
      std::memcpy(result.mutableBytes() + i * size, input.data() + at * size,
                  size);
  }
  return result;
}

static SmallVector<stablehlo::WindowDimension>
windowOf(stablehlo::ReduceWindowOp op) {
  SmallVector<stablehlo::WindowDimension> window;
  for (auto [i, size] : llvm::enumerate(op.getWindowDimensions())) {
    stablehlo::WindowDimension dimension;
    dimension.size = size;
    if (auto strides = op.getWindowStrides())
      dimension.stride = (*strides)[i];
    if (auto dilations = op.getBaseDilations())
      dimension.baseDilation = (*dilations)[i];
    if (auto dilations = op.getWindowDilations())
      dimension.windowDilation = (*dilations)[i];
    if (auto padding = op.getPadding()) {
      dimension.paddingLow = padding->getValues<int64_t>()[2 * i];
      dimension.paddingHigh = padding->getValues<int64_t>()[2 * i + 1];
    }
    window.push_back(dimension);
  }
  return window;
}

static Result<Tensors> evaluateReduceWindow(const Call &call) {
  auto op = call.as<stablehlo::ReduceWindowOp>();
  ArrayRef<Tensor> inputs = call.slice(op.getInputs());
  ArrayRef<Tensor> inits = call.slice(op.getInitValues());
  const auto window = windowOf(op);
  Shape shape;
  for (auto [i, dimension] : llvm::enumerate(window)) {
    std::optional<int64_t> size =
        stablehlo::windowedSize(inputs.front().dim(i), dimension);
    if (!size)
      return invalidModel("the window of dimension " + std::to_string(i) +
                          " makes no sense");
    shape.push_back(*size);
  }
  for (const Tensor &input : inputs)
    if (input.shape() != inputs.front().shape())
      return invalidModel("inputs differ in shape");
  if (Result<void> ok = checkSize(inputs.front().type(), shape); !ok)
    return ok.takeError();

  // Elements of the windows one position after the other, all windows at once.
  const ScalarFunction body(op.getBody(), call.scope);
  Tensors values;
  for (const Tensor &init : inits)
    values.push_back(splat(init, shape));
  if (values.front().size() == 0)
    return values;
  const Shape sizes = toShape(op.getWindowDimensions());
  IndexCounter position(sizes);
  for (int64_t i = 0; i < elementCount(sizes).value_or(0);
       ++i, position.next()) {
    Tensors arguments = std::move(values);
    for (auto [input, init] : llvm::zip_equal(inputs, inits))
      arguments.push_back(
          windowElements(input, init, window, shape, *position));
    Result<Tensors> next = body.apply(arguments);
    if (!next)
      return next;
    values = std::move(*next);
  }
  return values;
}

//===----------------------------------------------------------------------===//
// batch_norm_inference
//===----------------------------------------------------------------------===//

/// (operand - mean) / sqrt(variance + epsilon) * scale + offset, rounded once.
static Result<Tensors> evaluateBatchNormInference(const Call &call) {
  auto op = call.as<stablehlo::BatchNormInferenceOp>();
  const Tensor &operand = call[0];
  const AxisView view(operand.shape(),
                      static_cast<int64_t>(op.getFeatureIndex()));
  for (size_t i = 1; i < 5; ++i)
    if (call[i].size() != view.size)
      return invalidModel("operand " + std::to_string(i) +
                          " is not one number a feature");
  const double epsilon = op.getEpsilon().convertToDouble();
  const auto scale = reals(call[1]), offset = reals(call[2]),
             mean = reals(call[3]), variance = reals(call[4]);
  return produce(operand.type(), operand.shape(), [&](Tensor &result) {
    std::vector<double> row(view.inner);
    for (int64_t i = 0; i < view.outer * view.size; ++i) {
      const int64_t f = i % view.size;
      const double deviation = std::sqrt(variance[f] + epsilon);
      loadReals(operand, i * view.inner, row);
      for (double &x : row)
        x = (x - mean[f]) / deviation * scale[f] + offset[f];
      storeReals(result, i * view.inner, row);
    }
  });
}

void registerReductions(Registry &registry) {
  registry.addMoving<stablehlo::ReduceOp>(evaluateReduce);
  registry.addMoving<stablehlo::ReduceWindowOp>(evaluateReduceWindow);
  registry.add<stablehlo::BatchNormInferenceOp>(evaluateBatchNormInference);
}

} // namespace sinter::interpreter
