//===- ReductionRecipes.cpp - drawing reductions and windows --------------===//

#include "random/WindowDraw.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace sinter {

Rounding sumRounding(Type element) {
  return isa<FloatType, ComplexType>(element) ? Rounding::Rounds
                                              : Rounding::Exact;
}

namespace {

/// A way to join two elements, and a value that leaves the other as it is.
struct Combiner {
  StringRef name;
  int64_t neutral;
  bool isExact;
};

/// For \p count elements that become one.
Combiner drawCombiner(Draft &draft, Type element, int64_t count) {
  static constexpr Combiner sums[] = {{"stablehlo.add", 0, false}};
  static constexpr Combiner ordered[] = {{"stablehlo.add", 0, false},
                                         {"stablehlo.multiply", 1, false},
                                         {"stablehlo.maximum", -4, true},
                                         {"stablehlo.minimum", 4, true}};
  static constexpr Combiner bitwise[] = {
      {"stablehlo.and", -1, true},     {"stablehlo.or", 0, true},
      {"stablehlo.xor", 0, true},      {"stablehlo.add", 0, true},
      {"stablehlo.multiply", 1, true}, {"stablehlo.maximum", 0, true},
      {"stablehlo.minimum", 3, true}};
  if (isa<ComplexType>(element))
    return draft.dice.among(sums);
  if (isa<IntegerType>(element))
    return draft.dice.among(bitwise);
  // Long sums and products of narrow floats leave their range at different
  // places, depending on the order.
  if (!element.isF32() && !element.isF64())
    return draft.dice.among(ArrayRef(ordered).drop_front(2));
  // Nothing is known of the cosine of a product as large as many make it.
  constexpr int64_t mostFactors = 8;
  const Combiner drawn = draft.dice.among(ordered);
  return drawn.name == "stablehlo.multiply" && count > mostFactors ? sums[0]
                                                                   : drawn;
}

Value combined(Draft &draft, StringRef name, Value lhs, Value rhs) {
  OperationState state(draft.location, name);
  state.addOperands({lhs, rhs});
  state.addTypes(lhs.getType());
  return draft.builder.create(state)->getResult(0);
}

/// A type that \p element may be summed in.
Type accumulatorType(Draft &draft, Type element) {
  if (!draft.dice.oneIn(6))
    return element;
  if (auto integer = dyn_cast<IntegerType>(element))
    return integer.getWidth() < 32 && integer.getWidth() > 1
               ? IntegerType::get(integer.getContext(), 32,
                                  integer.getSignedness())
               : element;
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
    return draft.builder.getF32Type();
  return element;
}

/// The tuple that comes first or last in lexical order.
SmallVector<Value> minMaxTuple(Draft &draft, ValueRange values, bool least) {
  using stablehlo::ComparisonDirection;
  const size_t half = values.size() / 2;
  Value isFirst;
  for (size_t i = half; i-- > 0;) {
    Value lhs = values[i], rhs = values[i + half];
    Value before = draft.compared(
        lhs, rhs, least ? ComparisonDirection::LT : ComparisonDirection::GT);
    if (isFirst) {
      Value ties = draft.compared(lhs, rhs, ComparisonDirection::EQ);
      before = combined(draft, "stablehlo.or", before,
                        combined(draft, "stablehlo.and", ties, isFirst));
    }
    isFirst = before;
  }
  SmallVector<Value> results;
  for (size_t i = 0; i < half; ++i)
    results.push_back(draft.builder.create<stablehlo::SelectOp>(
        draft.location, isFirst, values[i], values[i + half]));
  return results;
}

/// What joins the elements of several tensors.
enum class Joining {
  EachByItself,
  MinMaxTuple,
  Expression ///< For operations whose order is that of the elements.
};

/// Tensors of one shape, and what joins their elements.
struct Reducing {
  SmallVector<Value> operands;
  SmallVector<Type> accumulators;
  Rounding rounding = Rounding::Exact;
  Joining joining = Joining::EachByItself;
  /// One each, where each is joined by itself.
  SmallVector<Combiner> combiners;

