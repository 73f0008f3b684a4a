// Gradients of reductions by any body: the reduction is written as a tree of
// elementwise operations, through which gradients go back.

#include "graph/gradient/Gradient.h"
#include "graph/stablehlo/WholeTensors.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::gradient {

/// Most windows' elements, and most operations of the tree, that a rule builds.
static constexpr int64_t mostSteps = 4096;

/// The body of a reduction on whole tensors of one shape.
static Gradients applied(TensorBuilder &e, Block &body, ValueRange firsts,
                         ValueRange seconds) {
  SmallVector<Value> pairs(firsts);
  llvm::append_range(pairs, seconds);
  return applyToTensors(e, body, pairs, tensorOf(firsts[0]).getShape());
}

/// \p value with the elements that \p body computes with.
static Value promoted(TensorBuilder &e, Value value, Block &body, size_t i) {
  return e.convert(value, tensorOf(body.getArgument(i)).getElementType());
}

/// Elements [start, limit) of dimension 0 in steps.
static Value rows(TensorBuilder &e, Value value, int64_t start, int64_t limit,
                  int64_t step) {
  SmallVector<int64_t> starts(tensorOf(value).getRank(), 0),
      limits(tensorOf(value).getShape()), strides(tensorOf(value).getRank(), 1);
  starts[0] = start;
  limits[0] = limit;
  strides[0] = step;
  return e.make<SliceOp>(value, starts, limits, strides);
}

/// Combines neighbours along dimension 0, in their order, until one is left;
/// dimension 0 is dropped.
static Gradients combinedRows(TensorBuilder &e, Block &body,
                              SmallVector<Value> values) {
  while (true) {
    int64_t count = tensorOf(values[0]).getDimSize(0);
    if (count == 1)
      break;
    int64_t even = count / 2 * 2;
    SmallVector<Value> firsts, seconds;
    for (Value each : values) {
      firsts.push_back(rows(e, each, 0, even, 2));
      seconds.push_back(rows(e, each, 1, even, 2));
    }
    auto next = applied(e, body, firsts, seconds);
    if (failed(next))
      return failure();
    if (even != count)
      for (auto [to, from] : llvm::zip_equal(*next, values))
        to = e.concatenate({to, rows(e, from, even, count, 1)}, 0);
    values = *next;
  }
  for (Value &each : values)
    each = e.reshape(each, tensorOf(each).getShape().drop_front());
  return values;
}

/// Goes back from \p results through what was built to \p op's operands and to
/// what its body reads from outside.
static Gradients throughTree(Operation *op, TensorBuilder &e,
                             ValueRange results, ValueRange dy) {
  SmallVector<Value> outputs, seeds;
  for (auto [result, seed] : llvm::zip_equal(results, dy))
    if (seed) {
      outputs.push_back(result);
      seeds.push_back(seed);
    }
  SmallVector<Value> sources = sourcesOf(op);
  llvm::SetVector<Value> once(sources.begin(), sources.end());
  auto gradients = backpropagate(e.builder, outputs, seeds, once.getArrayRef());
  if (failed(gradients))
    return failure();
  DenseMap<Value, Value> bySource;
  for (auto [source, gradient] : llvm::zip_equal(once, *gradients))
    bySource[source] = gradient;
  return llvm::map_to_vector(sources, [&](Value each) {
    return std::exchange(bySource[each], Value());
  });
}

Gradients reducedByTree(ReduceOp op, TensorBuilder &e, ValueRange dy) {
  ArrayRef<int64_t> dimensions = op.getDimensions();
  ArrayRef<int64_t> shape = tensorOf(op.getInputs()[0]).getShape(),
                    result = tensorOf(op->getResult(0)).getShape();
  SmallVector<int64_t> order(dimensions), joined = {1};
  llvm::sort(order);
  for (int64_t dimension : dimensions)
    joined[0] *= shape[dimension];
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i)
    if (!llvm::is_contained(dimensions, i))
      order.push_back(i);
  llvm::append_range(joined, result);
  Block &body = op.getBody().front();
  SmallVector<Value> values, initial;
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    values.push_back(
        promoted(e, e.reshape(e.transpose(input, order), joined), body, i));
  for (auto [i, each] : llvm::enumerate(op.getInitValues()))
    initial.push_back(promoted(e, e.broadcast(each, {}, result), body, i));
  if (joined[0] == 0)
    return throughTree(op, e, initial, dy);
  auto combined = combinedRows(e, body, values);
  if (succeeded(combined))
    combined = applied(e, body, initial, *combined);
  if (failed(combined))
    return failure();
  return throughTree(op, e, *combined, dy);
}

/// Each place of a window is a slice of the padded input: these are combined.
Gradients reducedWindowsByTree(ReduceWindowOp op, TensorBuilder &e,
                               ValueRange dy) {
  ConvolutionWindow window = op.getWindow();
  ArrayRef<int64_t> result = tensorOf(op->getResult(0)).getShape();
  int64_t places = 1;
  for (const WindowDimension &each : window)
    if (llvm::MulOverflow(places, each.size, places) || places > mostSteps)
      return failure();
  if (llvm::is_contained(result, 0))
    return SmallVector<Value>(sourcesOf(op).size());
  SmallVector<int64_t> low, high, interior, strides;
  for (const WindowDimension &each : window) {
    low.push_back(each.paddingLow);
    high.push_back(each.paddingHigh);
    interior.push_back(each.baseDilation - 1);
    strides.push_back(each.stride);
  }
  Block &body = op.getBody().front();
  SmallVector<Value> padded, sum;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    Value initial = op.getInitValues()[i];
    padded.push_back(promoted(
        e, e.make<PadOp>(input, initial, low, high, interior), body, i));
    sum.push_back(promoted(e, e.broadcast(initial, {}, result), body, i));
  }
  for (int64_t place = 0; place < places; ++place) {
    SmallVector<int64_t> starts(window.size()), limits(window.size());
    int64_t rest = place;
    for (size_t i = window.size(); i-- > 0;) {
      starts[i] = rest % window[i].size * window[i].windowDilation;
      rest /= window[i].size;
      limits[i] = starts[i] + (result[i] - 1) * window[i].stride + 1;
    }
    SmallVector<Value> next = llvm::map_to_vector(padded, [&](Value each) {
      return e.make<SliceOp>(each, starts, limits, strides);
    });
    auto combined = applied(e, body, sum, next);
    if (failed(combined))
      return failure();
    sum = *combined;
  }
  return throughTree(op, e, sum, dy);
}

} // namespace sinter::gradient
