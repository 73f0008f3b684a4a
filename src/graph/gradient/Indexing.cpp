// Gradients of gather and scatter.

#include "graph/gradient/Gradient.h"

#include "graph/nn/NnTrees.h"
#include "graph/stablehlo/WholeTensors.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::gradient {

/// Combines an element with an update, both scalars.
using Combine = llvm::function_ref<Value(TensorBuilder &, Value, Value)>;

/// stablehlo.scatter of one tensor.
static Value scatterWith(TensorBuilder &e, Value into, Value indices,
                         Value updates, ScatterDimensionNumbersAttr numbers,
                         Combine combine) {
  auto op = e.builder.create<ScatterOp>(
      e.location, TypeRange(Type(into.getType())), ValueRange(into), indices,
      ValueRange(updates), numbers, /*indices_are_sorted=*/false,
      /*unique_indices=*/false);
  Type scalar = RankedTensorType::get({}, tensorOf(into).getElementType());
  e.fill(op.getUpdateComputation(), {scalar, scalar},
         [&](TensorBuilder &inner, ValueRange pair) {
           return SmallVector<Value>{combine(inner, pair[0], pair[1])};
         });
  return op->getResult(0);
}

static Value sumOf(TensorBuilder &e, Value a, Value b) { return e.add(a, b); }
static Value productOf(TensorBuilder &e, Value a, Value b) {
  return e.mul(a, b);
}
static Value lastOf(TensorBuilder &, Value, Value b) { return b; }

/// Indices as i64; ui64 values that do not fit stay far out of bounds.
static Value wideIndices(TensorBuilder &e, Value indices) {
  Type element = tensorOf(indices).getElementType();
  if (element.isUnsignedInteger(64))
    indices = e.min(indices, 0x1p62);
  return e.convert(indices, e.integerType(64));
}

/// One value per component of an index, broadcast to the indices' shape.
static Value alongIndices(TensorBuilder &e, Value indices,
                          int64_t vectorDimension, ArrayRef<int64_t> numbers) {
  auto type = tensorOf(indices);
  Value row = e.integers(numbers);
  if (vectorDimension == type.getRank())
    return e.broadcast(e.reshape(row, {}), {}, type.getShape());
  return e.broadcast(row, {vectorDimension}, type.getShape());
}

/// Adds up the gradients of elements that were read several times. Gather
/// clamps indices, scatter skips those out of bounds: so they are clamped
/// first.
static Gradients gathered(GatherOp op, TensorBuilder &e, ValueRange dy) {
  Value operand = op.getOperand();
  if (!hasGradient(operand))
    return failure();
  GatherDimensionNumbersAttr from = op.getDimensionNumbers();
  Value indices = wideIndices(e, op.getStartIndices());
  SmallVector<int64_t> greatest =
      llvm::map_to_vector(from.getStartIndexMap(), [&](int64_t dimension) {
        return tensorOf(operand).getDimSize(dimension) -
               op.getSliceSizes()[dimension];
      });
  indices = e.min(e.max(indices, 0),
                  alongIndices(e, indices, from.getIndexVectorDim(), greatest));
  auto numbers = ScatterDimensionNumbersAttr::get(
      op.getContext(), from.getOffsetDims(), from.getCollapsedSliceDims(),
      from.getOperandBatchingDims(), from.getStartIndicesBatchingDims(),
      from.getStartIndexMap(), from.getIndexVectorDim());
  Value zero = e.splat(0, tensorOf(operand));
  return list({scatterWith(e, zero, indices, dy[0], numbers, sumOf), Value()});
}

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

/// The sizes of a scatter's windows, one for each dimension of the input.
static SmallVector<int64_t> windowSizes(ScatterOp op) {
  ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
  ArrayRef<int64_t> updates = tensorOf(op.getUpdates()[0]).getShape();
  SmallVector<int64_t> sizes;
  size_t next = 0;
  for (int64_t i = 0; i < tensorOf(op.getInputs()[0]).getRank(); ++i) {
    bool isOne = llvm::is_contained(numbers.getInsertedWindowDims(), i) ||
                 llvm::is_contained(numbers.getInputBatchingDims(), i);
    sizes.push_back(isOne ? 1 : updates[numbers.getUpdateWindowDims()[next++]]);
  }
  return sizes;
}