  void fill(Draft &draft, Region &region) const {
    SmallVector<Type> arguments(accumulators);
    arguments.append(accumulators.begin(), accumulators.end());
    if (joining == Joining::Expression)
      return draft.expressionBlock(region, arguments, accumulators);
    if (joining == Joining::MinMaxTuple) {
      const bool least = draft.dice.oneIn(2);
      return draft.scalarBlock(region, arguments, [&](ValueRange values) {
        return minMaxTuple(draft, values, least);
      });
    }
    draft.scalarBlock(region, arguments, [&](ValueRange values) {
      SmallVector<Value> results;
      for (auto [i, combiner] : llvm::enumerate(combiners))
        results.push_back(combined(draft, combiner.name, values[i],
                                   values[i + combiners.size()]));
      return results;
    });
  }

  SmallVector<Type> resultTypes(ArrayRef<int64_t> shape) const {
    SmallVector<Type> types;
    for (Type element : accumulators)
      types.push_back(RankedTensorType::get(shape, element));
    return types;
  }
};

/// \p first and perhaps other tensors of its shape, of which \p count elements
/// become one.
Reducing drawReducing(Draft &draft, Value first, bool isInOrder,
                      int64_t count) {
  Reducing reducing;
  auto type = cast<RankedTensorType>(first.getType());
  SmallVector<Value> inputs{first};
  while (inputs.size() < 3 && draft.dice.oneIn(4))
    inputs.push_back(draft.valueOf(type.clone(draft.elementType())));
  auto isComplex = [](Value input) {
    return isa<ComplexType>(getElementTypeOrSelf(input.getType()));
  };
  if (isInOrder && draft.dice.oneIn(4))
    reducing.joining = Joining::Expression;
  else if (draft.dice.oneIn(4) && llvm::none_of(inputs, isComplex))
    reducing.joining = Joining::MinMaxTuple;
  if (reducing.joining != Joining::EachByItself)
    reducing.rounding = Rounding::Magnifies;
  SmallVector<Value> starts;
  for (Value input : inputs) {
    Type element = getElementTypeOrSelf(input.getType());
    Type accumulator = accumulatorType(draft, element);
    reducing.accumulators.push_back(accumulator);
    Combiner combiner = drawCombiner(draft, accumulator, count);
    if (reducing.joining == Joining::EachByItself) {
      reducing.combiners.push_back(combiner);
      if (!combiner.isExact)
        reducing.rounding = Rounding::Rounds;
    }
    starts.push_back(draft.constant(
        RankedTensorType::get({}, element),
        draft.dice.oneIn(5) ? draft.dice.between(0, 2) : combiner.neutral));
  }
  reducing.operands = inputs;
  llvm::append_range(reducing.operands, starts);
  return reducing;
}

Value pickOfRank(Draft &draft, int64_t lowest) {
  return draft.pick([&](RankedTensorType type) {
    return type.getRank() >= lowest && isPlain(type);
  });
}

bool drawReduce(Draft &draft) {
  Value input = pickOfRank(draft, 1);
  if (!input)
    return false;
  auto type = cast<RankedTensorType>(input.getType());
  SmallVector<int64_t> dimensions, kept;
  int64_t count = 1;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (draft.dice.oneIn(2)) {
      dimensions.push_back(i);
      count *= type.getDimSize(i);
    } else {
      kept.push_back(type.getDimSize(i));
    }
  Reducing reducing = drawReducing(draft, input, false, count);
  return draft.add(
      "stablehlo.reduce", reducing.operands,
      {draft.list("dimensions", dimensions)}, reducing.resultTypes(kept),
      reducing.rounding, 1,
      [&](Operation *op) { reducing.fill(draft, op->getRegion(0)); });
}

int64_t dilated(int64_t size, int64_t dilation) {
  return size == 0 ? 0 : (size - 1) * dilation + 1;
}

/// Each place together with all before it, along one dimension.
void makeScan(Draft &draft, ArrayRef<int64_t> shape, WindowDraw &window) {
  const size_t rank = shape.size();
  window.sizes.assign(rank, 1);
  window.strides.assign(rank, 1);
  window.baseDilations.assign(rank, 1);
  window.dilations.assign(rank, 1);
  window.padding.assign(2 * rank, 0);
  window.results.assign(shape.begin(), shape.end());
  const size_t dim = draft.dice.between(0, rank - 1);
  if (shape[dim] == 0)
    return;
  window.sizes[dim] = shape[dim];
  window.padding[2 * dim + draft.dice.between(0, 1)] = shape[dim] - 1;
}

bool drawReduceWindow(Draft &draft) {
  Value input = pickOfRank(draft, 1);
  if (!input)
    return false;
  auto type = cast<RankedTensorType>(input.getType());
  WindowDraw window = drawWindow(draft, type.getShape(), true);
  if (draft.dice.oneIn(4))
    makeScan(draft, type.getShape(), window);
  Reducing reducing =
      drawReducing(draft, input, true, computeProduct(window.sizes));
  return draft.add(
      "stablehlo.reduce_window", reducing.operands,
      {draft.list("window_dimensions", window.sizes),
       draft.list("window_strides", window.strides),
       draft.list("base_dilations", window.baseDilations),
       draft.list("window_dilations", window.dilations),
       draft.pairs("padding", window.padding)},
      reducing.resultTypes(window.results), reducing.rounding, 1,
      [&](Operation *op) { reducing.fill(draft, op->getRegion(0)); });
}

bool drawSelectAndScatter(Draft &draft) {
  Value input = draft.pick([](RankedTensorType type) {
    return type.getRank() >= 1 && type.getElementType().isIntOrFloat();
  });
  if (!input)
    return false;
  auto type = cast<RankedTensorType>(input.getType());
  Type element = type.getElementType();
  WindowDraw window = drawWindow(draft, type.getShape(), false);
  Value source = draft.valueOf(type.clone(window.results));
  const bool isSum = draft.dice.oneIn(2);
  Value start = draft.constant(RankedTensorType::get({}, element),
                               isSum ? 0 : draft.dice.between(0, 2));
  using stablehlo::ComparisonDirection;
  static constexpr ComparisonDirection directions[] = {
      ComparisonDirection::GE, ComparisonDirection::GT, ComparisonDirection::LE,
      ComparisonDirection::LT};
  return draft.add(
      "stablehlo.select_and_scatter", {input, source, start},
      {draft.list("window_dimensions", window.sizes),
       draft.list("window_strides", window.strides),
       draft.pairs("padding", window.padding)},
      SmallVector<Type>{type}, Rounding::Magnifies, 2, [&](Operation *op) {
        draft.scalarBlock(op->getRegion(0), {type, type},
                          [&](ValueRange values) -> SmallVector<Value> {
                            return {
                                draft.compared(values[0], values[1],
                                               draft.dice.among(directions))};
                          });
        if (!isSum)
          return draft.expressionBlock(op->getRegion(1), {type, type}, {type});
        draft.scalarBlock(
            op->getRegion(1), {type, type},
            [&](ValueRange values) -> SmallVector<Value> {
              return {combined(draft, "stablehlo.add", values[0], values[1])};
            });
      });
}

} // namespace

