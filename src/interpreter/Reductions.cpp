//===- Reductions.cpp - reduce and reduce_window --------------------------===//

#include "interpreter/Reductions.h"
#include "graph/stablehlo/StablehloOps.h"
#include "graph/stablehlo/Sums.h"
#include "interpreter/Numbers.h"
#include "interpreter/ScalarFunction.h"
#include "interpreter/Strided.h"

#include <numeric>

using namespace mlir;

namespace sinter::interpreter {

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

namespace {

/// Combines two partial results: by the region or, for additions and
/// multiplications whose accumulator is f32 by definition, in f32.
class Combiner {
public:
  Combiner(Region &region, const Scope &scope,
           std::optional<StringRef> carriedInF32)
      : body(region, scope), carried(carriedInF32) {}

  /// Computes results[k][i] from arguments[k][i] and arguments[count + k][i].
  Result<void> run(int64_t count, ArrayRef<const std::byte *> arguments,
                   ArrayRef<std::byte *> results) {
    if (!carried)
      return body.run(count, arguments, results);
    const auto *a = reinterpret_cast<const float *>(arguments[0]);
    const auto *b = reinterpret_cast<const float *>(arguments[1]);
    auto *to = reinterpret_cast<float *>(results[0]);
    const bool isSum = *carried == stablehlo::AddOp::getOperationName();
    for (int64_t i = 0; i < count; ++i)
      to[i] = isSum ? a[i] + b[i] : a[i] * b[i];
    return {};
  }

  /// Converts tensors of the region's types to the accumulator types.
  Tensors entering(Tensors tensors) const {
    if (carried)
      for (Tensor &tensor : tensors)
        tensor = converted(tensor, ElementType::F32);
    return tensors;
  }
  /// Converts back, with rounding.
  Tensors leaving(Tensors tensors) const {
    if (carried)
      for (Tensor &tensor : tensors)
        tensor = converted(tensor, body.resultTypes()[0]);
    return tensors;
  }

private:
  ScalarFunction body;
  std::optional<StringRef> carried;
};

/// Combines rows, one of each tensor at a time, until one is left.
class RowReducer {
public:
  RowReducer(Combiner &body, int64_t rowSize) : body(body), rowSize(rowSize) {}

  /// The specification allows any tree that keeps the order. This one combines
  /// adjacent rows, then adjacent pairs and so on, which is the most exact for
  /// sums (Higham, "The Accuracy of Floating Point Summation", 1993).
  Result<Tensors> run(ArrayRef<Tensor> rows) {
    Tensors results;
    for (const Tensor &each : rows)
      results.emplace_back(each.type(), Shape{rowSize});
    for (int64_t begin = 0; begin < rowSize; begin += tile)
      if (Result<void> ok =
              reduceTile(rows, begin, std::min(tile, rowSize - begin), results);
          !ok)
        return ok.takeError();
    return results;
  }

private:
  /// The combination of some adjacent rows.
  struct Partial {
    unsigned level;
    SmallVector<const std::byte *, 2> elements;
    /// The index of the buffer with the elements; -1 if they are in the rows.
    int buffer = -1;
  };
  using Buffer = std::vector<std::vector<std::byte>>;
  static constexpr int64_t tile = 512;

  Result<void> reduceTile(ArrayRef<Tensor> rows, int64_t begin, int64_t size,
                          Tensors &results) {
    SmallVector<Partial> stack;
    for (int64_t i = 0; i < rows.front().dim(0); ++i) {
      Partial leaf{0, {}};
      for (const Tensor &each : rows)
        leaf.elements.push_back(elementsFrom(each, i * rowSize + begin));
      stack.push_back(std::move(leaf));
      while (stack.size() > 1 &&
             stack[stack.size() - 2].level == stack.back().level)
        if (Result<void> ok = combineTop(stack, rows, size); !ok)
          return ok;
    }
    while (stack.size() > 1)
      if (Result<void> ok = combineTop(stack, rows, size); !ok)
        return ok;
    for (size_t k = 0; k < results.size(); ++k)
      std::memcpy(elementsFrom(results[k], begin), stack.back().elements[k],
                  size * byteSize(results[k].type()));
    if (stack.back().buffer >= 0)
      unused.push_back(stack.back().buffer);
    return {};
  }