/// For each update element, the element of \p value, of the inputs' shape, at
/// its target; \p outside if out of bounds. Windows may lie partly outside, and
/// gather would move them: so the value is padded by the windows' size.
static Value atTargets(ScatterOp op, TensorBuilder &e, Value value,
                       double outside) {
  ScatterDimensionNumbersAttr from = op.getScatterDimensionNumbers();
  SmallVector<int64_t> sizes = windowSizes(op), border(sizes.size(), 0),
                       none(sizes.size(), 0), reach;
  for (int64_t dimension : from.getScatterDimsToOperandDims()) {
    border[dimension] = sizes[dimension];
    reach.push_back(sizes[dimension]);
  }
  Value filler = e.scalar(outside, tensorOf(value).getElementType());
  Value padded = e.make<PadOp>(value, filler, border, border, none);
  Value indices = wideIndices(e, op.getScatterIndices());
  indices =
      e.add(indices, alongIndices(e, indices, from.getIndexVectorDim(), reach));
  auto numbers = GatherDimensionNumbersAttr::get(
      op.getContext(), from.getUpdateWindowDims(), from.getInsertedWindowDims(),
      from.getInputBatchingDims(), from.getScatterIndicesBatchingDims(),
      from.getScatterDimsToOperandDims(), from.getIndexVectorDim());
  return e.make<GatherOp>(padded, indices, numbers, ArrayRef<int64_t>(sizes));
}

namespace {

/// A scatter of single elements: inputs and updates are vectors, and each
/// update has a target index, -1 for none.
class FlatScatter {
public:
  FlatScatter(ScatterOp op, TensorBuilder &e, ValueRange dy)
      : op(op), e(e), body(op.getUpdateComputation().front()),
        count(op.getInputs().size()) {
    auto type = tensorOf(op.getInputs()[0]);
    size = type.getNumElements();
    updateCount = tensorOf(op.getUpdates()[0]).getNumElements();
    Type i64 = e.integerType(64);
    Value ids = e.reshape(e.iota({size}, 0, i64), type.getShape());
    places = flat(atTargets(op, e, ids, -1));
    for (size_t i = 0; i < count; ++i) {
      inputs.push_back(flat(op.getInputs()[i]));
      updates.push_back(flat(op.getUpdates()[i]));
      gradients.push_back(dy[i] ? flat(dy[i]) : Value());
    }
    isInside = e.compare(ComparisonDirection::GE, places, 0);
  }

  Gradients build() {
    Value returned = body.getTerminator()->getOperand(0);
    StringRef combiner = combinerOf(op.getUpdateComputation());
    if (count == 1 && returned == body.getArgument(1))
      return replaced();
    if (count == 1 && combiner == MulOp::getOperationName())
      return multiplied();
    bool isMinOrMax = combiner == MaxOp::getOperationName() ||
                      combiner == MinOp::getOperationName();
    if (count == 1 && isMinOrMax && !isComplex(inputs[0]))
      return extreme();
    return op.getUniqueIndices() || updateCount == 1 ? once() : oneByOne();
  }

private:
  Value flat(Value value) {
    return e.reshape(value, {tensorOf(value).getNumElements()});
  }

  Value where(Value condition, Value value) {
    return e.select(condition, value, e.splat(0, tensorOf(value)));
  }

  /// The elements of \p value, a vector of the inputs' size, at the target
  /// indices.
  Value take(Value value) {
    auto numbers = GatherDimensionNumbersAttr::get(op.getContext(), {},
                                                   ArrayRef<int64_t>(0), {}, {},
                                                   ArrayRef<int64_t>(0), 1);
    return e.make<GatherOp>(value, places, numbers, ArrayRef<int64_t>(1));
  }

  Value put(Value into, Value elements, Combine combine) {
    auto numbers = ScatterDimensionNumbersAttr::get(
        op.getContext(), {}, ArrayRef<int64_t>(0), {}, {}, ArrayRef<int64_t>(0),
        1);
    return scatterWith(e, into, places, elements, numbers, combine);
  }

