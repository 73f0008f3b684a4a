#include "backend/cpu/layout/ConvolutionForm.h"

#include "graph/Constants.h"

using namespace mlir;
using sinter::nn::Emit;

namespace sinter::cpu {

/// The weights as [K, C / groups, R, S], windows that run backwards turned.
static Tensor standardWeights(const Tensor &kernel,
                              stablehlo::ConvDimensionNumbersAttr numbers,
                              const stablehlo::ConvolutionWindow &window) {
  SmallVector<int64_t> strides(kernel.rank(), 1);
  for (int64_t i = kernel.rank() - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * kernel.dim(i + 1);
  ArrayRef<int64_t> spatial = numbers.getKernelSpatialDimensions();
  int64_t outputs = kernel.dim(numbers.getKernelOutputFeatureDimension());
  int64_t inputs = kernel.dim(numbers.getKernelInputFeatureDimension());
  int64_t outputStride = strides[numbers.getKernelOutputFeatureDimension()];
  int64_t inputStride = strides[numbers.getKernelInputFeatureDimension()];
  // One spatial dimension is the width of rows of height one.
  std::array<int64_t, 2> size = {1, 1}, step = {0, 0}, start = {0, 0};
  for (size_t i = 0; i < spatial.size(); ++i) {
    size_t at = 2 - spatial.size() + i;
    size[at] = kernel.dim(spatial[i]);
    step[at] = strides[spatial[i]];
    if (window[i].reversed) {
      start[at] = (size[at] - 1) * step[at];
      step[at] = -step[at];
    }
  }
  Tensor result(ElementType::F32, {outputs, inputs, size[0], size[1]});
  float *out = result.mutableValues<float>().data();
  for (int64_t k = 0; k < outputs; ++k)
    for (int64_t c = 0; c < inputs; ++c)
      for (int64_t r = 0; r < size[0]; ++r)
        for (int64_t s = 0; s < size[1]; ++s)
          *out++ =
              kernel.at<float>(k * outputStride + c * inputStride + start[0] +
                               r * step[0] + start[1] + s * step[1]);
  return result;
}

std::optional<ConvolutionForm> ConvolutionForm::of(stablehlo::ConvolutionOp op,
                                                   int64_t lanes) {
  auto numbers = op.getDimensionNumbers();
  int64_t spatial = op.getSpatialRank();
  auto isF32 = [](Value value) {
    return tensorOf(value).getElementType().isF32() &&
           tensorOf(value).hasStaticShape();
  };
  if (spatial < 1 || spatial > 2 || op.getBatchGroupCount() != 1 ||
      !isF32(op.getLhs()) || !isF32(op.getRhs()) || !isF32(op.getResult()) ||
      elementCount(tensorOf(op.getResult()).getShape()) == 0 ||
      elementCount(tensorOf(op.getLhs()).getShape()) == 0)
    return std::nullopt;
  std::optional<Tensor> kernel = constantTensor(op.getRhs());
  if (!kernel || kernel->size() == 0)
    return std::nullopt;

  ConvolutionForm form;
  form.input = op.getLhs();
  form.inputOrder = {numbers.getInputBatchDimension(),
                     numbers.getInputFeatureDimension()};
  llvm::append_range(form.inputOrder, numbers.getInputSpatialDimensions());
  form.groups = op.getFeatureGroupCount();
  form.channels = kernel->dim(numbers.getKernelOutputFeatureDimension());
  stablehlo::ConvolutionWindow window = op.getWindow();
  form.weights = standardWeights(*kernel, numbers, window);
  bool isDilated = llvm::any_of(
      window, [](const auto &each) { return each.baseDilation != 1; });
  if (isDilated) {
    if (!form.spreadWindow(window, lanes))
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
  // The window slides over the dilated input, so tap t of the window is pixel
  // size - 1 - t of what a pixel becomes.
  int64_t filled = llvm::divideCeil(channels, lanes) * lanes;
  int64_t inputs = weights.dim(1), height = upscale[0], width = upscale[1];
  Tensor spread(ElementType::F32, {height * width * filled, inputs, 1, 1});
  auto from = weights.values<float>();
  auto to = spread.mutableValues<float>();
  for (int64_t r = 0; r < height; ++r)
    for (int64_t s = 0; s < width; ++s)
      for (int64_t k = 0; k < channels; ++k)
        for (int64_t c = 0; c < inputs; ++c)
          to[((r * width + s) * filled + k) * inputs + c] =
              from[((k * inputs + c) * height + height - 1 - r) * width +
                   width - 1 - s];
  weights = std::move(spread);
  return true;
}

//===----------------------------------------------------------------------===//
// Around the kernel
//===----------------------------------------------------------------------===//

Value ConvolutionForm::plainInput(Emit &emit) const {
  Value x = input;
  if (!llvm::equal(inputOrder, llvm::seq<int64_t>(0, inputOrder.size())))
    x = emit.transpose(x, inputOrder);
  ArrayRef<int64_t> shape = tensorOf(x).getShape();
  if (shape.size() == 3)
    x = emit.reshape(x, {shape[0], shape[1], 1, shape[2]});
  return x;
}

RankedTensorType ConvolutionForm::resultType(RankedTensorType type) const {
  SmallVector<int64_t> shape = {type.getDimSize(0), weights.dim(0)};
  for (size_t i = 0; i < 2; ++i) {
    stablehlo::WindowDimension window;
    window.size = weights.dim(i + 2);
    window.stride = strides[i];
    window.windowDilation = dilations[i];
    window.paddingLow = paddingLow[i];
    window.paddingHigh = paddingHigh[i];
    shape.push_back(
        stablehlo::windowedSize(type.getDimSize(i + 2), window).value_or(0));
  }
  return RankedTensorType::get(shape, type.getElementType());
}

RankedTensorType ConvolutionForm::finalType(RankedTensorType type) const {
  SmallVector<int64_t> shape(resultType(type).getShape());
  shape[1] = channels;
  shape[2] *= upscale[0];
  shape[3] *= upscale[1];
  return RankedTensorType::get(shape, type.getElementType());
}

Value ConvolutionForm::spread(Emit &emit, Value blocked, int64_t lanes) const {
  ArrayRef<int64_t> shape = tensorOf(blocked).getShape();
  int64_t blocks = llvm::divideCeil(channels, lanes);
  int64_t batch = shape[0], height = shape[2], width = shape[3];
  Value x = emit.reshape(
      blocked, {batch, upscale[0], upscale[1], blocks, height, width, lanes});
  x = emit.transpose(x, {0, 3, 4, 1, 5, 2, 6});
  return emit.reshape(
      x, {batch, blocks, height * upscale[0], width * upscale[1], lanes});
}

static bool isChannelsFirst(stablehlo::ConvDimensionNumbersAttr numbers) {
  ArrayRef<int64_t> spatial = numbers.getOutputSpatialDimensions();
  return numbers.getOutputBatchDimension() == 0 &&
         numbers.getOutputFeatureDimension() == 1 &&
         llvm::equal(spatial, llvm::seq<int64_t>(2, 2 + spatial.size()));
}

bool ConvolutionForm::isPlainResult(stablehlo::ConvolutionOp op) const {
  return op.getSpatialRank() == 2 && isChannelsFirst(op.getDimensionNumbers());
}

Value ConvolutionForm::plainResult(Emit &emit, Value value,
                                   stablehlo::ConvolutionOp op) const {
  auto numbers = op.getDimensionNumbers();
  ArrayRef<int64_t> shape = tensorOf(value).getShape();
  if (op.getSpatialRank() == 1)
    value = emit.reshape(value, {shape[0], shape[1], shape[3]});
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
