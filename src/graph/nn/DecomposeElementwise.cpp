// Activations and other elementwise functions, built from stablehlo.

#include "graph/Quantization.h"
#include "graph/chlo/Functions.h"
#include "graph/nn/Wide.h"

#include <cmath>

using namespace mlir;

namespace sinter::nn {

using Direction = stablehlo::ComparisonDirection;

/// FUNCTION(Op, { expression of emit, x and op }): the decomposition, rounded
/// once.
#define FUNCTION(Op, ...)                                                      \
  FailureOr<SmallVector<Value>> Op::decompose(OpBuilder &builder) {            \
    if (auto wide = decomposeInF32(*this, builder))                            \
      return *wide;                                                            \
    TensorBuilder emit(builder, getLoc());                                     \
    Value x = getOperand();                                                    \
    emit.setShape(x);                                                          \
    [[maybe_unused]] auto number = [](const APFloat &value) {                  \
      return value.convertToDouble();                                          \
    };                                                                         \
    auto build = [&]() -> Value __VA_ARGS__;                                   \
    return SmallVector<Value>{build()};                                        \
  }

/// log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|)), which does not overflow.
static Value softplus(TensorBuilder &emit, Value x) {
  Value tail = emit.make<stablehlo::Log1pOp>(emit.exp(emit.neg(emit.abs(x))));
  return emit.add(emit.max(x, 0.0), tail);
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>> ReluOp::decompose(OpBuilder &builder) {
  if (auto numbers = decomposeDequantized(*this, builder))
    return *numbers;
  return SmallVector<Value>{
      TensorBuilder(builder, getLoc()).max(getOperand(), 0.0)};
}
FUNCTION(LeakyReluOp, {
  return emit.select(emit.compare(Direction::GE, x, 0.0), x,
                     emit.mul(x, number(getAlpha())));
})
FUNCTION(EluOp, {
  Value below = emit.mul(emit.make<stablehlo::Expm1Op>(x), number(getAlpha()));
  return emit.select(emit.compare(Direction::GT, x, 0.0), x, below);
})
FUNCTION(CeluOp, {
  double alpha = number(getAlpha());
  Value below =
      emit.mul(emit.make<stablehlo::Expm1Op>(emit.div(x, alpha)), alpha);
  return emit.add(emit.max(x, 0.0), emit.min(below, 0.0));
})
FUNCTION(SeluOp, {
  Value below = emit.mul(emit.make<stablehlo::Expm1Op>(x), number(getAlpha()));
  Value both = emit.select(emit.compare(Direction::GT, x, 0.0), x, below);
  return emit.mul(both, number(getGamma()));
})
FUNCTION(ThresholdedReluOp, {
  return emit.select(emit.compare(Direction::GT, x, number(getAlpha())), x,
                     emit.splatLike(0, x));
})
FUNCTION(HardSigmoidOp, {
  Value line = emit.add(emit.mul(x, number(getAlpha())), number(getBeta()));
  return emit.min(emit.max(line, 0.0), 1.0);
})
FUNCTION(HardSwishOp, {
  Value gate = emit.add(emit.mul(x, 1.0 / 6), 0.5);
  return emit.mul(x, emit.min(emit.max(gate, 0.0), 1.0));
})
FUNCTION(SiluOp, {
  double alpha = number(getAlpha());
  Value scaled = alpha == 1 ? x : emit.mul(x, alpha);
  return emit.mul(x, emit.make<stablehlo::LogisticOp>(scaled));
})
FUNCTION(MishOp, {
  return emit.mul(x, emit.make<stablehlo::TanhOp>(softplus(emit, x)));
})
FUNCTION(SoftplusOp, { return softplus(emit, x); })
FUNCTION(SoftsignOp, { return emit.div(x, emit.add(emit.abs(x), 1.0)); })
FUNCTION(ShrinkOp, {
  double bias = number(getBias());
  double lambda = number(getLambda());
  Value zero = emit.splatLike(0, x);
  Value above = emit.select(emit.compare(Direction::GT, x, lambda),
                            emit.sub(x, bias), zero);
  return emit.select(emit.compare(Direction::LT, x, -lambda), emit.add(x, bias),
                     above);
})
FUNCTION(GeluOp, {
  if (getApproximate()) {
    // Hendrycks & Gimpel, "Gaussian error linear units", section 2;
    // (1 + tanh(y)) / 2 is logistic(2 y).
    Value cube = emit.mul(emit.mul(x, x), x);
    Value line = emit.mul(emit.add(x, emit.mul(cube, 0.044715)),
                          2 * std::sqrt(2 / M_PI));
    return emit.mul(x, emit.make<stablehlo::LogisticOp>(line));
  }
  Value erf = emit.make<ErfOp>(emit.mul(x, M_SQRT1_2));
  return emit.mul(emit.mul(x, 0.5), emit.add(erf, 1.0));
})

FailureOr<SmallVector<Value>> PReluOp::decompose(OpBuilder &builder) {
  if (auto numbers = decomposeDequantized(*this, builder))
    return *numbers;
  TensorBuilder emit(builder, getLoc());
  Value x = getOperand();
  Value slope = emit.broadcastTrailing(getSlope(), emit.sizes(x));
  return SmallVector<Value>{
      emit.select(emit.compare(Direction::LT, x, 0.0), emit.mul(x, slope), x)};
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

FUNCTION(AcosOp, { return chlo::acos(emit, x); })
FUNCTION(AcoshOp, { return chlo::acosh(emit, x); })
FUNCTION(AsinOp, { return chlo::asin(emit, x); })
FUNCTION(AsinhOp, { return chlo::asinh(emit, x); })
FUNCTION(AtanOp, { return chlo::atan(emit, x); })
FUNCTION(AtanhOp, { return chlo::atanh(emit, x); })
FUNCTION(CoshOp, { return chlo::preciseCosh(emit, x); })
FUNCTION(SinhOp, { return chlo::preciseSinh(emit, x); })
FUNCTION(ErfOp, { return chlo::erf(emit, x); })
FUNCTION(ErfcOp, { return chlo::erfc(emit, x); })

//===----------------------------------------------------------------------===//
// Quantising
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>> QuantizeOp::decompose(OpBuilder &builder) {
  TensorBuilder emit(builder, getLoc());
  Value reals = getOperand();
  quant::QuantizedType type = quantizedOf(getType());
  if (quantizedOf(reals.getType()))
    reals = emit.make<stablehlo::UniformDequantizeOp>(
        tensorOf(reals).clone(type.getExpressedType()), reals);
  Value storage =
      emitQuantized(emit, reals, type, QuantizedRounding::BeforeZeroPoint);
  return SmallVector<Value>{
      emit.make<stablehlo::BitcastConvertOp>(getType(), storage)};
}

} // namespace sinter::nn
