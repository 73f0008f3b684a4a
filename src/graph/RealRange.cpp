#include "graph/RealRange.h"

#include "graph/Quantization.h"
#include "graph/interfaces/Rescale.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;

namespace sinter {

RealRange realRangeOf(quant::QuantizedType type) {
  const std::optional<QuantizationParameters> parameters =
      roundedParametersOf(type);
  if (!parameters)
    return {};
  RealRange range;
  std::swap(range.least, range.greatest);
  const IntegerBounds bounds = boundsOf(type);
  for (auto [scale, zero] :
       llvm::zip_equal(parameters->scales, parameters->zeroPoints)) {
    range.least =
        std::min(range.least, static_cast<double>(bounds.least - zero) * scale);
    range.greatest = std::max(
        range.greatest, static_cast<double>(bounds.greatest - zero) * scale);
  }
  return range;
}

namespace {

RealRange intersection(RealRange a, RealRange b) {
  return {std::max(a.least, b.least), std::min(a.greatest, b.greatest)};
}
RealRange hull(RealRange a, RealRange b) {
  return {std::min(a.least, b.least), std::max(a.greatest, b.greatest)};
}

class RangeFinder {
public:
  /// The range of \p value's elements.
  RealRange held(Value value) {
    quant::QuantizedType type = quantizedOf(value.getType());
    return type ? intersection(realRangeOf(type), computed(value))
                : RealRange();
  }

  /// The range before rounding and clamping.
  RealRange computed(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || left == 0)
      return {};
    --left;
    auto operand = [&](unsigned i) { return held(op->getOperand(i)); };
    if (isa<stablehlo::LogisticOp, nn::SoftmaxOp, nn::HardSigmoidOp,
            nn::HardmaxOp>(op))
      return {0, 1};
    if (isa<stablehlo::TanhOp, nn::ErfOp, stablehlo::SineOp,
            stablehlo::CosineOp, nn::SoftsignOp>(op))
      return {-1, 1};
    if (isa<nn::ReluOp>(op))
      return {std::max(0.0, operand(0).least),
              std::max(0.0, operand(0).greatest)};
    if (isa<stablehlo::MaxOp>(op))
      return {std::max(operand(0).least, operand(1).least),
              std::max(operand(0).greatest, operand(1).greatest)};
    if (isa<stablehlo::MinOp>(op))
      return {std::min(operand(0).least, operand(1).least),
              std::min(operand(0).greatest, operand(1).greatest)};
    if (isa<stablehlo::AddOp>(op))
      return {operand(0).least + operand(1).least,
              operand(0).greatest + operand(1).greatest};
    if (isa<stablehlo::UniformQuantizeOp, nn::QuantizeOp>(op))
      return operand(0);
    return throughWay(op);
  }

private:
  /// The result of a monotonic operation stays within its operands' ranges.
  RealRange throughWay(Operation *op) {
    auto rescaled = dyn_cast<RescaleOpInterface>(op);
    if (!rescaled || op->getNumResults() != 1)
      return {};
    for (const RescaleWay &way : rescaled.getRescaleWays())
      if (way.ranges == RescaleRanges::Any && !way.operands.empty()) {
        RealRange all = held(op->getOperand(way.operands.front()));
        for (unsigned index : llvm::drop_begin(way.operands))
          all = hull(all, held(op->getOperand(index)));
        return all;
      }
    return {};
  }

  unsigned left = 32;
};

} // namespace

RealRange rangeBeforeRounding(Value value) {
  return RangeFinder().computed(value);
}

} // namespace sinter
