#include "backend/cpu/cost/LayerTimes.h"

#include "backend/cpu/cost/Estimates.h"
#include "backend/cpu/cost/GraphShapes.h"
#include "graph/Types.h"

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

/// \p kernels with what they read and write of activations, \p result bytes of
/// each element.
static double timeOf(const Alternatives &kernels, Operation *op,
                     const Arithmetic &arithmetic, int64_t result,
                     const Target &target) {
  return kernels.front().seconds +
         transfer(elementsOf(op->getOperand(0)), arithmetic.lhsBytes(),
                  target) +
         transfer(elementsOf(op->getResult(0)), result, target);
}

static int64_t bytesOfResult(const Arithmetic &arithmetic) {
  return isByte(arithmetic.rhs) ? int64_t(arithmetic.lhsBytes())
                                : int64_t(arithmetic.sumBytes());
}

namespace {
/// What a convolution takes in each way.
struct ConvolutionTimes {
  double f32, bytes;
  /// Of floats that are bytes in f32, into bytes.
  double widened;
};
} // namespace

static ConvolutionTimes timesOf(stablehlo::ConvolutionOp op,
                                const Target &target) {
  const ConvolutionShape shape = asImages(op);
  const Arithmetic bytes = Arithmetic::ofBytes(target);
  auto with = [&](const Arithmetic &arithmetic, int64_t result) {
    return timeOf(alternativesFor(shape, arithmetic, target,
                                  /*allowsFast=*/true, tilesFor(arithmetic)),
                  op, arithmetic, result, target);
  };
  return {with({}, bytesOfResult({})), with(bytes, bytesOfResult(bytes)),
          with({}, bytesOfResult(bytes))};
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
        op, arithmetic, bytesOfResult(arithmetic), target);
  };
  const double f32 = with({});
  return {f32, op.getSide(0).batching.empty() ? with(bytes) : f32};
}

static bool isStatic(Operation *op) {
  auto hasStaticShape = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  return llvm::all_of(op->getOperandTypes(), hasStaticShape) &&
         llvm::all_of(op->getResultTypes(), hasStaticShape);
}

bool cpu::readsFloatsFaster(stablehlo::ConvolutionOp op, const Target &target) {
  if (!op.isDepthwise() || !isStatic(op))
    return false;
  const ConvolutionTimes times = timesOf(op, target);
  return times.widened < times.bytes;
}

std::optional<LayerTimes> cpu::layerTimes(Operation *op, const Target &target) {
  if (!isStatic(op))
    return std::nullopt;
  if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op)) {
    const ConvolutionTimes times = timesOf(convolution, target);
    return LayerTimes{times.f32, convolution.isDepthwise()
                                     ? std::min(times.bytes, times.widened)
                                     : times.bytes};
  }
  const Arithmetic bytes = Arithmetic::ofBytes(target);
  if (auto product = dyn_cast<stablehlo::DotGeneralOp>(op))
    return timesOf(product, bytes, target);
  return std::nullopt;
}
