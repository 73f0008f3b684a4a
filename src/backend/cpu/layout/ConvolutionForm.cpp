#include "backend/cpu/layout/ConvolutionForm.h"

#include "backend/cpu/cost/LayerTimes.h"
#include "backend/cpu/ir/OperationKind.h"
#include "backend/cpu/quantized/Int8Products.h"
#include "backend/cpu/target/Target.h"
#include "graph/Constants.h"

using namespace mlir;
using sinter::nn::TensorBuilder;

namespace sinter::cpu {

/// Whether \p bytes, which \p op reads channel by channel, are better written
/// as floats by the elementwise operation that gives them to it alone.
static bool areBetterFloats(stablehlo::ConvolutionOp op, Value bytes,
                            const Target &target) {
  Operation *maker = bytes.getDefiningOp();
  return maker && bytes.hasOneUse() && op.getLhs().hasOneUse() &&
         kindOf(maker) == Kind::Elementwise && readsFloatsFaster(op, target);
}

/// Floats as they are; bytes where their distances are multiplied. Channel by
/// channel, bytes become floats in the kernel, or where they are made.
bool ConvolutionForm::takeOperands(stablehlo::ConvolutionOp op,
                                   const Target &target) {
  input = op.getLhs();
  kernel = op.getRhs();
  element = tensorOf(op.getResult()).getElementType();
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  if (auto bytes = Int8Convolution::match(op)) {
    const Int8Distances best = bytes->input.preferredBy(target, emit);
    input = best.bytes;
    zeroPoint = best.zeroPoint;
    kernel = makeConstant(builder, op.getLoc(), bytes->weights,
                          constantName(op.getRhs()));
    return true;
  }
  auto isF32 = [](Value value) {
    return tensorOf(value).getElementType().isF32();
  };
  if (!isF32(input) || !isF32(kernel) || !isF32(op.getResult()))
    return false;
  if (auto bytes = Int8Distances::match(input);
      bytes && !bytes->variable && op.isDepthwise() &&
      !areBetterFloats(op, bytes->bytes, target)) {
    input = bytes->bytes;
    zeroPoint = bytes->zeroPoint;
  }
  return true;
}

std::optional<ConvolutionForm> ConvolutionForm::of(stablehlo::ConvolutionOp op,
                                                   const Target &target) {
  auto numbers = op.getDimensionNumbers();
  int64_t spatial = op.getSpatialRank();
  auto hasElements = [](Value value) {
    return !llvm::is_contained(tensorOf(value).getShape(), 0);
  };
  if (spatial < 1 || spatial > 2 || op.getBatchGroupCount() != 1 ||
      !hasElements(op.getLhs()) || !hasElements(op.getRhs()) ||
      !hasElements(op.getResult()))
    return std::nullopt;
  auto kernel = tensorOf(op.getRhs());
  // Images may be of any number and size, weights are known.
  if (!kernel.hasStaticShape() ||
      tensorOf(op.getLhs()).isDynamicDim(numbers.getInputFeatureDimension()))
    return std::nullopt;

  ConvolutionForm form;
  if (!form.takeOperands(op, target))
    return std::nullopt;
  form.inputOrder = {numbers.getInputBatchDimension(),
                     numbers.getInputFeatureDimension()};
  llvm::append_range(form.inputOrder, numbers.getInputSpatialDimensions());
  form.groups = op.getFeatureGroupCount();
  form.kernelOrder = {numbers.getKernelOutputFeatureDimension(),
                      numbers.getKernelInputFeatureDimension()};
  llvm::append_range(form.kernelOrder, numbers.getKernelSpatialDimensions());
  form.channels = kernel.getDimSize(form.kernelOrder[0]);
  stablehlo::ConvolutionWindow window = op.getWindow();
  form.weights = {form.channels, kernel.getDimSize(form.kernelOrder[1]), 1, 1};
  for (int64_t i = 0; i < spatial; ++i) {
    form.weights[4 - spatial + i] = window[i].size;
    if (window[i].reversed)
      form.turned.push_back(form.kernelOrder[2 + i]);
  }
  bool isDilated = llvm::any_of(
      window, [](const auto &each) { return each.baseDilation != 1; });
  if (isDilated) {
    if (!form.spreadWindow(window, target.f32Lanes))
      return std::nullopt;
    return form;
  }
  for (int64_t i = 0; i < spatial; ++i) {
    size_t at = 2 - spatial + i;
    form.strides[at] = window[i].stride;
    form.dilations[at] = window[i].windowDilation;
    form.paddingLow[at] = window[i].paddingLow;
    form.paddingHigh[at] = window[i].paddingHigh;
  }
  return form;
}

/// Where no two taps meet, output pixel h * s + r is input pixel h times the
/// window's tap r; all taps are output channels of a 1x1 convolution.
bool ConvolutionForm::spreadWindow(const stablehlo::ConvolutionWindow &window,
                                   int64_t lanes) {
  if (groups != 1)
    return false;
  for (auto [i, each] : llvm::enumerate(window)) {
    if (each.baseDilation != each.size || each.stride != 1 ||
        each.windowDilation != 1 || each.paddingLow != each.size - 1 ||
        each.paddingHigh != each.size - 1)
      return false;
    upscale[2 - window.size() + i] = each.size;
  }
  filled = llvm::alignTo(channels, lanes);
  weights = {upscale[0] * upscale[1] * filled, weights[1], 1, 1};
  // The window slides over the dilated input, so tap t of the window is pixel
  // size - 1 - t of what a pixel becomes.
  SmallVector<int64_t> opposite;
  for (int64_t dim : ArrayRef(kernelOrder).drop_front(2))
    if (!llvm::is_contained(turned, dim))
      opposite.push_back(dim);
  turned = opposite;
  return true;
}

//===----------------------------------------------------------------------===//
// Around the kernel
//===----------------------------------------------------------------------===//

Value ConvolutionForm::plainInput(TensorBuilder &emit) const {
  Value x = input;
  if (!llvm::equal(inputOrder, llvm::seq<int64_t>(0, inputOrder.size())))
    x = emit.transpose(x, inputOrder);
  return x;
}

Value ConvolutionForm::plainWeights(TensorBuilder &emit) const {
  Value x = kernel;
  if (!turned.empty())
    x = emit.make<stablehlo::ReverseOp>(x, turned);
  if (!llvm::equal(kernelOrder, llvm::seq<int64_t>(0, kernelOrder.size())))
    x = emit.transpose(x, kernelOrder);
  if (upscale == std::array<int64_t, 2>{1, 1})
    return emit.reshape(x, weights);
  x = emit.reshape(x, {channels, weights[1], upscale[0], upscale[1]});
  x = emit.padEnd(x, 0, filled - channels);
  return emit.reshape(emit.transpose(x, {2, 3, 0, 1}), weights);
}

RankedTensorType ConvolutionForm::resultType(RankedTensorType type) const {
  SmallVector<int64_t> shape = {type.getDimSize(0), weights[0]};
  for (size_t i = 0; i < 2; ++i) {
    stablehlo::WindowDimension window;
    window.size = weights[i + 2];
    window.stride = strides[i];
    window.windowDilation = dilations[i];
    window.paddingLow = paddingLow[i];
    window.paddingHigh = paddingHigh[i];
    shape.push_back(
        stablehlo::windowedSize(type.getDimSize(i + 2), window).value_or(0));
  }
  return RankedTensorType::get(shape, element);
}

RankedTensorType ConvolutionForm::finalType(RankedTensorType type) const {
  SmallVector<int64_t> shape(resultType(type).getShape());
  shape[1] = channels;
  for (size_t i = 0; i < 2; ++i)
    if (!ShapedType::isDynamic(shape[i + 2]))
      shape[i + 2] *= upscale[i];
  return RankedTensorType::get(shape, element);
}

Value ConvolutionForm::spread(TensorBuilder &emit, Value blocked,
                              int64_t lanes) const {
  const nn::Sizes sizes = emit.sizes(blocked);
  const int64_t blocks = llvm::divideCeil(channels, lanes);
  const nn::Size batch = sizes[0], height = sizes[2], width = sizes[3];
  Value x = emit.reshape(
      blocked, {batch, upscale[0], upscale[1], blocks, height, width, lanes});
  x = emit.transpose(x, {0, 3, 4, 1, 5, 2, 6});
  return emit.reshape(x, {batch, blocks, emit.product(height, upscale[0]),
                          emit.product(width, upscale[1]), lanes});
}

static bool isChannelsFirst(stablehlo::ConvDimensionNumbersAttr numbers) {
  ArrayRef<int64_t> spatial = numbers.getOutputSpatialDimensions();
  return numbers.getOutputBatchDimension() == 0 &&
         numbers.getOutputFeatureDimension() == 1 &&
         llvm::equal(spatial, llvm::seq<int64_t>(2, 2 + spatial.size()));
}

bool ConvolutionForm::isPlainResult(stablehlo::ConvolutionOp op) const {
  return isChannelsFirst(op.getDimensionNumbers());
}

Value ConvolutionForm::plainResult(TensorBuilder &emit, Value value,
                                   stablehlo::ConvolutionOp op) const {
  auto numbers = op.getDimensionNumbers();
  const nn::Sizes sizes = emit.sizes(value);
  if (op.getSpatialRank() == 1)
    value = emit.reshape(value, {sizes[0], sizes[1], sizes[3]});
  if (isChannelsFirst(numbers))
    return value;
  SmallVector<int64_t> order(tensorOf(value).getRank());
  order[numbers.getOutputBatchDimension()] = 0;
  order[numbers.getOutputFeatureDimension()] = 1;
  for (auto [i, dimension] :
       llvm::enumerate(numbers.getOutputSpatialDimensions()))
    order[dimension] = i + 2;
  return emit.transpose(value, order);
}

} // namespace sinter::cpu
