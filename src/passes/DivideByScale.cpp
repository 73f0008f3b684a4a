#include "passes/DivideByScale.h"

#include "graph/Types.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/Groups.h"
#include "passes/QuantizedForms.h"
#include "llvm/ADT/bit.h"

#include <cmath>
#include <numeric>

using namespace mlir;

namespace sinter {

bool missesMiddles(double number, double scale, double reach) {
  if (number == 0 || !std::isfinite(number))
    return false;
  // x as an odd integer times a power of two.
  auto split = [](double x) {
    int exponent;
    auto mantissa = static_cast<uint64_t>(
        std::ldexp(std::frexp(std::abs(x), &exponent), 53));
    const int zeros = llvm::countr_zero(mantissa);
    return std::pair(mantissa >> zeros, exponent - 53 + zeros);
  };
  const auto [numerator, up] = split(number);
  const auto [denominator, down] = split(scale);
  constexpr double manyMiddles = 1024, exactInF32 = 0x1p24;
  // The usual case, without looking for a common divisor.
  if (std::ldexp(1.0, std::max(0, down - up)) > manyMiddles)
    return false;
  const uint64_t common = std::gcd(numerator, denominator);
  const uint64_t above = numerator / common, below = denominator / common;
  const double top = std::ldexp(double(above), std::max(0, up - down)),
               bottom = std::ldexp(double(below), std::max(0, down - up));
  const bool isExact = below == 1 && top * reach <= exactInF32;
  return bottom <= manyMiddles && !isExact;
}

Value dividedByScale(nn::TensorBuilder &emit, Value x, double scale) {
  if (std::optional<Spread> known = Spread::of(x)) {
    constexpr double manySums = 0x1p16;
    for (double &number : known->numbers) {
      if (missesMiddles(number, scale, manySums))
        return {};
      number /= scale;
    }
    return emitSpread(emit, known->numbers, known->axis, x);
  }
  Operation *op = x.getDefiningOp();
  if (!op || !(x.use_empty() || x.hasOneUse()))
    return {};
  auto ofOperand = [&](unsigned i) {
    return dividedByScale(emit, op->getOperand(i), scale);
  };
  if (isa<stablehlo::MulOp>(op)) {
    for (unsigned i : {0u, 1u})
      if (Spread::of(op->getOperand(i)))
        if (Value factor = ofOperand(i))
          return emit.mul(op->getOperand(1 - i), factor);
    return {};
  }
  if (!isa<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::MaxOp,
           stablehlo::MinOp, stablehlo::ClampOp, nn::ReluOp>(op))
    return {};
  SmallVector<Value> operands;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    operands.push_back(ofOperand(i));
    if (!operands.back())
      return {};
  }
  Operation *copy = emit.builder.clone(*op);
  copy->removeDiscardableAttr(traceAttribute);
  copy->setOperands(operands);
  return copy->getResult(0);
}

} // namespace sinter
