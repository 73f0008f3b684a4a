// Gradients of reductions by any body: the reduction is written as a tree of
// elementwise operations, through which gradients go back.

#include "graph/gradient/Gradient.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::gradient {

/// Most windows' elements, and most operations of the tree, that a rule builds.
static constexpr int64_t mostSteps = 4096;

/// The body of a reduction, a pair of scalars each, on whole tensors of one
/// shape; null where an operation does not act on elements or reads from
/// outside.
static Gradients applied(TensorBuilder &e, Block &body, ValueRange firsts,
                         ValueRange seconds) {
  DenseMap<Value, Value> mapping;
  ArrayRef<int64_t> shape = tensorOf(firsts[0]).getShape();
  size_t count = firsts.size();
  for (size_t i = 0; i < count; ++i) {
    mapping[body.getArgument(i)] = firsts[i];
    mapping[body.getArgument(count + i)] = seconds[i];
  }
  for (Operation &op : body.without_terminator()) {
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      Operation *copy = e.builder.clone(op);
      mapping[op.getResult(0)] = e.broadcast(copy->getResult(0), {}, shape);
      continue;
    }
    bool actsOnElements =
        op.getNumRegions() == 0 && op.getNumResults() == 1 &&
        (op.hasTrait<OpTrait::Elementwise>() || isa<SelectOp, ClampOp>(op));
    if (!actsOnElements)
      return failure();
    OperationState state(e.location, op.getName());
    for (Value operand : op.getOperands()) {
      Value mapped = mapping.lookup(operand);
      if (!mapped)
        return failure();
      state.addOperands(mapped);
    }
    state.addTypes(RankedTensorType::get(
        shape, tensorOf(op.getResult(0)).getElementType()));
    state.addAttributes(op.getAttrs());
    mapping[op.getResult(0)] = e.builder.create(state)->getResult(0);
  }
  SmallVector<Value> results;
  for (Value value : body.getTerminator()->getOperands()) {
    results.push_back(mapping.lookup(value));
    if (!results.back())
      return failure();
  }
  return results;
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

/// Goes back from \p results through what was built to \p op's operands.
static Gradients throughTree(Operation *op, TensorBuilder &e,
                             ValueRange results, ValueRange dy) {
  SmallVector<Value> outputs, seeds;
  for (auto [result, seed] : llvm::zip_equal(results, dy))
    if (seed) {
      outputs.push_back(result);
      seeds.push_back(seed);
    }
  llvm::SetVector<Value> once(op->operand_begin(), op->operand_end());
  auto gradients = backpropagate(e.builder, outputs, seeds, once.getArrayRef());
  if (failed(gradients))
    return failure();
  DenseMap<Value, Value> bySource;
  for (auto [source, gradient] : llvm::zip_equal(once, *gradients))
    bySource[source] = gradient;
  return llvm::map_to_vector(op->getOperands(), [&](Value operand) {
    return std::exchange(bySource[operand], Value());
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
  if (llvm::is_contained(shape, 0))
    return failure();
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i)
    if (!llvm::is_contained(dimensions, i))
      order.push_back(i);
  llvm::append_range(joined, result);
  Block &body = op.getBody().front();
  SmallVector<Value> values, initial;
  for (Value input : op.getInputs())
    values.push_back(e.reshape(e.transpose(input, order), joined));
  auto combined = combinedRows(e, body, values);
  if (failed(combined))
    return failure();
  for (Value each : op.getInitValues())
    initial.push_back(e.broadcast(each, {}, result));
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
  if (llvm::is_contained(result, 0) ||
      llvm::is_contained(tensorOf(op.getInputs()[0]).getShape(), 0))
    return failure();
  SmallVector<int64_t> low, high, interior, strides;
  for (const WindowDimension &each : window) {
    low.push_back(each.paddingLow);
    high.push_back(each.paddingHigh);
    interior.push_back(each.baseDilation - 1);
    strides.push_back(each.stride);
  }
  Block &body = op.getBody().front();
  SmallVector<Value> padded, sum;
  for (auto [input, initial] :
       llvm::zip_equal(op.getInputs(), op.getInitValues())) {
    padded.push_back(e.make<PadOp>(input, initial, low, high, interior));
    sum.push_back(e.broadcast(initial, {}, result));
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
