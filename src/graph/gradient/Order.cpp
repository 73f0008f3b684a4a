// Gradients of sort, and of operations that pass values on.

#include "graph/gradient/Gradient.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::gradient {

/// Sorts the operands together with their positions, then the gradients by
/// these positions: the inverse permutation.
static Gradients sorted(SortOp op, TensorBuilder &e, ValueRange dy) {
  auto type = tensorOf(op.getInputs()[0]);
  int64_t rank = type.getRank();
  int64_t dimension = static_cast<int64_t>(op.getDimension());
  if (dimension < 0)
    dimension += rank;
  SmallVector<Value> inputs(op.getInputs());
  Value stood = e.iota(type.getShape(), dimension, e.integerType(64));
  inputs.push_back(stood);
  SmallVector<Type> types = llvm::map_to_vector(
      inputs, [](Value each) { return Type(each.getType()); });
  auto again = e.builder.create<SortOp>(e.location, types, inputs,
                                        static_cast<uint64_t>(dimension),
                                        op.getIsStable());
  SmallVector<Type> pairs;
  for (Type each : types)
    pairs.append(2, each);
  Block &comparator = op.getComparator().front();
  e.fill(again.getComparator(), pairs,
         [&](TensorBuilder &inner, ValueRange values) {
           IRMapping mapping;
           mapping.map(comparator.getArguments(), values.drop_back(2));
           for (Operation &each : comparator.without_terminator())
             inner.builder.clone(each, mapping);
           return SmallVector<Value>{mapping.lookupOrDefault(
               comparator.getTerminator()->getOperand(0))};
         });
  // By position: each gradient goes back to its element.
  SmallVector<Value> keyed = {again->getResults().back()};
  for (Value gradient : dy)
    if (gradient)
      keyed.push_back(gradient);
  types = llvm::map_to_vector(keyed,
                              [](Value each) { return Type(each.getType()); });
  auto back = e.builder.create<SortOp>(e.location, types, keyed,
                                       static_cast<uint64_t>(dimension),
                                       /*is_stable=*/false);
  pairs.clear();
  for (Type each : types)
    pairs.append(2, each);
  e.fill(back.getComparator(), pairs,
         [](TensorBuilder &inner, ValueRange values) {
           return SmallVector<Value>{
               inner.compare(ComparisonDirection::LT, values[0], values[1])};
         });
  SmallVector<Value> gradients;
  size_t next = 1;
  for (Value gradient : dy)
    gradients.push_back(gradient ? back->getResult(next++) : Value());
  return gradients;
}

/// The window of select_and_scatter.
static SmallVector<WindowDimension> windowOf(SelectAndScatterOp op) {
  SmallVector<WindowDimension> window;
  for (int64_t i = 0; i < tensorOf(op.getOperand()).getRank(); ++i) {
    WindowDimension each;
    if (auto sizes = op.getWindowDimensions())
      each.size = (*sizes)[i];
    if (auto strides = op.getWindowStrides())
      each.stride = (*strides)[i];
    if (auto padding = op.getPadding()) {
      auto numbers = llvm::to_vector(padding->getValues<int64_t>());
      each.paddingLow = numbers[2 * i];
      each.paddingHigh = numbers[2 * i + 1];
    }
    window.push_back(each);
  }
  return window;
}

