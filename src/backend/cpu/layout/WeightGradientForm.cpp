#include "backend/cpu/layout/WeightGradientForm.h"

#include "graph/Constants.h"

using namespace mlir;
using sinter::nn::TensorBuilder;

namespace sinter::cpu {

/// Whether all sizes are known but that of dimension \p images.
static bool isSupported(Value value, int64_t images = -1) {
  auto type = tensorOf(value);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (dim != images && type.isDynamicDim(dim))
      return false;
  return type.getElementType().isF32() &&
         !llvm::is_contained(type.getShape(), 0);
}

/// What \p value is a reshape of, if that has its dimensions in \p order: only
/// dimensions of one element change their places.
static Value beforeUnitMoves(Value value, ArrayRef<int64_t> order) {
  auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>();
  if (!reshape)
    return {};
  ArrayRef<int64_t> shape = tensorOf(value).getShape();
  SmallVector<int64_t> wanted, others;
  for (int64_t dimension : order) {
    wanted.push_back(shape[dimension]);
    if (shape[dimension] != 1)
      others.push_back(dimension);
  }
  Value source = reshape.getOperand();
  return llvm::is_sorted(others) &&
                 tensorOf(source).getShape() == ArrayRef<int64_t>(wanted)
             ? source
             : Value();
}

/// The tensor whose dimensions, in order, are \p images, \p channels and
/// \p spatial of \p value, seen through transposes, and through a reshape that
/// stands for one; null if there is none, or if it is a constant.
static Value plainOperand(Value value, int64_t images, int64_t channels,
                          ArrayRef<int64_t> spatial) {
  SmallVector<int64_t> order = {images, channels};
  llvm::append_range(order, spatial);
  while (auto transpose = value.getDefiningOp<stablehlo::TransposeOp>()) {
    for (int64_t &dimension : order)
      dimension = transpose.getPermutation()[dimension];
    value = transpose.getOperand();
  }
  if (!llvm::equal(order, llvm::seq<int64_t>(0, order.size())))
    value = beforeUnitMoves(value, order);
  return value && !constantTensor(value) ? value : Value();
}

std::optional<WeightGradientForm>
WeightGradientForm::of(stablehlo::ConvolutionOp op) {
  constexpr int64_t mostTaps = 11;
  auto numbers = op.getDimensionNumbers();
  if (op.getSpatialRank() != 2 || op.getFeatureGroupCount() != 1 ||
      !isSupported(op.getLhs(), numbers.getInputFeatureDimension()) ||
      !isSupported(op.getRhs(), numbers.getKernelInputFeatureDimension()) ||
      !isSupported(op.getResult()))
    return std::nullopt;
  // What are images to the convolution are channels, and the other way round.
  WeightGradientForm form;
  form.input = plainOperand(op.getLhs(), numbers.getInputFeatureDimension(),
                            numbers.getInputBatchDimension(),
                            numbers.getInputSpatialDimensions());
  form.gradient =
      plainOperand(op.getRhs(), numbers.getKernelInputFeatureDimension(),
                   numbers.getKernelOutputFeatureDimension(),
                   numbers.getKernelSpatialDimensions());
  if (!form.input || !form.gradient)
    return std::nullopt;
  const int64_t channels = tensorOf(form.input).getDimSize(1);
  const auto groups = static_cast<int64_t>(op.getBatchGroupCount());
  form.isDepthwise =
      groups == channels && tensorOf(form.gradient).getDimSize(1) == channels;
  if (groups != 1 && !form.isDepthwise)
    return std::nullopt;
  for (auto [i, each] : llvm::enumerate(op.getWindow())) {
    form.taps[i] = tensorOf(op.getResult())
                       .getDimSize(numbers.getOutputSpatialDimensions()[i]);
    form.strides[i] = each.windowDilation;
    form.dilations[i] = each.stride;
    form.paddingLow[i] = each.paddingLow;
    if (each.baseDilation != 1 || each.reversed || form.taps[i] > mostTaps)
      return std::nullopt;
  }
  ArrayRef<int64_t> pixels = tensorOf(form.gradient).getShape().drop_front(2);
  if (!form.isDepthwise && form.taps[0] * form.taps[1] > pixels[0] * pixels[1])
    return std::nullopt;
  return form;
}

Value WeightGradientForm::result(TensorBuilder &emit, Value sums,
                                 stablehlo::ConvolutionOp op) const {
  auto numbers = op.getDimensionNumbers();
  SmallVector<int64_t> order(4);
  order[numbers.getOutputBatchDimension()] = 1;
  order[numbers.getOutputFeatureDimension()] = 0;
  for (auto [i, dimension] :
       llvm::enumerate(numbers.getOutputSpatialDimensions()))
    order[dimension] = static_cast<int64_t>(i) + 2;
  return emit.transpose(sums, order);
}

} // namespace sinter::cpu
