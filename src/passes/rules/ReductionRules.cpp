#include "graph/Broadcast.h"
#include "graph/stablehlo/Combination.h"
#include "graph/stablehlo/Sums.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Matching.h"
#include "passes/RegionOnElements.h"
#include "passes/RuleTables.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

/// Whether the operation's result does not depend on the order of a reduction.
static bool isOrderless(StringRef name, Type element) {
  return isa<IntegerType>(element) || name == MaxOp::getOperationName() ||
         name == MinOp::getOperationName();
}

/// The name of the operation by which one tensor is reduced, if the initial
/// value is neutral.
static std::optional<StringRef> neutralReduction(ReduceOp op) {
  if (op.getInputs().size() != 1)
    return std::nullopt;
  std::optional<StringRef> name = soleOperation(op.getBody());
  if (!name || !isNeutral(op.getInitValues()[0], *name))
    return std::nullopt;
  return name;
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

/// Whether the body's result \p k, applied to an element and the initial value,
/// is that element.
static bool givesElement(ReduceOp op, unsigned k) {
  Block &body = op.getBody().front();
  const Value init = body.getArgument(k);
  const Value element = body.getArgument(op.getInputs().size() + k);
  const Value given = body.getTerminator()->getOperand(k);
  if (given == element)
    return true;
  Operation *combined = given.getDefiningOp();
  if (!combined || combined->getBlock() != &body ||
      combined->getNumOperands() != 2 ||
      !isNeutral(op.getInitValues()[k], combined->getName().getStringRef()))
    return false;
  const Value first = combined->getOperand(0), second = combined->getOperand(1);
  return (first == init && second == element) ||
         (first == element && second == init);
}

static bool givesElements(ReduceOp op) {
  return llvm::all_of(llvm::seq<unsigned>(0, op->getNumResults()),
                      [&](unsigned k) { return givesElement(op, k); });
}

/// Whether the body can be applied to tensors.
static bool canReduceOnce(ReduceOp op) {
  return givesElements(op) || appliesToElements(op.getBody());
}

/// The reduction of each of \p elements, of the results' shape, by itself: the
/// body applied to it and the initial value.
static Values reducedOnce(ReduceOp op, ValueRange elements,
                          OpBuilder &builder) {
  Values results(elements);
  if (!givesElements(op)) {
    Values arguments(op.getInitValues());
    llvm::append_range(arguments, elements);
    results = applyToElements(op.getBody(), arguments, builder, op.getLoc());
  }
  // The body may compute in a wider type than that of the inputs.
  for (auto [value, type] : llvm::zip_equal(results, op->getResultTypes()))
    if (value.getType() != type &&
        !isa<quant::QuantizedType>(tensorOf(value).getElementType()))
      value = builder.create<ConvertOp>(op.getLoc(), type, value);
  return results;
}

static Values reduceNothing(ReduceOp op, OpBuilder &builder) {
  return op.getDimensions().empty() && canReduceOnce(op)
             ? reducedOnce(op, op.getInputs(), builder)
             : Values();
}

static Values reduceUnit(ReduceOp op, OpBuilder &builder) {
  auto type = tensorOf(op.getInputs()[0]);
  auto shape = tensorOf(op->getResult(0));
  auto isUnit = [&](int64_t dimension) {
    return type.getDimSize(dimension) == 1;
  };
  auto isQuantized = [](Value value) {
    return isa<quant::QuantizedType>(tensorOf(value).getElementType());
  };
  // A reshape is to a static shape or to one with a bound.
  const bool isKnown = shape.hasStaticShape() || shape.getEncoding();
  if (op.getDimensions().empty() || !llvm::all_of(op.getDimensions(), isUnit) ||
      !isKnown || !isSetByCount(shape) ||
      llvm::any_of(op->getOperands(), isQuantized) || !canReduceOnce(op))
    return {};
  Values elements;
  for (Value input : op.getInputs())
    elements.push_back(builder.create<ReshapeOp>(
        op.getLoc(), shape.clone(tensorOf(input).getElementType()), input));
  return reducedOnce(op, elements, builder);
}

/// A body that returns a value from outside, whatever its arguments.
static Values reduceOutside(ReduceOp op, OpBuilder &builder) {
  auto type = tensorOf(op.getInputs()[0]);
  if (op.getDimensions().empty() || !type.hasStaticShape() ||
      type.getNumElements() == 0)
    return {};
  Operation *end = op.getBody().front().getTerminator();
  for (Value value : end->getOperands())
    if (op.getBody().isAncestor(value.getParentRegion()))
      return {};
  return repeatedInResults(op, end->getOperands(), {}, builder);
}

/// A reduction like \p op of another operand.
static Value reductionOf(ReduceOp op, Value input, ArrayRef<int64_t> dimensions,
                         OpBuilder &builder) {
  auto copy = builder.create<ReduceOp>(op.getLoc(), op->getResultTypes(), input,
                                       op.getInitValues()[0], dimensions);
  IRMapping mapping;
  op.getBody().cloneInto(&copy.getBody(), mapping);
  return copy->getResult(0);
}

template <bool isRelaxed>
static Value reduceReduce(ReduceOp op, OpBuilder &builder) {
  auto name = neutralReduction(op);
  auto inner = name ? op.getInputs()[0].getDefiningOp<ReduceOp>() : ReduceOp();
  if (!inner || !inner->hasOneUse() || neutralReduction(inner) != name ||
      tensorOf(inner.getInputs()[0]).getElementType() !=
          tensorOf(op->getResult(0)).getElementType() ||
      isOrderless(*name, tensorOf(op->getResult(0)).getElementType()) ==
          isRelaxed)
    return {};
  // The dimensions of the first reduction's input for those of the second's.
  int64_t rank = tensorOf(inner.getInputs()[0]).getRank();
  SmallVector<int64_t> kept, all(inner.getDimensions());
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(inner.getDimensions(), i))
      kept.push_back(i);
  for (int64_t dimension : op.getDimensions())
    all.push_back(kept[dimension]);
  llvm::sort(all);
  return reductionOf(op, inner.getInputs()[0], all, builder);
}