/// The elements of \p value, of the operand's shape, that windows select;
/// \p otherwise where a window has none.
static Value chosenOf(SelectAndScatterOp op, TensorBuilder &e, Value value,
                      double otherwise) {
  Value operand = op.getOperand();
  auto type = tensorOf(operand);
  Type i32 = e.integerType(32);
  // Padding is marked by -1.
  Value seen = e.splat(0, RankedTensorType::get(type.getShape(), i32));
  SmallVector<Value> inputs = {operand, value, seen};
  SmallVector<Value> initial = {
      e.scalar(0, type.getElementType()),
      e.scalar(otherwise, tensorOf(value).getElementType()), e.scalar(-1, i32)};
  Block &select = op.getSelect().front();
  return e.reduceWindow(
      inputs, initial, windowOf(op),
      [&](TensorBuilder &inner, ValueRange values) {
        IRMapping mapping;
        mapping.map(select.getArguments(), ValueRange{values[0], values[3]});
        for (Operation &each : select.without_terminator())
          inner.builder.clone(each, mapping);
        Value keepsFirst =
            mapping.lookupOrDefault(select.getTerminator()->getOperand(0));
        Value hasFirst = inner.compare(ComparisonDirection::GE, values[2], 0);
        Value hasSecond = inner.compare(ComparisonDirection::GE, values[5], 0);
        Value first = inner.make<OrOp>(inner.make<AndOp>(hasFirst, keepsFirst),
                                       inner.make<NotOp>(hasSecond));
        SmallVector<Value> results;
        for (unsigned i = 0; i < 3; ++i)
          results.push_back(inner.select(first, values[i], values[3 + i]));
        return results;
      })[1];
}

/// The source gets the gradients at the selected positions, the initial value
/// those of all. Where sources are not added up, gradients go through a scatter
/// to the selected positions.
static Gradients selectedAndScattered(SelectAndScatterOp op, TensorBuilder &e,
                                      ValueRange dy) {
  Value source = op.getSource();
  auto type = tensorOf(op->getResult(0));
  SmallVector<Value> sources = sourcesOf(op), gradients(sources.size());
  if (type.getNumElements() == 0)
    return gradients;
  if (hasGradient(source) &&
      combinerOf(op.getScatter()) == AddOp::getOperationName()) {
    gradients[1] = tensorOf(source).getNumElements() == 0
                       ? Value()
                       : chosenOf(op, e, dy[0], 0);
    gradients[2] = e.sum(dy[0], allDimensions(dy[0]));
    return gradients;
  }
  Type i64 = e.integerType(64);
  Value ids =
      e.reshape(e.iota({type.getNumElements()}, 0, i64), type.getShape());
  int64_t count = tensorOf(source).getNumElements();
  Value places = e.reshape(chosenOf(op, e, ids, -1), {count});
  Value into = e.broadcast(op.getInitValue(), {}, {type.getNumElements()});
  auto numbers = ScatterDimensionNumbersAttr::get(op.getContext(), {},
                                                  ArrayRef<int64_t>(0), {}, {},
                                                  ArrayRef<int64_t>(0), 1);
  auto scatter = e.builder.create<ScatterOp>(
      e.location, TypeRange(Type(into.getType())), ValueRange(into), places,
      ValueRange(e.reshape(source, {count})), numbers,
      /*indices_are_sorted=*/false, /*unique_indices=*/false);
  IRMapping mapping;
  op.getScatter().cloneInto(&scatter.getUpdateComputation(), mapping);
  Value result = e.reshape(scatter->getResult(0), type.getShape());
  llvm::SetVector<Value> once(sources.begin(), sources.end());
  auto found = backpropagate(e.builder, result, dy, once.getArrayRef());
  if (failed(found))
    return failure();
  for (auto [from, gradient] : llvm::zip_equal(once, *found))
    gradients[llvm::find(sources, from) - sources.begin()] = gradient;
  return gradients;
}

/// Passes the gradient on unchanged.
template <typename Op>
static Gradients handedOn(Op, TensorBuilder &, ValueRange dy) {
  return SmallVector<Value>(dy);
}

void attachOrder(MLIRContext *context) {
  attach<SortOp, sorted>(context);
  attach<SelectAndScatterOp, selectedAndScattered>(context);
  attach<OptimizationBarrierOp, handedOn<OptimizationBarrierOp>>(context);
  // Rounding lets gradients through.
  attach<ReducePrecisionOp, handedOn<ReducePrecisionOp>>(context);
}

} // namespace sinter::gradient