WindowDraw drawWindow(Draft &draft, ArrayRef<int64_t> shape, bool dilates) {
  WindowDraw window;
  const bool isSimple = draft.dice.oneIn(3);
  const int64_t lowest = draft.dice.oneIn(4) ? -2 : 0;
  for (int64_t size : shape) {
    window.sizes.push_back(draft.dice.oneIn(12) ? std::max<int64_t>(size, 1)
                                                : draft.dice.between(1, 3));
    auto step = [&](bool isFree) {
      return isFree && !isSimple ? draft.size(2, 4) : 1;
    };
    window.strides.push_back(step(true));
    window.baseDilations.push_back(step(dilates));
    window.dilations.push_back(step(dilates));
    const int64_t low = draft.dice.between(lowest, 2),
                  high = draft.dice.between(lowest, 2);
    window.padding.append({low, high});
    const int64_t padded =
        low + dilated(size, window.baseDilations.back()) + high;
    const int64_t covered =
        dilated(window.sizes.back(), window.dilations.back());
    window.results.push_back(
        covered > padded ? 0 : (padded - covered) / window.strides.back() + 1);
  }
  return window;
}

std::vector<Recipe> reductionRecipes() {
  return {
      {"stablehlo.reduce", drawReduce},
      {"stablehlo.reduce_window", drawReduceWindow},
      {"stablehlo.select_and_scatter", drawSelectAndScatter},
  };
}

} // namespace sinter