/// The order of the reduced dimensions does not matter, if the others keep
/// theirs.
static Value reduceTranspose(ReduceOp op, OpBuilder &builder) {
  auto name = neutralReduction(op);
  auto transpose =
      name ? op.getInputs()[0].getDefiningOp<TransposeOp>() : TransposeOp();
  if (!transpose || !isOrderless(*name, tensorOf(transpose).getElementType()))
    return {};
  SmallVector<int64_t> reduced, kept;
  for (auto [index, dimension] : llvm::enumerate(transpose.getPermutation()))
    (llvm::is_contained(op.getDimensions(), static_cast<int64_t>(index))
         ? reduced
         : kept)
        .push_back(dimension);
  if (!llvm::is_sorted(kept))
    return {};
  llvm::sort(reduced);
  return reductionOf(op, transpose.getOperand(), reduced, builder);
}

//===----------------------------------------------------------------------===//
// Results without uses
//===----------------------------------------------------------------------===//

/// The values of \p block that the \p roots are computed from.
static llvm::DenseSet<Value> sourcesOf(ArrayRef<Value> roots, Block &block) {
  llvm::DenseSet<Value> sources;
  SmallVector<Value> open(roots);
  while (!open.empty()) {
    Value value = open.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (sources.insert(value).second && op && op->getBlock() == &block)
      op->walk([&](Operation *inner) {
        llvm::append_range(open, inner->getOperands());
      });
  }
  return sources;
}