  /// The gradients, reshaped to the operands.
  Gradients shaped(Value byInput, Value byUpdate) {
    return list({e.reshape(byInput, tensorOf(op.getInputs()[0]).getShape()),
                 Value(),
                 e.reshape(byUpdate, tensorOf(op.getUpdates()[0]).getShape())});
  }

  /// Each element belongs to the update that was written last.
  Gradients replaced() {
    Value numbers = e.iota({updateCount}, 0, e.integerType(64));
    Value none = e.splat(-1, RankedTensorType::get({size}, e.integerType(64)));
    Value winners = put(none, numbers, lastOf);
    Value stays = e.make<AndOp>(
        isInside, e.compare(ComparisonDirection::EQ, take(winners), numbers));
    return shaped(
        where(e.compare(ComparisonDirection::LT, winners, 0), gradients[0]),
        where(stays, take(gradients[0])));
  }

  /// Maxima (minima) share the gradient of their element.
  Gradients extreme() {
    Value result = flat(op->getResult(0));
    Type element = tensorOf(result).getElementType();
    Value isInput = e.compare(ComparisonDirection::EQ, inputs[0], result);
    Value isUpdate = e.make<AndOp>(
        isInside, e.compare(ComparisonDirection::EQ, updates[0], take(result)));
    Value sharers =
        put(e.convert(isInput, element), e.convert(isUpdate, element), sumOf);
    Value share = e.div(gradients[0], sharers);
    return shaped(where(isInput, share), where(isUpdate, take(share)));
  }

  /// Each factor gets the product of the others of its element: the product of
  /// the factors that are not zero, if there is no other zero.
  Gradients multiplied() {
    auto isZero = [&](Value value) {
      return e.compare(ComparisonDirection::EQ, value, 0);
    };
    auto orOne = [&](Value value) {
      return e.select(isZero(value), e.splat(1, tensorOf(value)), value);
    };
    Type i64 = e.integerType(64);
    Value product = put(orOne(inputs[0]), orOne(updates[0]), productOf);
    Value zeros = put(e.convert(isZero(inputs[0]), i64),
                      e.convert(isZero(updates[0]), i64), sumOf);
    auto byFactor = [&](Value factor, Value product, Value zeros, Value dy) {
      Value others = e.sub(zeros, e.convert(isZero(factor), i64));
      Value rest = e.div(product, orOne(factor));
      return where(isZero(others), e.mul(dy, conjugate(e, rest)));
    };
    Value byUpdate =
        byFactor(updates[0], take(product), take(zeros), take(gradients[0]));
    return shaped(byFactor(inputs[0], product, zeros, gradients[0]),
                  where(isInside, byUpdate));
  }

  /// For unique indices: no element gets two updates.
  Gradients once() {
    SmallVector<Value> pairs, seeds;
    for (Value input : inputs)
      pairs.push_back(take(input));
    llvm::append_range(pairs, updates);
    auto results = applyToTensors(e, body, pairs, {updateCount});
    if (failed(results))
      return failure();
    for (Value gradient : gradients)
      seeds.push_back(gradient ? where(isInside, take(gradient)) : Value());
    SmallVector<Value> sources(pairs), captured = capturedValues();
    llvm::append_range(sources, captured);
    auto found = backpropagateKnown(e.builder, *results, seeds, sources);
    if (failed(found))
      return failure();
    Value isWritten =
        put(e.splat(0, RankedTensorType::get({size}, e.integerType(32))),
            e.splat(1, RankedTensorType::get({updateCount}, e.integerType(32))),
            lastOf);
    Value isLeft = e.compare(ComparisonDirection::EQ, isWritten, 0);
    SmallVector<Value> all(op->getNumOperands());
    for (size_t i = 0; i < count; ++i) {
      Value kept = gradients[i] ? where(isLeft, gradients[i]) : Value();
      if (Value through = (*found)[i])
        kept =
            put(kept ? kept : e.splat(0, tensorOf(inputs[i])), through, sumOf);
      if (kept)
        all[i] = e.reshape(kept, tensorOf(op.getInputs()[i]).getShape());
      if (Value through = (*found)[count + i])
        all[count + 1 + i] =
            e.reshape(through, tensorOf(op.getUpdates()[i]).getShape());
    }
    llvm::append_range(all, ArrayRef(*found).drop_front(2 * count));
    return all;
  }

