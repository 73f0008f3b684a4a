// Gradients of reductions with arbitrary bodies: the reduction is unrolled to a
// tree of elementwise operations, through which gradients go back.

#include "graph/gradient/Gradient.h"
#include "graph/stablehlo/WholeTensors.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::gradient {

/// The largest window that is unrolled; larger ones become a loop.
static constexpr int64_t mostWritten = 256;
/// The largest window whose memory use is not checked.
static constexpr int64_t mostPlaces = 4096;

/// Applies the body of a reduction to whole tensors of one shape.
static Gradients applied(TensorBuilder &e, Block &body, ValueRange firsts,
                         ValueRange seconds) {
  SmallVector<Value> pairs(firsts);
  llvm::append_range(pairs, seconds);
  return applyToTensors(e, body, pairs, tensorOf(firsts[0]).getShape());
}

/// \p value converted to the element type that \p body computes with.
static Value promoted(TensorBuilder &e, Value value, Block &body, size_t i) {
  return e.convert(value, tensorOf(body.getArgument(i)).getElementType());
}

FailureOr<Value> combinedInOrder(TensorBuilder &e, Block &body,
                                 ValueRange parts) {
  Value sum = promoted(e, parts.front(), body, 0);
  for (Value part : parts.drop_front()) {
    auto next = applied(e, body, sum, promoted(e, part, body, 1));
    if (failed(next))
      return failure();
    sum = next->front();
  }
  return sum;
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

/// Backpropagates from \p results through the built operations to \p op's
/// operands and to the values that its body captures.
static Gradients throughTree(Operation *op, TensorBuilder &e,
                             ValueRange results, ValueRange dy) {
  return backpropagateKnown(e.builder, SmallVector<Value>(results), dy,
                            sourcesOf(op));
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

namespace {

/// The windows of a reduction. The elements of all windows at one window
/// position are a slice of the padded input; the slices are combined one after
/// the other.
class Windows {
public:
  Windows(ReduceWindowOp op, TensorBuilder &e)
      : e(e), body(op.getBody().front()), window(op.getWindow()),
        result(tensorOf(op->getResult(0)).getShape()) {
    SmallVector<int64_t> low, high, interior;
    for (auto [size, each] : llvm::zip_equal(result, window)) {
      low.push_back(each.paddingLow);
      high.push_back(each.paddingHigh);
      interior.push_back(each.baseDilation - 1);
      strides.push_back(each.stride);
      extents.push_back((size - 1) * each.stride + 1);
    }
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      Value initial = op.getInitValues()[i];
      padded.push_back(promoted(
          e, e.make<PadOp>(input, initial, low, high, interior), body, i));
      initials.push_back(
          promoted(e, e.broadcast(initial, {}, result), body, i));
    }
  }

  /// Unrolled: one operation per window position.
  Gradients combined(int64_t places) {
    SmallVector<Value> sum = initials;
    for (int64_t place = 0; place < places; ++place) {
      SmallVector<int64_t> starts(window.size()), limits(window.size());
      int64_t rest = place;
      for (size_t i = window.size(); i-- > 0;) {
        starts[i] = rest % window[i].size * window[i].windowDilation;
        rest /= window[i].size;
        limits[i] = starts[i] + extents[i];
      }
      SmallVector<Value> next = llvm::map_to_vector(padded, [&](Value each) {
        return e.make<SliceOp>(each, starts, limits, strides);
      });
      auto applied = gradient::applied(e, body, sum, next);
      if (failed(applied))
        return failure();
      sum = *applied;
    }
    return sum;
  }

  /// As a loop over the window positions.
  Gradients combinedByLoop(int64_t places) {
    SmallVector<Value> carried = {e.scalar(0, e.integerType(64))};
    llvm::append_range(carried, initials);
    bool isBuilt = true;
    auto loop = buildLoop(
        e, carried,
        [&](TensorBuilder &inner, ValueRange values) {
          return inner.compare(ComparisonDirection::LT, values[0],
                               static_cast<double>(places));
        },
        [&](TensorBuilder &inner, ValueRange values) {
          auto applied = gradient::applied(inner, body, values.drop_front(),
                                           elementsAt(inner, values[0]));
          isBuilt = succeeded(applied);
          SmallVector<Value> next(values);
          next[0] = inner.add(values[0], 1);
          if (isBuilt)
            llvm::copy(*applied, next.begin() + 1);
          return next;
        });
    if (!isBuilt)
      return failure();
    return SmallVector<Value>(loop->getResults().drop_front());
  }

private:
  SmallVector<Value> elementsAt(TensorBuilder &inner, Value place) {
    SmallVector<Value> starts(window.size());
    for (size_t i = window.size(); i-- > 0;) {
      const auto size = static_cast<double>(window[i].size);
      Value before = inner.div(place, size);
      Value index = inner.sub(place, inner.mul(before, size));
      starts[i] =
          inner.mul(index, static_cast<double>(window[i].windowDilation));
      place = before;
    }
    SmallVector<int64_t> none(window.size(), 0);
    return llvm::map_to_vector(padded, [&](Value each) -> Value {
      Value slice = inner.make<DynamicSliceOp>(each, starts, extents);
      return inner.make<SliceOp>(slice, none, extents, strides);
    });
  }

  TensorBuilder &e;
  Block &body;
  ConvolutionWindow window;
  ArrayRef<int64_t> result;
  SmallVector<int64_t> strides, extents;
  SmallVector<Value> padded, initials;
};

} // namespace

Gradients reducedWindowsByTree(ReduceWindowOp op, TensorBuilder &e,
                               ValueRange dy) {
  auto type = tensorOf(op->getResult(0));
  int64_t places = 1, kept = type.getNumElements();
  if (kept == 0)
    return SmallVector<Value>(sourcesOf(op).size());
  for (const WindowDimension &each : op.getWindow())
    if (llvm::MulOverflow(places, each.size, places) ||
        llvm::MulOverflow(kept, each.size, kept))
      return failure();
  if (places > mostPlaces && kept > mostKept)
    return failure();
  Windows windows(op, e);
  auto results = places > mostWritten ? windows.combinedByLoop(places)
                                      : windows.combined(places);
  if (failed(results))
    return failure();
  return throughTree(op, e, *results, dy);
}

} // namespace sinter::gradient
