//===- Reinitialize.cpp - initialises weights anew ------------------------===//

#include "autodiff/Reinitialize.h"

#include "autodiff/WeightUses.h"
#include "graph/Constants.h"
#include "graph/nn/NnOps.h"
#include "runtime/Random.h"

#include "llvm/Support/xxhash.h"

#include <cmath>

using namespace mlir;

namespace sinter::autodiff {

namespace {

/// How a weight is initialised.
struct Beginning {
  /// A constant or, if not set, uniform values with a bound by the fan-in.
  std::optional<double> number;
  double products = 1;
};

} // namespace

static Beginning everywhere(double number) { return {number, 1}; }

static Beginning byProducts(ArrayRef<int64_t> sizes) {
  double products = 1;
  for (int64_t size : sizes)
    products *= static_cast<double>(std::max<int64_t>(size, 1));
  return {std::nullopt, products};
}

static std::optional<Beginning> ofKernel(stablehlo::ConvolutionOp op,
                                         OpOperand &use) {
  if (use.getOperandNumber() != 1)
    return std::nullopt;
  const auto kernel = tensorOf(op.getRhs());
  const auto dimensions = op.getDimensionNumbers();
  SmallVector<int64_t> sizes = {
      kernel.getDimSize(dimensions.getKernelInputFeatureDimension())};
  for (int64_t dimension : dimensions.getKernelSpatialDimensions())
    sizes.push_back(kernel.getDimSize(dimension));
  return byProducts(sizes);
}

static Beginning ofFactor(stablehlo::DotGeneralOp op, OpOperand &use) {
  const auto dimensions = op.getDotDimensionNumbers();
  const auto factor = tensorOf(use.get());
  SmallVector<int64_t> sizes;
  for (int64_t dimension : use.getOperandNumber() == 0
                               ? dimensions.getLhsContractingDimensions()
                               : dimensions.getRhsContractingDimensions())
    sizes.push_back(factor.getDimSize(dimension));
  return byProducts(sizes);
}

/// The initialisation that \p use implies; nothing if it could be any weight's.
static std::optional<Beginning> beginningBy(OpOperand &use) {
  Operation *op = use.getOwner();
  const unsigned number = use.getOperandNumber();
  if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op))
    return ofKernel(convolution, use);
  if (auto product = dyn_cast<stablehlo::DotGeneralOp>(op))
    return ofFactor(product, use);
  if (isa<stablehlo::BatchNormInferenceOp>(op) && number > 0)
    return everywhere(number == 1 || number == 4 ? 1 : 0);
  if (isa<nn::MeanVarNormOp>(op) && number > 0)
    return everywhere(number == 2 ? 1 : 0);
  if (isa<nn::LayerNormOp, nn::RmsNormOp, nn::GroupNormOp>(op) && number > 0)
    return everywhere(number == 1 ? 1 : 0);
  if (isa<nn::PReluOp>(op) && number == 1)
    return everywhere(0.25);
  return std::nullopt;
}

static Beginning beginningOf(Value value) {
  const ArrayRef<int64_t> shape = tensorOf(value).getShape();
  const bool isOneVector = isVector(shape);
  SmallVector<Value> values = {value};
  while (!values.empty()) {
    Value next = values.pop_back_val();
    for (OpOperand &use : next.getUses()) {
      Operation *user = use.getOwner();
      if (isa<stablehlo::MulOp>(user) && isOneVector)
        return everywhere(1);
      if (std::optional<Beginning> found = beginningBy(use))
        return *found;
      if (handsOn(user) && use.getOperandNumber() == 0)
        values.push_back(user->getResult(0));
    }
  }
  return isOneVector ? everywhere(0) : byProducts(shape.take_back());
}

Tensor freshValue(const LiftedWeight &weight, Value value, uint64_t seed) {
  const Beginning beginning = beginningOf(value);
  const Tensor &old = weight.value;
  if (beginning.number) {
    const std::vector<double> numbers(static_cast<size_t>(old.size()),
                                      *beginning.number);
    return tensorOfDoubles(old.type(), old.shape(), numbers);
  }
  RandomOptions range;
  range.high = 1 / std::sqrt(beginning.products);
  range.low = -range.high;
  Tensor fresh(old.type(), old.shape());
  fillRandom(fresh, splitMix(seed, llvm::xxh3_64bits(weight.name)), range);
  return fresh;
}

} // namespace sinter::autodiff
