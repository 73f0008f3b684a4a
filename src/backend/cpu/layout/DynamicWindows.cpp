//===- DynamicWindows.cpp - convolutions by kernels of unknown sizes ------===//

#include "backend/cpu/layout/DynamicWindows.h"

using namespace mlir;
using sinter::nn::Size;
using sinter::nn::Sizes;
using sinter::nn::TensorBuilder;

namespace sinter::cpu {

bool hasDynamicWindow(stablehlo::ConvolutionOp op) {
  auto kernel = tensorOf(op.getRhs());
  for (int64_t i = 0; i < kernel.getRank(); ++i)
    if (kernel.isDynamicDim(i) &&
        i != op.getDimensionNumbers().getKernelInputFeatureDimension())
      return true;
  return false;
}

bool canBeByTaps(stablehlo::ConvolutionOp op) {
  auto input = tensorOf(op.getLhs());
  return llvm::all_of(
      llvm::zip(op.getDimensionNumbers().getInputSpatialDimensions(),
                op.getWindow()),
      [&](const auto &pair) {
        const auto &[dimension, window] = pair;
        return window.baseDilation == 1 || !input.isDynamicDim(dimension);
      });
}

/// Dimension \p dimension of \p x, along which \p window of \p taps slides,
/// becomes two: the places, and what is under the taps.
static Value underTaps(TensorBuilder &emit, Value x, int64_t dimension,
                       const stablehlo::WindowDimension &window,
                       const Size &taps) {
  x = emit.pad(x, dimension, window.paddingLow, window.paddingHigh,
               window.baseDilation - 1);
  const Size last =
      emit.product(emit.difference(taps, 1), window.windowDilation);
  // floor((size - 1 - last) / stride) + 1
  const Size room = emit.difference(emit.sizes(x)[dimension], last);
  const Size places =
      emit.quotient(emit.sum(room, window.stride - 1), window.stride);
  const Type i32 = emit.integerType(32);
  const Sizes all = {places, taps};
  Value numbers =
      emit.add(emit.mul(emit.iota(all, 0, i32), double(window.stride)),
               emit.mul(emit.iota(all, 1, i32), double(window.windowDilation)));
  return emit.take(x, numbers, dimension);
}

Value computeByTaps(TensorBuilder &emit, const PlainConvolution &plain,
                    stablehlo::ConvolutionOp like) {
  const int64_t rank = plain.spatialRank();
  const bool hasGroups = plain.groups > 1;
  // [N, C, spatial...], or [N, groups, C / groups, spatial...]; the kernel is
  // [K, C, window...], or [groups, K / groups, C / groups, window...].
  Value x = plain.input, kernel = plain.kernel;
  const Size outputs = Size::of(kernel, 0);
  if (hasGroups) {
    x = emit.reshape(x, plain.splitInput(emit));
    Sizes split = emit.sizes(kernel);
    split[0] = emit.quotient(outputs, plain.groups);
    split.insert(split.begin(), plain.groups);
    kernel = emit.reshape(kernel, split);
  }
  const int64_t first = hasGroups ? 3 : 2;
  for (int64_t i = 0; i < rank; ++i)
    x = underTaps(emit, x, first + 2 * i, plain.window[i],
                  Size::of(plain.kernel, i + 2));
  const Sizes sizes = emit.sizes(x), ofKernel = emit.sizes(kernel);
  SmallVector<int64_t> summed = {first - 1}, summedInKernel = {first - 1};
  // [groups, N, places..., K / groups]
  Sizes product;
  SmallVector<int64_t> batching, batchingInKernel;
  if (hasGroups) {
    batching = {1};
    batchingInKernel = {0};
    product.push_back(plain.groups);
  }
  product.push_back(sizes[0]);
  Sizes whole = {sizes[0], outputs};
  for (int64_t i = 0; i < rank; ++i) {
    product.push_back(sizes[first + 2 * i]);
    whole.push_back(sizes[first + 2 * i]);
    summed.push_back(first + 2 * i + 1);
    summedInKernel.push_back(first + i);
  }
  product.push_back(ofKernel[first - 2]);
  Value result = emit.make<stablehlo::DotGeneralOp>(
      RankedTensorType::get(product.shape(), tensorOf(x).getElementType()), x,
      kernel,
      stablehlo::DotDimensionNumbersAttr::get(emit.builder.getContext(),
                                              batching, batchingInKernel,
                                              summed, summedInKernel),
      like.getPrecisionConfigAttr());
  // [N, groups, K / groups, places...]
  SmallVector<int64_t> order;
  if (hasGroups)
    order = {1, 0, rank + 2};
  else
    order = {0, rank + 1};
  llvm::append_range(order, llvm::seq<int64_t>(first - 1, first - 1 + rank));
  return emit.reshape(permute(emit, result, order), whole);
}

} // namespace sinter::cpu
