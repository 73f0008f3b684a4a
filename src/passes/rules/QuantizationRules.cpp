#include "graph/Quantization.h"
#include "graph/Types.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/Matching.h"
#include "passes/RuleTables.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

namespace {
/// The operand that \p op clamps, and its bounds.
struct Clamped {
  Value operand;
  std::optional<double> least, greatest;
};
} // namespace

static std::optional<Clamped> clampOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !op->hasOneUse())
    return std::nullopt;
  if (isa<nn::ReluOp>(op))
    return Clamped{op->getOperand(0), 0.0, std::nullopt};
  if (isa<ClampOp>(op)) {
    std::optional<double> low = splatValue(op->getOperand(0)),
                          high = splatValue(op->getOperand(2));
    return low && high ? std::optional(Clamped{op->getOperand(1), low, high})
                       : std::nullopt;
  }
  if (!isa<MaxOp, MinOp>(op))
    return std::nullopt;
  for (unsigned side : {0u, 1u})
    if (std::optional<double> bound = splatValue(op->getOperand(side))) {
      Value operand = op->getOperand(1 - side);
      return isa<MaxOp>(op) ? Clamped{operand, bound, std::nullopt}
                            : Clamped{operand, std::nullopt, bound};
    }
  return std::nullopt;
}

/// Quantising clamps to the range of the type: a clamp in front of it is
/// redundant where its bounds become the least and the greatest element.
template <typename Op, QuantizedRounding rounding>
static Value quantizeClamp(Op op, OpBuilder &builder) {
  std::optional<Clamped> clamp = clampOf(op.getOperand());
  quant::QuantizedType type = quantizedOf(op.getType());
  std::optional<QuantizationParameters> parameters = roundedParametersOf(type);
  if (!clamp || !parameters ||
      clamp->operand.getType() != op.getOperand().getType())
    return {};
  const IntegerBounds bounds = boundsOf(type);
  for (auto [scale, zeroPoint] :
       llvm::zip_equal(parameters->scales, parameters->zeroPoints)) {
    const auto elementOf = [&, scale = scale, zeroPoint = zeroPoint](double x) {
      return quantizedNumber(x, scale, zeroPoint, bounds,
                             cast<FloatType>(type.getExpressedType()),
                             rounding);
    };
    if ((clamp->least && elementOf(*clamp->least) != bounds.least) ||
        (clamp->greatest && elementOf(*clamp->greatest) != bounds.greatest))
      return {};
  }
  return builder.create<Op>(op.getLoc(), op.getType(), clamp->operand);
}

RuleTable quantizationRules() {
  static const std::vector<RewriteRule> rules = {
      rule<UniformQuantizeOp,
           quantizeClamp<UniformQuantizeOp, QuantizedRounding::AfterZeroPoint>>(
          "quantize-clamp", "uniform_quantize(relu(x)) -> uniform_quantize(x), "
                            "if the type begins with 0"),
      rule<nn::QuantizeOp,
           quantizeClamp<nn::QuantizeOp, QuantizedRounding::BeforeZeroPoint>>(
          "quantize-clamp-rounded", "quantize(clamp(0, x, 6)) -> quantize(x), "
                                    "if the type holds 0 to 6")};
  return {"Quantisation", rules};
}

} // namespace sinter
