//===- ConvolutionColumns.cpp - convolutions of few outputs ---------------===//

#include "backend/cpu/layout/ConvolutionColumns.h"

#include "backend/cpu/cost/EstimateFigures.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using sinter::nn::TensorBuilder;

namespace sinter::cpu {

bool hasColumnsForOutputs(stablehlo::ConvolutionOp op, int64_t lanes) {
  const auto kernel = tensorOf(op.getRhs());
  for (Value value : {op.getLhs(), op.getRhs(), op.getResult()})
    if (!tensorOf(value).getElementType().isF32())
      return false;
  const stablehlo::ConvolutionWindow window = op.getWindow();
  if (op.getFeatureGroupCount() != 1 || op.getBatchGroupCount() != 1 ||
      !kernel.hasStaticShape() || window.empty() || window.back().stride != 1)
    return false;
  for (const stablehlo::WindowDimension &each : window)
    if (each.baseDilation != 1)
      return false;
  const int64_t outputs = kernel.getDimSize(
                    op.getDimensionNumbers().getKernelOutputFeatureDimension()),
                columns = window.back().size,
                products = kernel.getNumElements() / (outputs * columns);
  return products >= figures::fewestProductsOfColumn &&
         figures::blocksPerBlockOfColumns *
                 llvm::divideCeil(outputs * columns, lanes) <=
             llvm::divideCeil(outputs, lanes) * columns;
}

Value computeByColumns(TensorBuilder &emit, const PlainConvolution &plain,
                       stablehlo::ConvolutionOp op) {
  PlainConvolution part = plain;
  stablehlo::WindowDimension &last = part.window.back();
  const int64_t columns = last.size, distance = last.windowDilation;
  last.size = last.windowDilation = 1;
  // [K, C, R, S] as [K, S, C, R].
  SmallVector<int64_t> order = {0, plain.spatialRank() + 1};
  llvm::append_range(order, llvm::seq<int64_t>(1, order[1]));
  const nn::Sizes kernel = emit.sizes(plain.kernel);
  nn::Sizes ofColumns(kernel);
  ofColumns[0] = plain.outputs() * columns;
  ofColumns.back() = 1;
  part.kernel = emit.reshape(emit.transpose(plain.kernel, order), ofColumns);
  Value all = part.emitOperation(emit, op);
  nn::Sizes sizes = emit.sizes(all);
  const nn::Size width =
      emit.difference(sizes.back(), (columns - 1) * distance);
  // [N, K, S, H, W] with columns side by side.
  sizes[1] = plain.outputs();
  nn::Sizes split(sizes), result(sizes);
  split.insert(split.begin() + 2, columns);
  result.back() = width;
  all = emit.reshape(all, split);
  Value sum;
  for (int64_t column = 0; column < columns; ++column) {
    SmallVector<int64_t> starts(split.size(), 0), strides(split.size(), 1);
    nn::Sizes limits(split);
    starts[2] = column;
    limits[2] = column + 1;
    starts.back() = column * distance;
    limits.back() = emit.sum(width, column * distance);
    Value slice =
        emit.reshape(emit.slice(all, starts, limits, strides), result);
    sum = sum ? emit.add(sum, slice) : slice;
  }
  return sum;
}

} // namespace sinter::cpu
