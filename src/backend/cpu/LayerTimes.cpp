#include "backend/cpu/LayerTimes.h"

#include "backend/cpu/kernels/Estimates.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// As images of two dimensions: what further ones there are counts as height,
/// and so does the part of a window along them. Of a convolution whose input is
/// dilated, each result has only a part of the taps.
static ConvolutionShape asImages(stablehlo::ConvolutionOp op) {
  ArrayRef<int64_t> input = tensorOf(op.getLhs()).getShape(),
                    kernel = tensorOf(op.getRhs()).getShape(),
                    output = tensorOf(op.getResult()).getShape();
  auto numbers = op.getDimensionNumbers();
  ConvolutionShape shape;
  shape.groups = int64_t(op.getFeatureGroupCount());
  shape.batch = output[numbers.getOutputBatchDimension()];
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
  return shape;
}

/// What is read and written of \p count elements of \p bytes each.
static double transfer(double count, int64_t bytes, const Target &target) {
  const double all = count * double(bytes);
  return all / (all <= double(target.l2Bytes) ? target.rates.cache
                                              : target.rates.memory);
}

static double elementsOf(Value value) {
  return double(tensorOf(value).getNumElements());
}

/// What matrix units multiply in the default precision.
static std::vector<TileArithmetic> tilesFor(const Arithmetic &arithmetic) {
  return TileArithmetic::allOf(arithmetic.lhs, arithmetic.rhs,
                               arithmetic.accumulator, Precision::Default);
}

/// \p kernels with what they read and write of activations.
static double timeOf(const Alternatives &kernels, Operation *op,
                     const Arithmetic &arithmetic, const Target &target) {
  const int64_t result =
      isByte(arithmetic.lhs) ? 1 : int64_t(arithmetic.sumBytes());
  return kernels.front().seconds +
         transfer(elementsOf(op->getOperand(0)), arithmetic.lhsBytes(),
                  target) +
         transfer(elementsOf(op->getResult(0)), result, target);
}

static LayerTimes timesOf(stablehlo::ConvolutionOp op, const Arithmetic &bytes,
                          const Target &target) {
  const ConvolutionShape shape = asImages(op);
  auto with = [&](const Arithmetic &arithmetic) {
    return timeOf(alternativesFor(shape, arithmetic, target,
                                  /*allowsFast=*/true, tilesFor(arithmetic)),
                  op, arithmetic, target);
  };
  return {with({}), with(bytes)};
}

static LayerTimes timesOf(stablehlo::DotGeneralOp op, const Arithmetic &bytes,
                          const Target &target) {
  const stablehlo::ProductSide lhs = op.getSide(0), rhs = op.getSide(1);
  auto sizeOf = [](Value value, ArrayRef<int64_t> dims) {
    int64_t size = 1;
    for (int64_t dim : dims)
      size *= tensorOf(value).getDimSize(dim);
    return size;
  };
  const int64_t m = sizeOf(lhs.value, lhs.free()),
                n = sizeOf(rhs.value, rhs.free()),
                k = sizeOf(lhs.value, lhs.contracting),
                batch = sizeOf(lhs.value, lhs.batching);
  const double flops = 2.0 * double(batch) * double(m) * double(n) * double(k);
  auto with = [&](const Arithmetic &arithmetic) {
    return timeOf(alternativesFor("matmul", MatMulShape::dense(m, batch * n, k),
                                  flops, arithmetic, target,
                                  tilesFor(arithmetic)),
                  op, arithmetic, target);
  };
  const double f32 = with({});
  return {f32, lhs.batching.empty() ? with(bytes) : f32};
}

std::optional<LayerTimes> cpu::layerTimes(Operation *op, const Target &target) {
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  if (!llvm::all_of(op->getOperandTypes(), isStatic) ||
      !llvm::all_of(op->getResultTypes(), isStatic))
    return std::nullopt;
  const Arithmetic bytes = Arithmetic::ofBytes(Arithmetic::bestBytes(target),
                                               ElementType::I8, target);
  if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op))
    return timesOf(convolution, bytes, target);
  if (auto product = dyn_cast<stablehlo::DotGeneralOp>(op))
    return timesOf(product, bytes, target);
  return std::nullopt;
}
