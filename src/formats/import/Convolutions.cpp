#include "formats/import/Convolutions.h"

using namespace mlir;

namespace sinter::formats {

/// \p input with the channel count that \p kernel expects, if the graph is
/// compiled and the count is dynamic. Kernels are chosen by the channel count,
/// and a shape guard checks it.
static Value withChannelsOf(GraphBuilder &builder, Value input, Value kernel,
                            const ConvolutionForm &form) {
  Dims dims = builder.dims(input);
  const int64_t read = builder.size(kernel, form.kernelInput);
  int64_t channels = 0;
  if (dims[1].isStatic() || ShapedType::isDynamic(read) ||
      llvm::MulOverflow(read, form.groups, channels) ||
      !builder.requiresValues())
    return input;
  dims[1] = channels;
  return builder.reshape(input, dims);
}

Value buildConvolution(GraphBuilder &builder, Value input, Value kernel,
                       const ConvolutionForm &form, Type element) {
  if (!input || !kernel)
    return {};
  input = withChannelsOf(builder, input, kernel, form);
  if (!input)
    return {};
  Builder &attributes = builder.builder();
  int64_t spatial = builder.rank(input) - 2;
  Ints spatialDims = llvm::to_vector(llvm::seq<int64_t>(2, spatial + 2));
  Ints padding;
  Ints shape = {builder.size(input, 0),
                builder.size(kernel, form.kernelOutput)};
  for (int64_t i = 0; i < spatial; ++i) {
    padding.append({form.low[i], form.high[i]});
    stablehlo::WindowDimension window;
    window.size = builder.size(kernel, i + 2);
    window.stride = form.strides[i];
    window.paddingLow = form.low[i];
    window.paddingHigh = form.high[i];
    window.baseDilation = form.lhsDilation[i];
    window.windowDilation = form.rhsDilation[i];
    auto size = stablehlo::windowedSize(builder.size(input, i + 2), window);
    if (!size)
      return builder.fail("spatial dimension " + Twine(i) +
                          ": the result's size is too large");
    shape.push_back(*size);
  }
  auto numbers = stablehlo::ConvDimensionNumbersAttr::get(
      builder.context(), 0, 1, spatialDims, form.kernelInput, form.kernelOutput,
      spatialDims, 0, 1, spatialDims);
  SmallVector<bool> reversal(spatial, form.reversed);
  auto paddingType = RankedTensorType::get({spatial, 2}, builder.i64());
  return builder.typed<stablehlo::ConvolutionOp>(
      builder.tensorType(shape, element), input, kernel,
      attributes.getDenseI64ArrayAttr(form.strides),
      DenseIntElementsAttr::get(paddingType, padding),
      attributes.getDenseI64ArrayAttr(form.lhsDilation),
      attributes.getDenseI64ArrayAttr(form.rhsDilation),
      attributes.getDenseBoolArrayAttr(reversal), numbers,
      static_cast<uint64_t>(form.groups), uint64_t(1), ArrayAttr());
}

Value transposedKernel(GraphBuilder &builder, Value kernel,
                       ConvolutionForm &form) {
  const int64_t groups = form.groups;
  form.kernelInput = 0;
  form.kernelOutput = 1;
  if (groups == 1)
    return kernel;
  ArrayRef<int64_t> shape = builder.shape(kernel);
  if (shape[0] == groups && shape[1] == 1) {
    std::swap(form.kernelInput, form.kernelOutput);
    return kernel;
  }
  if (ShapedType::isDynamicShape(shape))
    return builder.unknown("the weight's shape is known only at run time");
  if (shape[0] % groups != 0)
    return builder.fail("the weight's input channels are no multiple of group");
  Ints split = {groups, shape[0] / groups};
  llvm::append_range(split, shape.drop_front());
  Ints order = llvm::to_vector(llvm::seq<int64_t>(0, split.size()));
  std::swap(order[0], order[1]);
  Ints merged = {shape[0] / groups, shape[1] * groups};
  llvm::append_range(merged, shape.drop_front(2));
  return builder.reshape(
      builder.transpose(builder.reshape(kernel, split), order), merged);
}

} // namespace sinter::formats