/// Copies \p from to \p to without the arguments in \p isDropped. The
/// terminator's operands at the indices \p returned, which are kept, must not
/// depend on these.
static void copyWithout(Region &from, Region &to,
                        const llvm::SmallBitVector &isDropped,
                        ArrayRef<unsigned> returned, OpBuilder &builder) {
  Block &block = from.front();
  IRMapping mapping;
  SmallVector<Type> types;
  SmallVector<Location> locations;
  for (BlockArgument argument : block.getArguments())
    if (!isDropped[argument.getArgNumber()]) {
      types.push_back(argument.getType());
      locations.push_back(argument.getLoc());
    }
  OpBuilder::InsertionGuard guard(builder);
  Block *copy = builder.createBlock(&to, {}, types, locations);
  unsigned next = 0;
  for (BlockArgument argument : block.getArguments())
    if (!isDropped[argument.getArgNumber()])
      mapping.map(argument, copy->getArgument(next++));
  SmallVector<Value> roots;
  Operation *end = block.getTerminator();
  for (unsigned i : returned)
    roots.push_back(end->getOperand(i));
  llvm::DenseSet<Value> needed = sourcesOf(roots, block);
  for (Operation &op : block.without_terminator())
    if (llvm::any_of(op.getResults(),
                     [&](Value value) { return needed.contains(value); }))
      builder.clone(op, mapping);
  SmallVector<Value> results;
  for (Value root : roots)
    results.push_back(mapping.lookupOrDefault(root));
  builder.create<ReturnOp>(end->getLoc(), results);
}

static Values reduceUnused(ReduceOp op, OpBuilder &builder) {
  unsigned count = op.getInputs().size();
  Block &body = op.getBody().front();
  Operation *end = body.getTerminator();
  if (count < 2 || !isMemoryEffectFree(op))
    return {};
  llvm::SmallBitVector live(count);
  for (unsigned i = 0; i < count; ++i)
    live[i] = !op->getResult(i).use_empty();
  for (bool changed = true; changed;) {
    changed = false;
    SmallVector<Value> roots;
    for (unsigned i : live.set_bits())
      roots.push_back(end->getOperand(i));
    llvm::DenseSet<Value> needed = sourcesOf(roots, body);
    for (unsigned i = 0; i < count; ++i)
      if (!live[i] && (needed.contains(body.getArgument(i)) ||
                       needed.contains(body.getArgument(count + i))))
        live[i] = changed = true;
  }
  if (live.all() || live.none())
    return {};
  SmallVector<Value> inputs, inits;
  SmallVector<Type> types;
  SmallVector<unsigned> returned;
  llvm::SmallBitVector isDropped(2 * count);
  for (unsigned i = 0; i < count; ++i) {
    if (!live[i]) {
      isDropped.set(i).set(count + i);
      continue;
    }
    inputs.push_back(op.getInputs()[i]);
    inits.push_back(op.getInitValues()[i]);
    types.push_back(op->getResultTypes()[i]);
    returned.push_back(i);
  }
  auto copy = builder.create<ReduceOp>(op.getLoc(), types, inputs, inits,
                                       op.getDimensions());
  copyWithout(op.getBody(), copy.getBody(), isDropped, returned, builder);
  Values results(count);
  for (auto [index, i] : llvm::enumerate(returned))
    results[i] = copy->getResult(index);
  return results;
}

static Values sortUnused(SortOp op, OpBuilder &builder) {
  unsigned count = op.getInputs().size();
  Block &block = op.getComparator().front();
  llvm::DenseSet<Value> needed =
      sourcesOf(block.getTerminator()->getOperand(0), block);
  SmallVector<Value> inputs;
  SmallVector<Type> types;
  SmallVector<unsigned> kept;
  llvm::SmallBitVector isDropped(2 * count);
  for (unsigned i = 0; i < count; ++i) {
    if (op->getResult(i).use_empty() &&
        !needed.contains(block.getArgument(2 * i)) &&
        !needed.contains(block.getArgument(2 * i + 1))) {
      isDropped.set(2 * i).set(2 * i + 1);
      continue;
    }
    inputs.push_back(op.getInputs()[i]);
    types.push_back(op->getResult(i).getType());
    kept.push_back(i);
  }
  if (kept.empty() || kept.size() == count || !isMemoryEffectFree(op))
    return {};
  auto copy = builder.create<SortOp>(op.getLoc(), types, inputs,
                                     op.getDimension(), op.getIsStable());
  copyWithout(op.getComparator(), copy.getComparator(), isDropped, {0},
              builder);
  Values results(count);
  for (auto [index, i] : llvm::enumerate(kept))
    results[i] = copy->getResult(index);
  return results;
}

//===----------------------------------------------------------------------===//
// sort, reduce_window, matmuls, batch norms
//===----------------------------------------------------------------------===//