  Result<void> combineTop(SmallVector<Partial> &stack, ArrayRef<Tensor> rows,
                          int64_t size) {
    const Partial right = stack.pop_back_val();
    Partial &left = stack.back();
    SmallVector<const std::byte *, 4> arguments(left.elements.begin(),
                                                left.elements.end());
    llvm::append_range(arguments, right.elements);
    if (left.buffer < 0)
      left.buffer = takeBuffer(rows);
    SmallVector<std::byte *, 2> to;
    for (size_t k = 0; k < rows.size(); ++k) {
      to.push_back(buffers[left.buffer][k].data());
      left.elements[k] = to.back();
    }
    if (right.buffer >= 0)
      unused.push_back(right.buffer);
    ++left.level;
    return body.run(size, arguments, to);
  }

  int takeBuffer(ArrayRef<Tensor> rows) {
    if (!unused.empty())
      return unused.pop_back_val();
    Buffer buffer;
    for (const Tensor &each : rows)
      buffer.emplace_back(tile * byteSize(each.type()));
    buffers.push_back(std::move(buffer));
    return static_cast<int>(buffers.size() - 1);
  }

  Combiner &body;
  int64_t rowSize;
  std::vector<Buffer> buffers;
  SmallVector<int> unused;
};

} // namespace

/// Combines rows [count, rowSize] to one. If rows are short, their sequence is
/// first split into stretches of equal length. Rows with the same index in all
/// stretches are combined as one long row.
static Result<Tensors> combineRows(Combiner &body, ArrayRef<Tensor> rows,
                                   int64_t rowSize) {
  constexpr int64_t goodSize = 256;
  const int64_t count = rows.front().dim(0);
  const int64_t stretches = goodSize / rowSize;
  const int64_t length = stretches > 1 ? count / stretches : 0;
  if (length < 2)
    return RowReducer(body, rowSize).run(rows);
  Tensors side;
  const int64_t rest = count - stretches * length;
  for (const Tensor &each : rows) {
    Tensor cut(each.type(), {length, stretches * rowSize});
    const int64_t box[] = {length, stretches, rowSize};
    copyBox(byteSize(each.type()), box, cut.mutableBytes(), rowMajor(box),
            each.data(), {0, {rowSize, length * rowSize, 1}});
    side.push_back(std::move(cut));
  }
  Result<Tensors> partial = RowReducer(body, stretches * rowSize).run(side);
  if (!partial)
    return partial;
  Tensors left;
  for (auto [each, done] : llvm::zip_equal(rows, *partial)) {
    Tensor concatenated(each.type(), {stretches + rest, rowSize});
    std::memcpy(concatenated.mutableBytes(), done.data(), done.bytes());
    std::memcpy(concatenated.mutableBytes() + done.bytes(),
                elementsFrom(each, stretches * length * rowSize),
                rest * rowSize * byteSize(each.type()));
    left.push_back(std::move(concatenated));
  }
  return RowReducer(body, rowSize).run(left);
}

/// Computes `body(init, value)` for the elements of the values.
static Result<Tensors> startFrom(Combiner &body, ArrayRef<Tensor> inits,
                                 ArrayRef<Tensor> values) {
  Tensors starts, results;
  SmallVector<const std::byte *> arguments;
  SmallVector<std::byte *> to;
  for (auto [init, value] : llvm::zip_equal(inits, values)) {
    starts.push_back(splat(init, value.shape()));
    results.emplace_back(value.type(), value.shape());
  }
  for (const Tensor &start : starts)
    arguments.push_back(start.data());
  for (const Tensor &value : values)
    arguments.push_back(value.data());
  for (Tensor &result : results)
    to.push_back(result.mutableBytes());
  if (Result<void> ok = body.run(values.front().size(), arguments, to); !ok)
    return ok.takeError();
  return results;
}

static Result<Tensors> evaluateReduce(const Call &call) {
  auto op = call.as<stablehlo::ReduceOp>();
  const unsigned inputCount = op.getInputs().size();
  const Shape &shape = call[0].shape();
  SmallVector<int64_t> permutation(op.getDimensions());
  llvm::sort(permutation);
  // The sizes of an empty tensor are not multiplied: that may overflow.
  int64_t count = call[0].size() == 0 ? 0 : 1;
  for (int64_t dimension : permutation)
    count *= count == 0 ? 0 : shape[dimension];
  Shape kept;
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i)
    if (!llvm::is_contained(op.getDimensions(), i)) {
      permutation.push_back(i);
      kept.push_back(shape[i]);
    }
  for (const Tensor &input : call.slice(op.getInputs()))
    if (input.shape() != shape)
      return invalidModel("inputs differ in shape");
  if (Result<void> ok = checkSize(call[0].type(), kept); !ok)
    return ok.takeError();
  Result<Tensors> inits =
      promoted(call.slice(op.getInitValues()), op.getInitValues().getTypes(),
               op.getBody(), 0);
  if (!inits)
    return inits;

