// Sliding windows.

#include "graph/stablehlo/Verify.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::AddOverflow;
using llvm::MulOverflow;

namespace sinter::stablehlo {

std::optional<int64_t> windowedSize(int64_t size,
                                    const WindowDimension &window) {
  const bool isDynamic = ShapedType::isDynamic(window.size);
  if ((window.size < 0 && !isDynamic) || window.stride < 1 ||
      window.baseDilation < 1 || window.windowDilation < 1)
    return std::nullopt;
  if (isDynamic || ShapedType::isDynamic(size))
    return ShapedType::kDynamic;
  auto dilated = [](int64_t count, int64_t dilation) -> std::optional<int64_t> {
    int64_t result;
    if (count == 0)
      return 0;
    if (MulOverflow(count - 1, dilation, result) ||
        AddOverflow(result, int64_t(1), result))
      return std::nullopt;
    return result;
  };
  std::optional<int64_t> base = dilated(size, window.baseDilation);
  std::optional<int64_t> reach = dilated(window.size, window.windowDilation);
  int64_t padded;
  if (!base || !reach || AddOverflow(*base, window.paddingLow, padded) ||
      AddOverflow(padded, window.paddingHigh, padded))
    return std::nullopt;
  if (padded < *reach || padded <= 0)
    return 0;
  return (padded - *reach) / window.stride + 1;
}

std::optional<ConvolutionWindow>
makeWindow(ArrayRef<int64_t> sizes, std::optional<ArrayRef<int64_t>> strides,
           std::optional<DenseIntElementsAttr> padding,
           std::optional<ArrayRef<int64_t>> baseDilations,
           std::optional<ArrayRef<int64_t>> windowDilations,
           std::optional<ArrayRef<bool>> reversal) {
  size_t rank = sizes.size();
  auto fits = [&](const auto &list) { return !list || list->size() == rank; };
  if (!fits(strides) || !fits(baseDilations) || !fits(windowDilations) ||
      !fits(reversal))
    return std::nullopt;
  if (padding && padding->getType().getShape() !=
                     ArrayRef<int64_t>({static_cast<int64_t>(rank), 2}))
    return std::nullopt;
  ConvolutionWindow window(rank);
  for (auto [i, dimension] : llvm::enumerate(window)) {
    dimension.size = sizes[i];
    if (strides)
      dimension.stride = (*strides)[i];
    if (padding) {
      dimension.paddingLow = padding->getValues<int64_t>()[2 * i];
      dimension.paddingHigh = padding->getValues<int64_t>()[2 * i + 1];
    }
    if (baseDilations)
      dimension.baseDilation = (*baseDilations)[i];
    if (windowDilations)
      dimension.windowDilation = (*windowDilations)[i];
    if (reversal)
      dimension.reversed = (*reversal)[i];
  }
  return window;
}

/// The sizes of the spatial dimensions of \p kernel.
static SmallVector<int64_t> kernelSizes(RankedTensorType kernel,
                                        ConvDimensionNumbersAttr numbers) {
  SmallVector<int64_t> sizes;
  for (int64_t dimension : numbers.getKernelSpatialDimensions())
    sizes.push_back(kernel.getDimSize(dimension));
  return sizes;
}

// The verifier has checked the sizes of all attributes.

bool ConvolutionOp::isDepthwise() {
  auto numbers = getDimensionNumbers();
  auto kernel = cast<RankedTensorType>(getRhs().getType());
  return kernel.getDimSize(numbers.getKernelInputFeatureDimension()) == 1 &&
         kernel.getDimSize(numbers.getKernelOutputFeatureDimension()) ==
             static_cast<int64_t>(getFeatureGroupCount());
}

ConvolutionWindow ConvolutionOp::getWindow() {
  return *makeWindow(kernelSizes(tensorOf(getRhs()), getDimensionNumbers()),
                     getWindowStrides(), getPadding(), getLhsDilation(),
                     getRhsDilation(), getWindowReversal());
}

bool ConvolutionOp::mayBeWeight(unsigned operand) { return operand == 1; }

bool ConvolutionOp::readsPadding() {
  return llvm::any_of(getWindow(), [](const WindowDimension &each) {
    return each.paddingLow > 0 || each.paddingHigh > 0 || each.baseDilation > 1;
  });
}

ConvolutionWindow DynamicConvOp::getWindow() {
  std::optional<ArrayRef<int64_t>> strides = getWindowStrides();
  if (strides)
    strides = strides->take_front(getSpatialRank());
  return *makeWindow(kernelSizes(tensorOf(getRhs()), getDimensionNumbers()),
                     strides, std::nullopt, getLhsDilation(), getRhsDilation(),
                     getWindowReversal());
}

ConvolutionWindow ReduceWindowOp::getWindow() {
  return *makeWindow(getWindowDimensions(), getWindowStrides(), getPadding(),
                     getBaseDilations(), getWindowDilations());
}

ConvolutionWindow SelectAndScatterOp::getWindow() {
  SmallVector<int64_t> ones(tensorOf(getOperand()).getRank(), 1);
  return *makeWindow(getWindowDimensions().value_or(ones), getWindowStrides(),
                     getPadding());
}

} // namespace sinter::stablehlo