static Values sortUnit(SortOp op, OpBuilder &) {
  auto type = tensorOf(op.getInputs()[0]);
  int64_t dimension = op.getDimension();
  dimension += dimension < 0 ? type.getRank() : 0;
  return type.getRank() && type.getDimSize(dimension) <= 1 &&
                 !type.isDynamicDim(dimension)
             ? Values(op.getInputs())
             : Values();
}

/// A negative dimension, normalised.
static Values sortDimension(SortOp op, OpBuilder &builder) {
  int64_t dimension = op.getDimension();
  if (dimension >= 0)
    return {};
  auto copy = cast<SortOp>(builder.clone(*op));
  copy.setDimension(dimension + tensorOf(op.getInputs()[0]).getRank());
  return Values(copy->getResults());
}

static bool areOnes(std::optional<ArrayRef<int64_t>> list) {
  return !list || areAll(*list, 1);
}
static SmallVector<int64_t> paddingOf(ReduceWindowOp op) {
  if (auto padding = op.getPadding())
    return SmallVector<int64_t>(padding->getValues<int64_t>());
  return SmallVector<int64_t>(2 * op.getWindowDimensions().size(), 0);
}

static std::optional<StringRef> neutralWindow(ReduceWindowOp op) {
  if (op.getInputs().size() != 1)
    return std::nullopt;
  std::optional<StringRef> name = soleOperation(op.getBody());
  if (!name || !isNeutral(op.getInitValues()[0], *name))
    return std::nullopt;
  return name;
}

/// Windows of one element: a strided slice. Not where the operand is widened to
/// be summed up.
static Value windowOfOne(ReduceWindowOp op, OpBuilder &builder) {
  auto isZero = [](int64_t each) { return each == 0; };
  auto type = tensorOf(op.getInputs()[0]);
  if (tensorOf(op->getResult(0)).getElementType() != type.getElementType() ||
      !areOnes(op.getWindowDimensions()) || !areOnes(op.getBaseDilations()) ||
      !llvm::all_of(paddingOf(op), isZero) || !neutralWindow(op) ||
      !type.hasStaticShape())
    return {};
  if (areOnes(op.getWindowStrides()))
    return op.getInputs()[0];
  return builder.create<SliceOp>(op.getLoc(), op->getResult(0).getType(),
                                 op.getInputs()[0],
                                 SmallVector<int64_t>(type.getRank(), 0),
                                 type.getShape(), *op.getWindowStrides());
}

/// Windows over an empty operand, which cover padding only.
static Values windowsOfNothing(ReduceWindowOp op, OpBuilder &builder) {
  return op.getInputs().size() == 1 && neutralWindow(op) &&
                 isEmpty(tensorOf(op.getInputs()[0]))
             ? repeatedInResults(op, op.getInitValues(), {}, builder)
             : Values();
}

/// Whether sums of narrow floats over windows stay the same where \p pad is
/// replaced by its operand and \p padding: a sum accumulated in f32 differs
/// from a running sum, whose partial sums are rounded.
static bool roundsAlike(ReduceWindowOp op, PadOp pad,
                        ArrayRef<int64_t> padding) {
  if (!carriedInF32(op.getBody()))
    return true;
  ArrayRef<Dim> before = dimsOf(pad), after = dimsOf(pad.getOperand());
  if (!isStaticShape(after))
    return false;
  ConvolutionWindow windows = op.getWindow();
  const bool wasScan = scanOf(before, windows).has_value();
  for (auto [i, window] : llvm::enumerate(windows)) {
    window.paddingLow = padding[2 * i];
    window.paddingHigh = padding[2 * i + 1];
  }
  return wasScan == scanOf(after, windows).has_value();
}

