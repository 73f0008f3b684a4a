//===- ComplexMath.cpp - functions of complex numbers ---------------------===//
//
// In real arithmetic on f64, with the C library's functions of real numbers:
// the results of complex<f32> then have hardly any error of their own.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/emit/ComplexMath.h"

#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;
using P = arith::CmpFPredicate;

namespace {

/// A complex number.
struct Number {
  Value re, im;
};

class ComplexMathWriter {
public:
  explicit ComplexMathWriter(KernelBuilder &code) : e(code) {}

  // Real arithmetic.
  Value real(double value) {
    return e.create<arith::ConstantOp>(e.builder.getF64FloatAttr(value));
  }
  Value add(Value a, Value b) { return e.create<arith::AddFOp>(a, b); }
  Value sub(Value a, Value b) { return e.create<arith::SubFOp>(a, b); }
  Value mul(Value a, Value b) { return e.create<arith::MulFOp>(a, b); }
  Value div(Value a, Value b) { return e.create<arith::DivFOp>(a, b); }
  Value neg(Value a) { return e.create<arith::NegFOp>(a); }
  Value abs(Value a) { return e.create<math::AbsFOp>(a); }
  Value half(Value a) { return mul(a, real(0.5)); }
  Value sqrt(Value a) { return e.create<math::SqrtOp>(a); }
  Value exp(Value a) { return e.create<math::ExpOp>(a); }
  Value sin(Value a) { return e.create<math::SinOp>(a); }
  Value cos(Value a) { return e.create<math::CosOp>(a); }
  Value sinh(Value a) { return e.create<math::SinhOp>(a); }
  Value cosh(Value a) { return e.create<math::CoshOp>(a); }
  Value log(Value a) { return e.create<math::LogOp>(a); }
  Value log1p(Value a) { return e.create<math::Log1pOp>(a); }
  Value angle(Value im, Value re) { return e.create<math::Atan2Op>(im, re); }
  Value withSign(Value magnitude, Value sign) {
    return e.create<math::CopySignOp>(magnitude, sign);
  }
  Value less(Value a, Value b) { return compare(P::OLT, a, b); }
  Value equal(Value a, Value b) { return compare(P::OEQ, a, b); }
  Value compare(P predicate, Value a, Value b) {
    return e.create<arith::CmpFOp>(predicate, a, b);
  }
  Value both(Value a, Value b) { return e.create<arith::AndIOp>(a, b); }
  Value either(Value a, Value b) { return e.create<arith::OrIOp>(a, b); }
  Value select(Value condition, Value a, Value b) {
    return e.create<arith::SelectOp>(condition, a, b);
  }
  Number select(Value condition, Number a, Number b) {
    return {select(condition, a.re, b.re), select(condition, a.im, b.im)};
  }
  Value infinity() { return real(std::numeric_limits<double>::infinity()); }

  /// sqrt(a^2 + b^2) without overflow.
  Value magnitude(Number z) {
    Value a = abs(z.re), b = abs(z.im);
    Value most = e.create<arith::MaximumFOp>(a, b);
    Value least = e.create<arith::MinimumFOp>(a, b);
    Value ratio = div(least, most);
    Value length = mul(most, sqrt(add(real(1), mul(ratio, ratio))));
    length = select(equal(most, real(0)), real(0), length);
    Value isInfinite = either(equal(a, infinity()), equal(b, infinity()));
    return select(isInfinite, infinity(), length);
  }

  // Complex arithmetic.
  Number one() { return {real(1), real(0)}; }
  Number negative(Number z) { return {neg(z.re), neg(z.im)}; }
  Number sum(Number a, Number b) { return {add(a.re, b.re), add(a.im, b.im)}; }
  Number scaled(Number z, Value factor) {
    return {mul(z.re, factor), mul(z.im, factor)};
  }
  Number product(Number a, Number b) {
    return {sub(mul(a.re, b.re), mul(a.im, b.im)),
            add(mul(a.re, b.im), mul(a.im, b.re))};
  }
  Number quotient(Number a, Number b) {
    Type type = ComplexType::get(e.builder.getF64Type());
    auto pack = [&](Number z) {
      return e.create<complex::CreateOp>(type, z.re, z.im);
    };
    Value q = e.create<complex::DivOp>(pack(a), pack(b));
    return {e.create<complex::ReOp>(q), e.create<complex::ImOp>(q)};
  }
  Value isZero(Number z) {
    return both(equal(z.re, real(0)), equal(z.im, real(0)));
  }

