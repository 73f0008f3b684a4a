#include "backend/cpu/cost/GraphShapes.h"

#include "graph/Types.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

ConvolutionShape cpu::asImages(stablehlo::ConvolutionOp op) {
  ArrayRef<int64_t> input = tensorOf(op.getLhs()).getShape(),
                    kernel = tensorOf(op.getRhs()).getShape(),
                    output = tensorOf(op.getResult()).getShape();
  auto numbers = op.getDimensionNumbers();
  ConvolutionShape shape;
  shape.groups = int64_t(op.getFeatureGroupCount());
  const Dim batch = output[numbers.getOutputBatchDimension()];
  shape.batch = batch.valueOr(1);
  shape.inputChannels =
      kernel[numbers.getKernelInputFeatureDimension()] * shape.groups;
  shape.outputChannels = output[numbers.getOutputFeatureDimension()];
  shape.inputHeight = shape.inputWidth = 1;
  shape.outputHeight = shape.outputWidth = 1;
  auto inputs = numbers.getInputSpatialDimensions();
  auto outputs = numbers.getOutputSpatialDimensions();
  const stablehlo::ConvolutionWindow window = op.getWindow();
  for (size_t i = 0; i < window.size(); ++i) {
    const bool isLast = i + 1 == window.size();
    const stablehlo::WindowDimension &each = window[i];
    (isLast ? shape.inputWidth : shape.inputHeight) *= input[inputs[i]];
    (isLast ? shape.outputWidth : shape.outputHeight) *= output[outputs[i]];
    (isLast ? shape.kernelWidth : shape.kernelHeight) *=
        llvm::divideCeil(each.size, each.baseDilation);
    (isLast ? shape.strideWidth : shape.strideHeight) = each.stride;
    (isLast ? shape.dilationWidth : shape.dilationHeight) = each.windowDilation;
    (isLast ? shape.padLeft : shape.padTop) = each.paddingLow;
  }
  static_cast<WindowShape &>(shape) = shape.nominal();
  return shape;
}

bool cpu::hasFewProducts(stablehlo::ConvolutionOp op) {
  constexpr int64_t most = 1024;
  auto kernel = tensorOf(op.getRhs());
  auto numbers = op.getDimensionNumbers();
  SmallVector<int64_t> image(tensorOf(op.getResult()).getShape());
  image[numbers.getOutputBatchDimension()] = 1;
  if (!kernel.hasStaticShape() || ShapedType::isDynamicShape(image))
    return false;
  std::optional<int64_t> weights = elementCount(kernel.getShape()),
                         places = elementCount(image);
  const int64_t features =
      kernel.getDimSize(numbers.getKernelOutputFeatureDimension());
  return weights && places && features > 0 && *places <= most &&
         *weights / features <= most && *places * (*weights / features) <= most;
}

ProductSizes cpu::sizesOf(stablehlo::DotGeneralOp op) {
  const stablehlo::ProductSide lhs = op.getSide(0), rhs = op.getSide(1);
  auto sizeOf = [](Value value, ArrayRef<int64_t> dims) {
    int64_t size = 1;
    for (int64_t dim : dims) {
      if (tensorOf(value).isDynamicDim(dim))
        return unknownSizeEstimate;
      size *= tensorOf(value).getDimSize(dim);
    }
    return size;
  };
  return {sizeOf(lhs.value, lhs.batching), sizeOf(lhs.value, lhs.free()),
          sizeOf(rhs.value, rhs.free()), sizeOf(lhs.value, lhs.contracting)};
}

/// Whether the elements of each row of \p value lie side by side in memory.
static bool hasNeighbours(Value value) {
  int64_t last = tensorOf(value).getRank() - 1;
  while (auto transpose = value.getDefiningOp<stablehlo::TransposeOp>()) {
    last = transpose.getPermutation()[last];
    value = transpose.getOperand();
  }
  return last == tensorOf(value).getRank() - 1;
}

AttentionShape cpu::asHeads(nn::AttentionOp op) {
  ArrayRef<int64_t> query = tensorOf(op.getQuery()).getShape(),
                    key = tensorOf(op.getKey()).getShape(),
                    value = tensorOf(op.getValue()).getShape();
  const size_t heads = query.size() - 2;
  AttentionShape shape;
  shape.rows = query[heads];
  shape.depth = query[heads + 1];
  shape.keys = key[heads];
  shape.width = value[heads + 1];
  const bool areNeighbours = hasNeighbours(op.getKey());
  shape.keyRow = areNeighbours ? shape.depth : 1;
  shape.keyColumn = areNeighbours ? 1 : key[heads];
  shape.isCausal = op.getCausal();
  for (size_t i = 0; i < heads; ++i)
    if (query[i] > 1)
      shape.heads.push_back({query[i], query[i] / key[i], 0, 0, 0, 0, 0});
  return shape;
}