/// A window's own padding counts as the initial value: a pad with that value
/// becomes the window's own.
static Value windowPad(ReduceWindowOp op, OpBuilder &builder) {
  auto name = neutralWindow(op);
  auto pad = name ? op.getInputs()[0].getDefiningOp<PadOp>() : PadOp();
  if (!pad || !isNeutral(pad.getPaddingValue(), *name) ||
      !areOnes(op.getBaseDilations()))
    return {};
  SmallVector<int64_t> padding = paddingOf(op);
  for (size_t i = 0; i < padding.size() / 2; ++i) {
    int64_t low = pad.getEdgePaddingLow()[i];
    int64_t high = pad.getEdgePaddingHigh()[i];
    if (low < 0 || high < 0 || pad.getInteriorPadding()[i] ||
        padding[2 * i] < 0 || padding[2 * i + 1] < 0 ||
        llvm::AddOverflow(padding[2 * i], low, padding[2 * i]) ||
        llvm::AddOverflow(padding[2 * i + 1], high, padding[2 * i + 1]))
      return {};
  }
  if (!roundsAlike(op, pad, padding))
    return {};
  auto type = RankedTensorType::get(
      {static_cast<int64_t>(padding.size() / 2), 2}, builder.getI64Type());
  auto copy = cast<ReduceWindowOp>(builder.clone(*op));
  copy->setOperand(0, pad.getOperand());
  copy.setPaddingAttr(DenseIntElementsAttr::get(type, ArrayRef(padding)));
  return copy->getResult(0);
}

static Value batchNormUnit(BatchNormInferenceOp op, OpBuilder &) {
  auto type = tensorOf(op.getVariance());
  std::optional<double> variance = splatValue(op.getVariance());
  std::optional<ElementType> element = elementTypeOf(type.getElementType());
  if (!variance || !element || splatValue(op.getScale()) != 1.0 ||
      splatValue(op.getOffset()) != 0.0 || splatValue(op.getMean()) != 0.0)
    return {};
  double spread = *variance + op.getEpsilon().convertToDouble();
  // Rounded to the type.
  return tensorOfDoubles(*element, {1}, spread).toDouble(0) == 1
             ? Value(op.getOperand())
             : Value();
}

RuleTable reductionRules() {
  static const std::vector<RewriteRule> rules = {
      rule<ReduceOp, reduceNothing>("reduce-nothing",
                                    "reduce(x, init, dims = []) {return "
                                    "op(init, x)} -> x, or op(init, x)"),
      rule<ReduceOp, reduceUnit>("reduce-unit",
                                 "reduce(x : 2x1, dims = [1]) -> reshape(x)"),
      rule<ReduceOp, reduceOutside>("reduce-outside",
                                    "reduce(x) {return y} -> broadcast(y)"),
      rule<ReduceOp, reduceReduce<false>>(
          "reduce-reduce", "reduce(reduce(x)) -> reduce(x), of integers or to "
                           "a minimum or maximum"),
      rule<ReduceOp, reduceReduce<true>>("reduce-reduce-relaxed",
                                         "reduce(reduce(x)) -> reduce(x)",
                                         reassociate),
      rule<ReduceOp, reduceTranspose>("reduce-transpose",
                                      "reduce(transpose(x)) -> reduce(x), of "
                                      "integers or to a minimum or maximum"),
      rule<ReduceOp, reduceUnused>(
          "reduce-unused", "reduce(x, y), only the first used -> reduce(x)"),
      rule<SortOp, sortUnused>("sort-unused",
                               "sort(x, y), y unused -> sort(x)"),
      rule<SortOp, sortUnit>("sort-unit", "sort(x) along size 1 -> x"),
      rule<SortOp, sortDimension>("sort-dimension",
                                  "sort(x, dim = -1) -> sort(x, dim = 1)"),
      rule<ReduceWindowOp, windowOfOne>(
          "reduce-window-one", "reduce_window(x) of 1 element -> x, or slice"),
      rule<ReduceWindowOp, windowsOfNothing>(
          "reduce-window-empty",
          "reduce_window(x : 0x3, init) -> broadcast(init)"),
      rule<ReduceWindowOp, windowPad>(
          "pad-reduce-window",
          "reduce_window(pad(x)) -> reduce_window(x) with padding"),
      rule<BatchNormInferenceOp, batchNormUnit>(
          "batch-norm-unit",
          "batch_norm(x, scale 1, offset 0, mean 0, variance 1) -> x"),
  };
  return {"Reductions, sorts, windows, batch norms", rules};
}

} // namespace sinter