  /// e^a (cos b + i sin b); real numbers stay real.
  Number exp(Number z) {
    Value size = exp(z.re);
    Number result = {mul(size, cos(z.im)), mul(size, sin(z.im))};
    Value isReal = equal(z.im, real(0));
    return select(isReal, Number{size, z.im}, result);
  }
  /// expm1(a) cos(b) - 2 sin(b / 2)^2 + i e^a sin(b).
  Number expm1(Number z) {
    Value s = sin(half(z.im));
    Value re = sub(mul(e.create<math::ExpM1Op>(z.re), cos(z.im)),
                   mul(real(2), mul(s, s)));
    Value im = mul(exp(z.re), sin(z.im));
    return {re, select(equal(z.im, real(0)), z.im, im)};
  }
  /// The sum of two numbers, and what rounding took from it (D. Knuth).
  std::pair<Value, Value> twoSum(Value a, Value b) {
    Value sum = add(a, b), shadow = sub(sum, a);
    return {sum, add(sub(a, sub(sum, shadow)), sub(b, shadow))};
  }
  /// a^2, and what rounding took from it.
  std::pair<Value, Value> twoSquare(Value a) {
    Value square = mul(a, a);
    return {square, e.create<math::FmaOp>(a, a, neg(square))};
  }
  /// |1 + a + ib|^2 - 1 = 2a + a^2 + b^2, whose terms may cancel.
  Value beyondOne(Value a, Value b) {
    auto [aa, aaRest] = twoSquare(a);
    auto [bb, bbRest] = twoSquare(b);
    auto [first, firstRest] = twoSum(mul(real(2), a), bb);
    auto [all, allRest] = twoSum(first, aa);
    return add(all, add(add(firstRest, allRest), add(aaRest, bbRest)));
  }
  /// log|z| without overflow; by log1p where |z| is near 1, where the logarithm
  /// of a rounded number has lost its digits.
  Value logMagnitude(Number z) {
    Value a = abs(z.re), b = abs(z.im);
    Value most = e.create<arith::MaximumFOp>(a, b);
    Value least = e.create<arith::MinimumFOp>(a, b);
    Value beyond = beyondOne(sub(most, real(1)), least);
    Value isNear = both(less(real(0.5), most), less(most, real(1.5)));
    Value ratio = select(equal(most, real(0)), real(0), div(least, most));
    Value far = add(log(most), half(log1p(mul(ratio, ratio))));
    Value size = select(isNear, half(log1p(beyond)), far);
    Value isInfinite = either(equal(a, infinity()), equal(b, infinity()));
    return select(isInfinite, infinity(), size);
  }
  Number log(Number z) { return {logMagnitude(z), angle(z.im, z.re)}; }
  /// log|1 + z| = log1p(2a + a^2 + b^2) / 2 but where that overflows, or where
  /// 1 + a is exact.
  Number log1p(Number z) {
    Value near = half(log1p(beyondOne(z.re, z.im)));
    Number shifted = {add(real(1), z.re), z.im};
    Value isFar = either(less(real(1e8), magnitude(z)), less(z.re, real(-0.5)));
    return {select(isFar, logMagnitude(shifted), near),
            angle(shifted.im, shifted.re)};
  }
  /// The half of |z| + |a| has no cancellation; the other part follows from it.
  /// Numbers near the ends of the range are scaled by a power of 4.
  Number sqrt(Number z) {
    Value most = e.create<arith::MaximumFOp>(abs(z.re), abs(z.im));
    Value isHuge = less(real(0x1p1000), most);
    Value isTiny = less(most, real(0x1p-900));
    auto choose = [&](double huge, double tiny) {
      return select(isHuge, real(huge), select(isTiny, real(tiny), real(1)));
    };
    Number w = scaled(z, choose(0x1p-4, 0x1p200));
    Value larger = sqrt(add(half(abs(w.re)), half(magnitude(w))));
    // Halving the imaginary part could lose it.
    Value smaller = div(w.im, add(larger, larger));
    Value isRight = compare(P::OGE, z.re, real(0));
    Number result = select(isRight, Number{larger, smaller},
                           Number{abs(smaller), withSign(larger, z.im)});
    result = scaled(result, choose(0x1p2, 0x1p-100));
    result = select(isZero(z), Number{real(0), z.im}, result);
    Value isVertical = equal(abs(z.im), infinity());
    return select(isVertical, Number{infinity(), z.im}, result);
  }
  Number rsqrt(Number z) { return quotient(one(), sqrt(z)); }
  Number sin(Number z) {
    return {mul(sin(z.re), cosh(z.im)), mul(cos(z.re), sinh(z.im))};
  }
  Number cos(Number z) {
    return {mul(cos(z.re), cosh(z.im)), neg(mul(sin(z.re), sinh(z.im)))};
  }
  /// W. Kahan, "Branch cuts for complex elementary functions" (1987).
  Number tanh(Number z) {
    Value tangent = e.create<math::TanOp>(z.im);
    Value beta = add(real(1), mul(tangent, tangent));
    Value s = sinh(z.re);
    Value rho = sqrt(add(real(1), mul(s, s)));
    Value scale = add(real(1), mul(beta, mul(s, s)));
    Number near = {div(mul(beta, mul(rho, s)), scale), div(tangent, scale)};
    Value far = mul(mul(real(4), mul(sin(z.im), cos(z.im))),
                    exp(mul(real(-2), abs(z.re))));
    Value isFar = less(real(22), abs(z.re));
    Value limit =
        select(equal(abs(z.re), infinity()), withSign(real(0), z.im), far);
    return select(isFar, Number{withSign(real(1), z.re), limit}, near);
  }
  /// -i tanh(i z).
  Number tan(Number z) {
    Number turned = tanh({neg(z.im), z.re});
    return {turned.im, neg(turned.re)};
  }
  /// e^(y log x); 0^0 is 1, any other power of 0 is 0.
  Number power(Number x, Number y) {
    Number result = exp(product(y, log(x)));
    Number ofZero = {select(isZero(y), real(1), real(0)), real(0)};
    return select(isZero(x), ofZero, result);
  }
  /// -i log((x + i y) / sqrt(x^2 + y^2)).
  Number atan2(Number y, Number x) {
    Number top = {sub(x.re, y.im), add(x.im, y.re)};
    Number root = sqrt(sum(product(x, x), product(y, y)));
    Number turned = log(quotient(top, root));
    return {turned.im, neg(turned.re)};
  }
  Number cbrt(Number z) {
    return select(isZero(z), z, exp(scaled(log(z), real(1.0 / 3))));
  }
  Number sign(Number z) {
    Value size = magnitude(z);
    return select(isZero(z), Number{real(0), real(0)},
                  Number{div(z.re, size), div(z.im, size)});
  }
  Number remainder(Number a, Number b) {
    Number q = quotient(a, b);
    Number whole = {e.create<math::TruncOp>(q.re),
                    e.create<math::TruncOp>(q.im)};
    return sum(a, negative(product(b, whole)));
  }