  /// Builds a loop over the updates, through which gradients go back.
  Gradients oneByOne() {
    if (size != 0 && updateCount > mostKept / size)
      return failure();
    SmallVector<Value> carried = {e.scalar(0, e.integerType(64))};
    llvm::append_range(carried, inputs);
    bool isBuilt = true;
    auto loop = buildLoop(
        e, carried,
        [&](TensorBuilder &inner, ValueRange values) {
          return inner.compare(ComparisonDirection::LT, values[0],
                               static_cast<double>(updateCount));
        },
        [&](TensorBuilder &inner, ValueRange values) {
          auto next = combined(inner, values);
          isBuilt = succeeded(next);
          return isBuilt ? *next : SmallVector<Value>(values);
        });
    if (!isBuilt)
      return failure();
    SmallVector<Value> results, sources(inputs), captured = capturedValues();
    for (size_t i = 0; i < count; ++i)
      results.push_back(loop->getResult(1 + i));
    llvm::append_range(sources, updates);
    llvm::append_range(sources, captured);
    auto found = backpropagateKnown(e.builder, results, gradients, sources);
    if (failed(found))
      return failure();
    SmallVector<Value> all(op->getNumOperands());
    for (size_t i = 0; i < count; ++i) {
      if (Value each = (*found)[i])
        all[i] = e.reshape(each, tensorOf(op.getInputs()[i]).getShape());
      if (Value each = (*found)[count + i])
        all[count + 1 + i] =
            e.reshape(each, tensorOf(op.getUpdates()[i]).getShape());
    }
    llvm::append_range(all, ArrayRef(*found).drop_front(2 * count));
    return all;
  }

  /// The vectors after one update, whose index is the first value.
  Gradients combined(TensorBuilder &inner, ValueRange values) {
    auto at = [&](Value vector, Value place) {
      return inner.make<DynamicSliceOp>(vector, place, ArrayRef<int64_t>(1));
    };
    Value place = at(places, values[0]);
    Value isHere = inner.compare(ComparisonDirection::GE, place, 0);
    place = inner.reshape(inner.max(place, 0), {});
    SmallVector<Value> pairs;
    for (Value vector : values.drop_front())
      pairs.push_back(at(vector, place));
    for (Value update : updates)
      pairs.push_back(at(update, values[0]));
    auto results = applyToTensors(inner, body, pairs, {1});
    if (failed(results))
      return failure();
    SmallVector<Value> next = {inner.add(values[0], 1)};
    for (size_t i = 0; i < count; ++i)
      next.push_back(inner.make<DynamicUpdateSliceOp>(
          values[1 + i], inner.select(isHere, (*results)[i], pairs[i]), place));
    return next;
  }

  SmallVector<Value> capturedValues() {
    return llvm::to_vector(
        ArrayRef(sourcesOf(op)).drop_front(op->getNumOperands()));
  }

  ScatterOp op;
  TensorBuilder &e;
  Block &body;
  size_t count;
  int64_t size, updateCount;
  Value places, isInside;
  SmallVector<Value> inputs, updates, gradients;
};

} // namespace

static Gradients scattered(ScatterOp op, TensorBuilder &e, ValueRange dy) {
  auto isEmpty = [](Value each) {
    return llvm::is_contained(tensorOf(each).getShape(), 0);
  };
  if (isEmpty(op.getInputs()[0]) || isEmpty(op.getUpdates()[0])) {
    SmallVector<Value> gradients(dy);
    gradients.resize(sourcesOf(op).size());
    return gradients;
  }
  bool isSum =
      op.getInputs().size() == 1 && hasGradient(op.getInputs()[0]) &&
      combinerOf(op.getUpdateComputation()) == AddOp::getOperationName();
  if (isSum)
    return list({dy[0], Value(), atTargets(op, e, dy[0], 0)});
  return FlatScatter(op, e, dy).build();
}

void attachIndexing(MLIRContext *context) {
  attach<GatherOp, gathered>(context);
  attach<ScatterOp, scattered>(context);
  // A step function: its derivative is zero wherever it has one.
  attach<nn::TreeEnsembleOp, [](nn::TreeEnsembleOp, TensorBuilder &,
                                ValueRange) { return list({Value()}); }>(
      context);
}

} // namespace sinter::gradient
