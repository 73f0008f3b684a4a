#include "backend/cpu/LayerTimes.h"

#include "backend/cpu/GraphShapes.h"
#include "backend/cpu/kernels/Estimates.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

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
  const ProductSizes sizes = sizesOf(op);
  auto with = [&](const Arithmetic &arithmetic) {
    return timeOf(
        alternativesFor(
            "matmul",
            MatMulShape::dense(sizes.m, sizes.batch * sizes.n, sizes.k),
            sizes.flops(), arithmetic, target, tilesFor(arithmetic)),
        op, arithmetic, target);
  };
  const double f32 = with({});
  return {f32, op.getSide(0).batching.empty() ? with(bytes) : f32};
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