  KernelBuilder &e;
};

} // namespace

Value cpu::emitComplexFunction(KernelBuilder &code, Operation *op,
                               ArrayRef<Value> operands) {
  using namespace stablehlo;
  ComplexMathWriter w(code);
  Type f64 = code.builder.getF64Type();
  auto type = cast<ComplexType>(operands[0].getType());
  Type part = type.getElementType();
  auto widen = [&](Value value) -> Value {
    return part == f64 ? value : code.create<arith::ExtFOp>(f64, value);
  };
  auto narrow = [&](Value value) -> Value {
    return part == f64 ? value : code.create<arith::TruncFOp>(part, value);
  };
  SmallVector<Number> numbers;
  for (Value operand : operands)
    numbers.push_back({widen(code.create<complex::ReOp>(operand)),
                       widen(code.create<complex::ImOp>(operand))});
  Number x = numbers[0], y = numbers.back();
  if (isa<AbsOp>(op))
    return narrow(w.magnitude(x));
  using Found = std::optional<Number>;
  Found result =
      llvm::TypeSwitch<Operation *, Found>(op)
          .Case<ExpOp>([&](auto) { return w.exp(x); })
          .Case<Expm1Op>([&](auto) { return w.expm1(x); })
          .Case<LogOp>([&](auto) { return w.log(x); })
          .Case<Log1pOp>([&](auto) { return w.log1p(x); })
          .Case<SqrtOp>([&](auto) { return w.sqrt(x); })
          .Case<RsqrtOp>([&](auto) { return w.rsqrt(x); })
          .Case<CbrtOp>([&](auto) { return w.cbrt(x); })
          .Case<SineOp>([&](auto) { return w.sin(x); })
          .Case<CosineOp>([&](auto) { return w.cos(x); })
          .Case<TanOp>([&](auto) { return w.tan(x); })
          .Case<TanhOp>([&](auto) { return w.tanh(x); })
          .Case<SignOp>([&](auto) { return w.sign(x); })
          .Case<LogisticOp>([&](auto) {
            return w.quotient(w.one(), w.sum(w.one(), w.exp(w.negative(x))));
          })
          .Case<PowOp>([&](auto) { return w.power(x, y); })
          .Case<Atan2Op>([&](auto) { return w.atan2(x, y); })
          .Case<DivOp>([&](auto) { return w.quotient(x, y); })
          .Case<RemOp>([&](auto) { return w.remainder(x, y); })
          .Default([](Operation *) -> Found { return std::nullopt; });
  if (!result)
    return {};
  return code.create<complex::CreateOp>(type, narrow(result->re),
                                        narrow(result->im));
}

Value cpu::emitComplexMinMax(KernelBuilder &code, Value a, Value b,
                             bool greater) {
  ComplexMathWriter w(code);
  auto partsOf = [&](Value z) {
    return Number{code.create<complex::ReOp>(z), code.create<complex::ImOp>(z)};
  };
  Number x = partsOf(a), y = partsOf(b);
  if (!greater)
    std::swap(x, y);
  // x < y, or y < x.
  Value isLess = w.either(w.less(x.re, y.re),
                          w.both(w.equal(x.re, y.re), w.less(x.im, y.im)));
  auto isNan = [&](Value z) {
    Number n = partsOf(z);
    return w.compare(P::UNO, n.re, n.im);
  };
  Value better = w.select(isLess, b, a);
  return w.select(isNan(a), a, w.select(isNan(b), b, better));
}
