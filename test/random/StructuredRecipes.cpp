//===- StructuredRecipes.cpp - drawing products and normalisations --------===//

#include "random/QuantizedDraw.h"
#include "random/WindowDraw.h"

using namespace mlir;

namespace sinter {

namespace {

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
    shape.push_back(draft.size(4, 40));
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

bool drawConvolution(Draft &draft, bool isDynamic, bool isQuantized = false) {
  const int64_t spatial = draft.dice.oneIn(5) ? 3 * draft.dice.between(0, 1)
                                              : draft.dice.between(1, 2);
  const int64_t groups = draft.dice.oneIn(2) ? 1 : draft.size(3, 20);
  const bool groupsBatch = draft.dice.oneIn(4);
  const int64_t batch = draft.dice.between(1, 2) * (groupsBatch ? groups : 1);
  const int64_t inputFeatures = draft.size(3, 36) * (groupsBatch ? 1 : groups);
  const int64_t outputFeatures = draft.size(3, 36) * groups;
  Type element = draft.elementType();

  SmallVector<int64_t> sizes;
  for (int64_t i = 0; i < spatial; ++i)
    sizes.push_back(draft.dice.oneIn(12) ? draft.dice.between(7, 20)
                                         : draft.dice.between(2, 6));
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
  Type kernelElement = element, outputElement = element;
  if (isQuantized) {
    const bool isPerAxis = draft.dice.oneIn(2), isWide = draft.dice.oneIn(2);
    const unsigned width = isWide ? 32 : 8;
    element = drawQuantizedElement(draft, 8, true);
    kernelElement = isPerAxis ? drawElementPerAxis(draft, 8, !isWide,
                                                   outputFeatures, kernel[1])
                              : drawQuantizedElement(draft, 8, !isWide);
    outputElement =
        isPerAxis && isWide
            ? drawElementPerAxis(draft, width, false, outputFeatures, output[1])
            : drawQuantizedElement(draft, width, true);
  }
  Value x = draft.valueOf(RankedTensorType::get(
      place(input, batch, inputFeatures, sizes), element));
  Value k = draft.valueOf(
      RankedTensorType::get(place(kernel, inputFeatures / featureGroups,
                                  outputFeatures, window.sizes),
                            kernelElement));
  SmallVector<NamedAttribute> attributes{
      draft.attribute("dimension_numbers", numbers),
      draft.list("window_strides", window.strides),
      draft.list("lhs_dilation", window.baseDilations),
      draft.list("rhs_dilation", window.dilations),
      draft.number("feature_group_count", featureGroups),
      draft.number("batch_group_count", groupsBatch ? groups : 1)};
  if (draft.dice.oneIn(4)) {
    SmallVector<bool> reversal;
    for (int64_t i = 0; i < spatial; ++i)
      reversal.push_back(!draft.dice.oneIn(3));
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
  Operation *op =
      draft.add(isDynamic ? "stablehlo.dynamic_conv" : "stablehlo.convolution",
                operands, attributes,
                SmallVector<Type>{RankedTensorType::get(
                    place(output, groupsBatch ? batch / groups : batch,
                          outputFeatures, window.results),
                    outputElement)},
                isQuantized ? Rounding::Magnifies : sumRounding(element));
  return op && (!isQuantized || dequantizes(draft, op->getResult(0)));
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
      {"stablehlo.dot_general", drawDotGeneral},
      {"stablehlo.convolution",
       [](Draft &draft) { return drawConvolution(draft, false); }},
      {"stablehlo.dynamic_conv",
       [](Draft &draft) { return drawConvolution(draft, true); }},
      {"stablehlo.uniform_dequantize",
       [](Draft &draft) { return drawConvolution(draft, false, true); }},
      {"stablehlo.batch_norm_inference", drawBatchNormInference},
      {"stablehlo.batch_norm_training", drawBatchNormTraining},
      {"stablehlo.batch_norm_grad", drawBatchNormGrad},
  };
}

} // namespace sinter
