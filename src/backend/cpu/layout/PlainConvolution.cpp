//===- PlainConvolution.cpp - a convolution in one order of dimensions ----===//

#include "backend/cpu/layout/PlainConvolution.h"

#include "passes/LowerQuantized.h"

using namespace mlir;
using sinter::nn::TensorBuilder;

namespace sinter::cpu {

Value permute(TensorBuilder &emit, Value value, ArrayRef<int64_t> permutation) {
  return llvm::is_sorted(permutation) ? value
                                      : emit.transpose(value, permutation);
}

static SmallVector<int64_t> order(int64_t first, int64_t second,
                                  ArrayRef<int64_t> spatial) {
  SmallVector<int64_t> dimensions = {first, second};
  llvm::append_range(dimensions, spatial);
  return dimensions;
}

/// Groups of images [G * N, C, ...] as groups of features [N, G * C, ...].
static Value batchGroupsToFeatures(TensorBuilder &emit, Value input,
                                   int64_t groups) {
  nn::Sizes shape = emit.sizes(input), split(shape);
  split[0] = shape[0] = emit.quotient(shape[0], groups);
  split.insert(split.begin(), groups);
  auto places = llvm::to_vector(
      llvm::seq<int64_t>(0, static_cast<int64_t>(split.size())));
  std::swap(places[0], places[1]);
  shape[1] = emit.product(shape[1], groups);
  return emit.reshape(permute(emit, emit.reshape(input, split), places), shape);
}

PlainConvolution PlainConvolution::of(TensorBuilder &emit,
                                      stablehlo::ConvolutionOp op) {
  auto numbers = op.getDimensionNumbers();
  PlainConvolution plain;
  plain.window = op.getWindow();
  plain.groups = static_cast<int64_t>(op.getFeatureGroupCount());
  plain.input = permute(emit, op.getLhs(),
                        order(numbers.getInputBatchDimension(),
                              numbers.getInputFeatureDimension(),
                              numbers.getInputSpatialDimensions()));
  plain.kernel = permute(emit, op.getRhs(),
                         order(numbers.getKernelOutputFeatureDimension(),
                               numbers.getKernelInputFeatureDimension(),
                               numbers.getKernelSpatialDimensions()));
  SmallVector<int64_t> backwards;
  for (auto [i, each] : llvm::enumerate(plain.window)) {
    if (each.reversed && each.size != 1)
      backwards.push_back(static_cast<int64_t>(i) + 2);
    each.reversed = false;
  }
  if (!backwards.empty())
    plain.kernel = emit.make<stablehlo::ReverseOp>(plain.kernel, backwards);
  if (auto groups = static_cast<int64_t>(op.getBatchGroupCount()); groups > 1) {
    plain.input = batchGroupsToFeatures(emit, plain.input, groups);
    plain.groups = groups;
  }
  return plain;
}

int64_t PlainConvolution::outputSize(int64_t dimension) const {
  return stablehlo::windowedSize(inputSize(dimension), window[dimension])
      .value_or(0);
}

SmallVector<int64_t> PlainConvolution::resultShape() const {
  SmallVector<int64_t> shape = {batch().known(), outputs()};
  for (int64_t i = 0; i < spatialRank(); ++i)
    shape.push_back(outputSize(i));
  return shape;
}

nn::Sizes PlainConvolution::splitInput(TensorBuilder &emit) const {
  nn::Sizes sizes = {batch(), groups, groupInputs()};
  llvm::append_range(sizes, emit.sizes(input).drop_front(2));
  return sizes;
}

Value PlainConvolution::emitOperation(TensorBuilder &emit,
                                      stablehlo::ConvolutionOp like) const {
  SmallVector<int64_t> strides, padding, baseDilations, windowDilations;
  for (const stablehlo::WindowDimension &each : window) {
    strides.push_back(each.stride);
    padding.append({each.paddingLow, each.paddingHigh});
    baseDilations.push_back(each.baseDilation);
    windowDilations.push_back(each.windowDilation);
  }
  Builder &b = emit.builder;
  auto spatial =
      llvm::to_vector(llvm::seq<int64_t>(2, int64_t(window.size()) + 2));
  auto numbers = stablehlo::ConvDimensionNumbersAttr::get(
      b.getContext(), 0, 1, spatial, 1, 0, spatial, 0, 1, spatial);
  auto paddingType = RankedTensorType::get(
      {static_cast<int64_t>(window.size()), 2}, b.getI64Type());
  auto type =
      RankedTensorType::get(resultShape(), tensorOf(input).getElementType());
  Value result = emit.make<stablehlo::ConvolutionOp>(
      type, input, kernel, b.getDenseI64ArrayAttr(strides),
      DenseIntElementsAttr::get(paddingType, ArrayRef<int64_t>(padding)),
      b.getDenseI64ArrayAttr(baseDilations),
      b.getDenseI64ArrayAttr(windowDilations), DenseBoolArrayAttr(), numbers,
      b.getI64IntegerAttr(groups), b.getI64IntegerAttr(1),
      like.getPrecisionConfigAttr());
  if (Attribute exact = like->getDiscardableAttr(exactProductAttribute))
    result.getDefiningOp()->setDiscardableAttr(exactProductAttribute, exact);
  return result;
}

void placeWindow(stablehlo::WindowDimension &window, int64_t size,
                 int64_t start, int64_t count) {
  window.paddingLow = -start;
  int64_t end = start + (count - 1) * window.stride +
                (window.size - 1) * window.windowDilation + 1;
  window.paddingHigh = end - size;
}

Value toResultOrder(TensorBuilder &emit, Value value,
                    stablehlo::ConvolutionOp op) {
  auto numbers = op.getDimensionNumbers();
  SmallVector<int64_t> places = order(numbers.getOutputBatchDimension(),
                                      numbers.getOutputFeatureDimension(),
                                      numbers.getOutputSpatialDimensions());
  SmallVector<int64_t> permutation(places.size());
  for (auto [i, place] : llvm::enumerate(places))
    permutation[place] = static_cast<int64_t>(i);
  return permute(emit, value, permutation);
}

} // namespace sinter::cpu