  Tensors results;
  if (count == 0) {
    for (const Tensor &init : *inits)
      results.push_back(splat(init, kept));
    return results;
  }
  Result<Tensors> inputs =
      promoted(call.slice(op.getInputs()), op.getInputs().getTypes(),
               op.getBody(), inputCount);
  if (!inputs)
    return inputs;
  Combiner body(op.getBody(), call.scope,
                stablehlo::carriedInF32(op.getBody()));
  const int64_t rowSize = call[0].size() / count;
  Tensors rows;
  for (const Tensor &input : body.entering(std::move(*inputs)))
    rows.push_back(transposed(input, permutation).reshaped({count, rowSize}));
  Result<Tensors> combined = combineRows(body, rows, rowSize);
  if (!combined)
    return combined;
  Result<Tensors> finished =
      startFrom(body, body.entering(std::move(*inits)), *combined);
  if (!finished)
    return finished;
  for (Tensor &result : body.leaving(std::move(*finished)))
    results.push_back(result.reshaped(kept));
  return results;
}

//===----------------------------------------------------------------------===//
// reduce_window
//===----------------------------------------------------------------------===//

namespace {
/// Along one dimension, the window indices at which one position in the window
/// covers an element: `count` windows from `first` on, `step` apart, cover
/// elements from `element` on, `elementStep` apart.
struct VisibleWindows {
  int64_t first = 0, step = 1, count = 0, element = 0, elementStep = 0;
};
} // namespace

static VisibleWindows visibleWindows(const stablehlo::WindowDimension &window,
                                     int64_t position, int64_t size,
                                     int64_t windows) {
  VisibleWindows visible;
  const int64_t offset = position * window.windowDilation - window.paddingLow;
  int64_t first =
      offset < 0 ? -offset / window.stride + (-offset % window.stride != 0) : 0;
  visible.step =
      window.baseDilation / std::gcd(window.baseDilation, window.stride);
  for (int64_t tries = 0; tries < visible.step && first < windows;
       ++tries, ++first)
    if ((first * window.stride + offset) % window.baseDilation == 0)
      break;
  if (first >= windows ||
      (first * window.stride + offset) % window.baseDilation != 0)
    return visible;
  visible.first = first;
  visible.element = (first * window.stride + offset) / window.baseDilation;
  if (visible.element >= size)
    return visible;
  visible.count = (windows - 1 - first) / visible.step + 1;
  // With one window, the step does not matter.
  if (visible.count == 1)
    return visible;
  visible.elementStep = visible.step * window.stride / window.baseDilation;
  visible.count = std::min(
      visible.count, (size - 1 - visible.element) / visible.elementStep + 1);
  return visible;
}

/// Writes to \p values, for each window, the element at \p position in the
/// window; \p init where there is none.
static void windowElements(const Tensor &input, const Tensor &init,
                           ArrayRef<stablehlo::WindowDimension> window,
                           ArrayRef<int64_t> position, Tensor &values) {
  const size_t size = byteSize(input.type());
  const int64_t all[] = {values.size()};
  Layout from = rowMajor(input.shape()), to = rowMajor(values.shape());
  Shape box;
  int64_t covered = 1;
  for (size_t d = 0; d < window.size(); ++d) {
    const VisibleWindows visible =
        visibleWindows(window[d], position[d], input.dim(d), values.dim(d));
    box.push_back(visible.count);
    covered *= visible.count;
    to.offset += visible.first * to.strides[d];
    to.strides[d] *= visible.step;
    from.offset += visible.element * from.strides[d];
    from.strides[d] *= visible.elementStep;
  }
  if (covered != values.size())
    copyBox(size, all, values.mutableBytes(), {0, {1}}, init.data(), {0, {0}});
  copyBox(size, box, values.mutableBytes(), to, input.data(), from);
}

