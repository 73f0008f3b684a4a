//===- StructuredRecipes.cpp - drawing products, reductions, normalisation ===//

#include "differential/Draft.h"

using namespace mlir;

namespace sinter {

namespace {

bool isFloating(Type element) { return isa<FloatType, ComplexType>(element); }

/// The order in which terms are summed is an implementation's choice.
Rounding sumRounding(Type element) {
  return isFloating(element) ? Rounding::Rounds : Rounding::Exact;
}

/// A way to join two elements, and the value that leaves the other as it is.
struct Combiner {
  StringRef name;
  int64_t neutral;
  bool isExact;
};

Combiner drawCombiner(Draft &draft, Type element) {
  static constexpr Combiner sums[] = {{"stablehlo.add", 0, false}};
  static constexpr Combiner ordered[] = {{"stablehlo.add", 0, false},
                                         {"stablehlo.multiply", 1, false},
                                         {"stablehlo.maximum", -4, true},
                                         {"stablehlo.minimum", 4, true}};
  static constexpr Combiner bitwise[] = {{"stablehlo.and", -1, true},
                                         {"stablehlo.or", 0, true},
                                         {"stablehlo.xor", 0, true},
                                         {"stablehlo.add", 0, true},
                                         {"stablehlo.maximum", 0, true}};
  if (isa<ComplexType>(element))
    return draft.dice.among(sums);
  if (isa<IntegerType>(element))
    return draft.dice.among(bitwise);
  // Long sums and products of narrow floats leave their range at different
  // places, depending on the order.
  if (!element.isF32() && !element.isF64())
    return draft.dice.among(ArrayRef(ordered).drop_front(2));
  return draft.dice.among(ordered);
}

/// Writes the combiner as a region of two scalars of each of \p types.
void fillCombiner(Draft &draft, Region &region, ArrayRef<Type> types,
                  StringRef name) {
  SmallVector<Type> arguments(types);
  arguments.append(types.begin(), types.end());
  draft.scalarBlock(
      region, arguments, [&](ValueRange values) -> SmallVector<Value> {
        SmallVector<Value> results;
        for (size_t i = 0; i < types.size(); ++i) {
          OperationState state(draft.location, name);
          state.addOperands({values[i], values[i + types.size()]});
          state.addTypes(values[i].getType());
          results.push_back(draft.builder.create(state)->getResult(0));
        }
        return results;
      });
}

Value neutralValue(Draft &draft, Type element, const Combiner &combiner) {
  return draft.constant(RankedTensorType::get({}, element), combiner.neutral);
}

Value pickOfRank(Draft &draft, int64_t lowest) {
  return draft.pick(
      [&](RankedTensorType type) { return type.getRank() >= lowest; });
}

bool drawReduce(Draft &draft) {
  Value input = pickOfRank(draft, 1);
  if (!input)
    return false;
  auto type = cast<RankedTensorType>(input.getType());
  Type element = type.getElementType();
  SmallVector<int64_t> dimensions, kept;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (draft.dice.oneIn(2))
      dimensions.push_back(i);
    else
      kept.push_back(type.getDimSize(i));
  Combiner combiner = drawCombiner(draft, element);
  Value start = neutralValue(draft, element, combiner);
  return draft.add("stablehlo.reduce", {input, start},
                   {draft.list("dimensions", dimensions)},
                   SmallVector<Type>{RankedTensorType::get(kept, element)},
                   combiner.isExact ? Rounding::Exact : Rounding::Rounds, 1,
                   [&](Operation *op) {
                     fillCombiner(draft, op->getRegion(0), {element},
                                  combiner.name);
                   });
}

/// Sizes of windows over every dimension, and how they step.
struct WindowDraw {
  SmallVector<int64_t> sizes, strides, baseDilations, dilations, padding;
  SmallVector<int64_t> results;
};

int64_t dilated(int64_t size, int64_t dilation) {
  return size == 0 ? 0 : (size - 1) * dilation + 1;
}

WindowDraw drawWindow(Draft &draft, ArrayRef<int64_t> shape, bool dilates) {
  WindowDraw window;
  for (int64_t size : shape) {
    window.sizes.push_back(draft.dice.between(1, 3));
    window.strides.push_back(draft.dice.between(1, 2));
    window.baseDilations.push_back(dilates ? draft.dice.between(1, 2) : 1);
    window.dilations.push_back(dilates ? draft.dice.between(1, 2) : 1);
    const int64_t low = draft.dice.between(0, 2),
                  high = draft.dice.between(0, 2);
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

bool drawReduceWindow(Draft &draft) {
  Value input = pickOfRank(draft, 1);
  if (!input)
    return false;
  auto type = cast<RankedTensorType>(input.getType());
  Type element = type.getElementType();
  WindowDraw window = drawWindow(draft, type.getShape(), true);
  Combiner combiner = drawCombiner(draft, element);
  Value start = neutralValue(draft, element, combiner);
  return draft.add("stablehlo.reduce_window", {input, start},
                   {draft.list("window_dimensions", window.sizes),
                    draft.list("window_strides", window.strides),
                    draft.list("base_dilations", window.baseDilations),
                    draft.list("window_dilations", window.dilations),
                    draft.pairs("padding", window.padding)},
                   SmallVector<Type>{type.clone(window.results)},
                   combiner.isExact ? Rounding::Exact : Rounding::Rounds, 1,
                   [&](Operation *op) {
                     fillCombiner(draft, op->getRegion(0), {element},
                                  combiner.name);
                   });
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
  Value start = draft.constant(RankedTensorType::get({}, element), 0);
  return draft.add(
      "stablehlo.select_and_scatter", {input, source, start},
      {draft.list("window_dimensions", window.sizes),
       draft.list("window_strides", window.strides),
       draft.pairs("padding", window.padding)},
      SmallVector<Type>{type}, Rounding::Magnifies, 2, [&](Operation *op) {
        draft.scalarBlock(
            op->getRegion(0), {type, type},
            [&](ValueRange values) -> SmallVector<Value> {
              return {draft.compared(values[0], values[1],
                                     stablehlo::ComparisonDirection::GE)};
            });
        fillCombiner(draft, op->getRegion(1), {element}, "stablehlo.add");
      });
}

bool drawDotGeneral(Draft &draft) {
  Value lhs = draft.pick([](RankedTensorType) { return true; });
  if (!lhs)
    return false;
  auto type = cast<RankedTensorType>(lhs.getType());
  SmallVector<int64_t> lhsBatch, lhsContracting, rhsBatch, rhsContracting,
      shape;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    const int64_t role = draft.dice.between(0, 2);
    if (role == 2)
      continue;
    (role == 0 ? lhsBatch : lhsContracting).push_back(i);
    (role == 0 ? rhsBatch : rhsContracting).push_back(shape.size());
    shape.push_back(type.getDimSize(i));
  }
  SmallVector<int64_t> results;
  for (int64_t dimension : lhsBatch)
    results.push_back(type.getDimSize(dimension));
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (!llvm::is_contained(lhsBatch, i) &&
        !llvm::is_contained(lhsContracting, i))
      results.push_back(type.getDimSize(i));
  for (int64_t i = draft.dice.between(0, 2); i > 0; --i) {
    shape.push_back(draft.dice.between(1, 4));
    results.push_back(shape.back());
  }
  Value rhs = draft.valueOf(type.clone(shape));
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(
      draft.builder.getContext(), lhsBatch, rhsBatch, lhsContracting,
      rhsContracting);
  return draft.add("stablehlo.dot_general", {lhs, rhs},
                   {draft.attribute("dot_dimension_numbers", numbers)},
                   SmallVector<Type>{type.clone(results)},
                   sumRounding(type.getElementType()));
}

bool drawConvolution(Draft &draft, bool isDynamic) {
  const int64_t spatial = draft.dice.between(1, 2);
  const int64_t groups = draft.dice.between(1, 2);
  const bool groupsBatch = draft.dice.oneIn(4);
  const int64_t batch = draft.dice.between(1, 2) * (groupsBatch ? groups : 1);
  const int64_t inputFeatures = draft.dice.between(1, 3) * groups;
  const int64_t outputFeatures = draft.dice.between(1, 3) * groups;
  Type element = draft.elementType();

  SmallVector<int64_t> sizes;
  for (int64_t i = 0; i < spatial; ++i)
    sizes.push_back(draft.dice.between(2, 6));
  WindowDraw window = drawWindow(draft, sizes, true);

  // Dimension i of a tensor is the order's i-th of: batch, feature, spatial.
  auto order = [&] {
    auto dimensions = llvm::to_vector(llvm::seq<int64_t>(0, spatial + 2));
    if (draft.dice.oneIn(2))
      std::swap(dimensions[draft.dice.between(0, spatial + 1)],
                dimensions[draft.dice.between(0, spatial + 1)]);
    return dimensions;
  };
  auto place = [&](ArrayRef<int64_t> dimensions, int64_t first, int64_t second,
                   ArrayRef<int64_t> rest) {
    SmallVector<int64_t> shape(spatial + 2);
    shape[dimensions[0]] = first;
    shape[dimensions[1]] = second;
    for (int64_t i = 0; i < spatial; ++i)
      shape[dimensions[i + 2]] = rest[i];
    return shape;
  };
  auto input = order(), kernel = order(), output = order();
  auto numbers = stablehlo::ConvDimensionNumbersAttr::get(
      draft.builder.getContext(), input[0], input[1],
      ArrayRef<int64_t>(input).drop_front(2), kernel[0], kernel[1],
      ArrayRef<int64_t>(kernel).drop_front(2), output[0], output[1],
      ArrayRef<int64_t>(output).drop_front(2));
  const int64_t featureGroups = groupsBatch ? 1 : groups;
  Value x = draft.valueOf(RankedTensorType::get(
      place(input, batch, inputFeatures, sizes), element));
  Value k = draft.valueOf(
      RankedTensorType::get(place(kernel, inputFeatures / featureGroups,
                                  outputFeatures, window.sizes),
                            element));
  SmallVector<NamedAttribute> attributes{
      draft.attribute("dimension_numbers", numbers),
      draft.list("window_strides", window.strides),
      draft.list("lhs_dilation", window.baseDilations),
      draft.list("rhs_dilation", window.dilations),
      draft.number("feature_group_count", featureGroups),
      draft.number("batch_group_count", groupsBatch ? groups : 1)};
  if (draft.dice.oneIn(4)) {
    SmallVector<bool> reversal(spatial, true);
    attributes.push_back(draft.attribute(
        "window_reversal", draft.builder.getDenseBoolArrayAttr(reversal)));
  }
  SmallVector<Value> operands{x, k};
  if (isDynamic)
    operands.push_back(draft.constant(
        RankedTensorType::get({spatial, 2}, draft.builder.getI64Type()),
        window.padding));
  else
    attributes.push_back(draft.pairs("padding", window.padding));
  return draft.add(isDynamic ? "stablehlo.dynamic_conv"
                             : "stablehlo.convolution",
                   operands, attributes,
                   SmallVector<Type>{RankedTensorType::get(
                       place(output, groupsBatch ? batch / groups : batch,
                             outputFeatures, window.results),
                       element)},
                   sumRounding(element));
}

/// A float tensor of rank at least 2, a feature dimension of it, and vectors of
/// that dimension's size.
struct FeatureDraw {
  Value operand;
  int64_t index = 0;
  Value vector(Draft &draft) const { return draft.valueOf(vectorType()); }
  RankedTensorType type() const {
    return cast<RankedTensorType>(operand.getType());
  }
  RankedTensorType vectorType() const {
    return RankedTensorType::get({type().getDimSize(index)},
                                 type().getElementType());
  }
};

FeatureDraw drawFeature(Draft &draft) {
  FeatureDraw feature;
  feature.operand = draft.pick([](RankedTensorType type) {
    // Statistics of narrow types are mostly rounding.
    return type.getRank() >= 2 && type.getNumElements() > 0 &&
           (type.getElementType().isF32() || type.getElementType().isF64());
  });
  if (feature.operand)
    feature.index = draft.dice.between(0, feature.type().getRank() - 1);
  return feature;
}

SmallVector<NamedAttribute> normAttributes(Draft &draft,
                                           const FeatureDraw &feature) {
  return {draft.attribute("epsilon", draft.builder.getF32FloatAttr(0.5f)),
          draft.number("feature_index", feature.index)};
}

/// |x|, so that a variance is none that makes NaN of everything.
Value magnitude(Draft &draft, Value value) {
  return draft.builder.create<stablehlo::AbsOp>(draft.location, value);
}

bool drawBatchNormInference(Draft &draft) {
  FeatureDraw x = drawFeature(draft);
  if (!x.operand)
    return false;
  Value scale = x.vector(draft), offset = x.vector(draft),
        mean = x.vector(draft);
  Value variance = magnitude(draft, x.vector(draft));
  return draft.add("stablehlo.batch_norm_inference",
                   {x.operand, scale, offset, mean, variance},
                   normAttributes(draft, x), std::nullopt, Rounding::Magnifies);
}

bool drawBatchNormTraining(Draft &draft) {
  FeatureDraw x = drawFeature(draft);
  if (!x.operand)
    return false;
  Value scale = x.vector(draft), offset = x.vector(draft);
  return draft.add("stablehlo.batch_norm_training", {x.operand, scale, offset},
                   normAttributes(draft, x),
                   SmallVector<Type>{x.type(), x.vectorType(), x.vectorType()},
                   Rounding::Magnifies);
}

bool drawBatchNormGrad(Draft &draft) {
  FeatureDraw x = drawFeature(draft);
  if (!x.operand)
    return false;
  Value scale = x.vector(draft), mean = x.vector(draft);
  Value variance = magnitude(draft, x.vector(draft));
  Value gradient = draft.valueOf(x.type());
  return draft.add("stablehlo.batch_norm_grad",
                   {x.operand, scale, mean, variance, gradient},
                   normAttributes(draft, x),
                   SmallVector<Type>{x.type(), x.vectorType(), x.vectorType()},
                   Rounding::Magnifies);
}

} // namespace

std::vector<Recipe> structuredRecipes() {
  return {
      {"stablehlo.reduce", drawReduce},
      {"stablehlo.reduce_window", drawReduceWindow},
      {"stablehlo.select_and_scatter", drawSelectAndScatter},
      {"stablehlo.dot_general", drawDotGeneral},
      {"stablehlo.convolution",
       [](Draft &draft) { return drawConvolution(draft, false); }},
      {"stablehlo.dynamic_conv",
       [](Draft &draft) { return drawConvolution(draft, true); }},
      {"stablehlo.batch_norm_inference", drawBatchNormInference},
      {"stablehlo.batch_norm_training", drawBatchNormTraining},
      {"stablehlo.batch_norm_grad", drawBatchNormGrad},
  };
}

} // namespace sinter
