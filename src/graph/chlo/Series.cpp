#include "graph/chlo/Series.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace sinter::chlo {

using nn::tensorOf;

Type realElementOf(Value value) {
  Type element = tensorOf(value).getElementType();
  if (auto complex = dyn_cast<ComplexType>(element))
    return complex.getElementType();
  return element;
}

bool isComplexTensor(Value value) {
  return isa<ComplexType>(tensorOf(value).getElementType());
}

bool isDouble(Value value) { return realElementOf(value).isF64(); }

double largestOf(Value value) {
  auto type = cast<FloatType>(realElementOf(value));
  APFloat largest = APFloat::getLargest(type.getFloatSemantics());
  bool losesInfo;
  largest.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
  return largest.convertToDouble();
}

Value inWideType(TensorBuilder &emit, ValueRange operands,
                 function_ref<Value(ValueRange)> function) {
  Type element = tensorOf(operands.front()).getElementType();
  if (element.isF32() || element.isF64())
    return function(operands);
  SmallVector<Value> wide;
  for (Value operand : operands)
    wide.push_back(emit.convert(operand, emit.builder.getF32Type()));
  return emit.convert(function(wide), element);
}

/// The number of leading terms that affect the rounded result.
static size_t termsFor(Value t, ArrayRef<double> coefficients) {
  const double negligible =
      std::ldexp(std::fabs(coefficients[0]), isDouble(t) ? -57 : -28);
  double tail = 0;
  size_t count = coefficients.size();
  while (count > 2) {
    tail += std::fabs(coefficients[count - 1]);
    if (tail > negligible)
      break;
    --count;
  }
  return count;
}

Value chebyshev(TensorBuilder &emit, Value t, ArrayRef<double> coefficients) {
  auto type = tensorOf(t);
  Value twice = emit.add(t, t);
  Value later, next; // b[k + 2] and b[k + 1]; null for zero
  for (size_t k = termsFor(t, coefficients) - 1; k > 0; --k) {
    Value sum = emit.splat(coefficients[k], type);
    if (next)
      sum = emit.add(sum, emit.mul(twice, next));
    if (later)
      sum = emit.sub(sum, later);
    later = next;
    next = sum;
  }
  Value sum = emit.add(emit.mul(t, next), coefficients[0]);
  return later ? emit.sub(sum, later) : sum;
}

Value polynomial(TensorBuilder &emit, Value x, ArrayRef<double> coefficients) {
  Value sum = emit.splat(coefficients.front(), tensorOf(x));
  for (double coefficient : coefficients.drop_front())
    sum = emit.add(emit.mul(sum, x), coefficient);
  return sum;
}

Value toUnit(TensorBuilder &emit, Value x, double low, double high) {
  return emit.mul(emit.sub(x, (low + high) / 2), 2 / (high - low));
}

Value withSignOf(TensorBuilder &emit, Value magnitude, Value sign) {
  auto order = stablehlo::ComparisonTypeAttr::get(
      emit.builder.getContext(), stablehlo::ComparisonType::TOTALORDER);
  // In the total order -0 comes before 0.
  Value isNegative = emit.make<stablehlo::CompareOp>(
      sign, emit.splat(0, tensorOf(sign)), Direction::LT, order);
  return emit.select(isNegative, emit.neg(magnitude), magnitude);
}

Value infinityLike(TensorBuilder &emit, Value x) {
  return emit.splat(std::numeric_limits<double>::infinity(), tensorOf(x));
}

Value nanLike(TensorBuilder &emit, Value x) {
  return emit.splat(std::numeric_limits<double>::quiet_NaN(), tensorOf(x));
}

} // namespace sinter::chlo