/// The dimension along which a scan begins with the last element, if the
/// region's order does not matter: for additions and multiplications only.
static std::optional<size_t>
backwardsDimension(Region &region, const std::optional<stablehlo::Scan> &scan) {
  if (!scan || !scan->isReverse)
    return std::nullopt;
  std::optional<StringRef> name = stablehlo::soleOperation(region);
  const bool isSum = name == stablehlo::AddOp::getOperationName() ||
                     name == stablehlo::MulOp::getOperationName();
  return isSum ? std::optional(scan->dim) : std::nullopt;
}

Result<Tensors> reduceWindow(const Call &call, size_t count,
                             ArrayRef<stablehlo::WindowDimension> window,
                             Region &region) {
  const ArrayRef<Tensor> operands = call.operands.take_front(2 * count);
  const TypeRange types = call.op->getOperandTypes();
  Shape shape, sizes;
  if (static_cast<int64_t>(window.size()) != call[0].rank())
    return invalidModel("the window has not the inputs' number of dimensions");
  for (auto [i, dimension] : llvm::enumerate(window)) {
    std::optional<int64_t> size =
        stablehlo::windowedSize(call[0].dim(i), dimension);
    if (!size)
      return invalidModel("the window of dimension " + std::to_string(i) +
                          " makes no sense");
    shape.push_back(*size);
    sizes.push_back(dimension.size);
  }
  for (const Tensor &input : operands.take_front(count))
    if (input.shape() != call[0].shape())
      return invalidModel("inputs differ in shape");
  for (const Tensor &init : operands.drop_front(count))
    if (init.size() != 1)
      return invalidModel("an initial value is no scalar");
  if (Result<void> ok = checkSize(call[0].type(), shape); !ok)
    return ok.takeError();
  Result<Tensors> inits = promoted(operands.drop_front(count),
                                   types.slice(count, count), region, 0);
  if (!inits)
    return inits;
  Result<Tensors> inputs = promoted(operands.take_front(count),
                                    types.take_front(count), region, count);
  if (!inputs)
    return inputs;

  // All windows at once, one position in the window after the other.
  const llvm::ArrayRef<Dim> dims = dimsIn(call[0].shape());
  Combiner body(region, call.scope,
                stablehlo::carriedInF32(region, dims, window));
  *inits = body.entering(std::move(*inits));
  *inputs = body.entering(std::move(*inputs));
  Tensors values, elements;
  for (const Tensor &init : *inits) {
    values.push_back(splat(init, shape));
    elements.emplace_back(init.type(), shape);
  }
  if (values.front().size() == 0)
    return body.leaving(std::move(values));
  SmallVector<const std::byte *> arguments;
  SmallVector<std::byte *> results;
  for (Tensor &value : values)
    results.push_back(value.mutableBytes());
  llvm::append_range(arguments, results);
  for (const Tensor &each : elements)
    arguments.push_back(each.data());
  const std::optional<size_t> backwards =
      backwardsDimension(region, stablehlo::scanOf(dims, window));
  IndexCounter position(sizes);
  for (int64_t i = 0; i < elementCount(sizes).value_or(0);
       ++i, position.next()) {
    Shape flipped(*position);
    if (backwards)
      flipped[*backwards] = sizes[*backwards] - 1 - flipped[*backwards];
    for (size_t k = 0; k < elements.size(); ++k)
      windowElements((*inputs)[k], (*inits)[k], window, flipped, elements[k]);
    if (Result<void> ok = body.run(values.front().size(), arguments, results);
        !ok)
      return ok.takeError();
  }
  return body.leaving(std::move(values));
}

static Result<Tensors> evaluateReduceWindow(const Call &call) {
  auto op = call.as<stablehlo::ReduceWindowOp>();
  return reduceWindow(call, op.getInputs().size(), op.getWindow(),
                      op.getBody());
}

void registerReductions(Registry &registry) {
  registry.add<stablehlo::ReduceOp>(evaluateReduce);
  registry.add<stablehlo::ReduceWindowOp>(evaluateReduceWindow);
}

} // namespace sinter::interpreter
