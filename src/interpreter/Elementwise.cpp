//===- Elementwise.cpp - unary and binary functions -----------------------===//

#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/ComplexMath.h"
#include "interpreter/ElementwiseLoops.h"

#include <bit>
#include <cmath>
#include <limits>

namespace sinter::interpreter {
namespace {

/// Integers of type T as unsigned ones that wrap without promotion to int.
template <typename T> constexpr uint64_t wide(T value) {
  return static_cast<uint64_t>(value);
}
/// The \p bits low bits of a value.
template <typename T> constexpr uint64_t lowBits(T value, unsigned bits) {
  return wide(value) & (~uint64_t(0) >> (64 - bits));
}

//===----------------------------------------------------------------------===//
// Unary functions
//===----------------------------------------------------------------------===//

/// A function for floats, and the one of complexmath for complex numbers.
#define REAL_AND_COMPLEX(Name, function, expression)                           \
  struct Name {                                                                \
    static double real(double x) { return expression; }                        \
    static Complex complex(Complex x) { return complexmath::function(x); }     \
  };
REAL_AND_COMPLEX(Cosine, cos, std::cos(x))
REAL_AND_COMPLEX(Sine, sin, std::sin(x))
REAL_AND_COMPLEX(Tan, tan, std::tan(x))
REAL_AND_COMPLEX(Tanh, tanh, std::tanh(x))
REAL_AND_COMPLEX(Exp, exp, std::exp(x))
REAL_AND_COMPLEX(Expm1, expm1, std::expm1(x))
REAL_AND_COMPLEX(Log, log, std::log(x))
REAL_AND_COMPLEX(Log1p, log1p, std::log1p(x))
REAL_AND_COMPLEX(Sqrt, sqrt, std::sqrt(x))
REAL_AND_COMPLEX(Rsqrt, rsqrt, 1.0 / std::sqrt(x))
REAL_AND_COMPLEX(Cbrt, cbrt, std::cbrt(x))
REAL_AND_COMPLEX(Logistic, logistic, 1.0 / (1.0 + std::exp(-x)))
#undef REAL_AND_COMPLEX

struct Ceil {
  static double real(double x) { return std::ceil(x); }
};
struct Floor {
  static double real(double x) { return std::floor(x); }
};
struct Round {
  static double real(double x) { return std::round(x); }
};
struct RoundNearestEven {
  static double real(double x) { return std::nearbyint(x); }
};
struct Negate {
  static double real(double x) { return -x; }
  static Complex complex(Complex x) { return -x; }
  template <typename T> static T integer(T x, unsigned) {
    return static_cast<T>(0 - wide(x));
  }
};
struct Sign {
  static double real(double x) {
    return std::isnan(x) || x == 0 ? x : std::copysign(1.0, x);
  }
  static Complex complex(Complex x) { return complexmath::sign(x); }
  template <typename T> static T integer(T x, unsigned) {
    return static_cast<T>((x > 0) - (x < 0));
  }
};
struct Not {
  static bool logical(bool x) { return !x; }
  template <typename T> static T integer(T x, unsigned) {
    return static_cast<T>(~x);
  }
};
struct CountLeadingZeros {
  template <typename T> static T integer(T x, unsigned bits) {
    return static_cast<T>(std::countl_zero(lowBits(x, bits)) - (64 - bits));
  }
};
struct PopulationCount {
  template <typename T> static T integer(T x, unsigned bits) {
    return static_cast<T>(std::popcount(lowBits(x, bits)));
  }
};
/// For floats and integers; for complex numbers see evaluateAbs.
struct Abs {
  static double real(double x) { return std::fabs(x); }
  template <typename T> static T integer(T x, unsigned) {
    return x < 0 ? static_cast<T>(0 - wide(x)) : x;
  }
};

//===----------------------------------------------------------------------===//
// Binary functions
//===----------------------------------------------------------------------===//

struct Add {
  static double real(double a, double b) { return a + b; }
  static Complex complex(Complex a, Complex b) { return a + b; }
  static bool logical(bool a, bool b) { return a || b; }
  template <typename T> static T integer(T a, T b, unsigned) {
    return static_cast<T>(wide(a) + wide(b));
  }
};
struct Subtract {
  static double real(double a, double b) { return a - b; }
  static Complex complex(Complex a, Complex b) { return a - b; }
  template <typename T> static T integer(T a, T b, unsigned) {
    return static_cast<T>(wide(a) - wide(b));
  }
};
struct Multiply {
  static double real(double a, double b) { return a * b; }
  static Complex complex(Complex a, Complex b) { return a * b; }
  static bool logical(bool a, bool b) { return a && b; }
  template <typename T> static T integer(T a, T b, unsigned) {
    return static_cast<T>(wide(a) * wide(b));
  }
};
struct Divide {
  static double real(double a, double b) { return a / b; }
  static Complex complex(Complex a, Complex b) {
    return complexmath::divide(a, b);
  }
  template <typename T> static T integer(T a, T b, unsigned) {
    if (b == 0)
      return static_cast<T>(-1);
    // The least integer divided by -1 wraps around.
    if (std::is_signed_v<T> && b == static_cast<T>(-1))
      return static_cast<T>(0 - wide(a));
    return static_cast<T>(a / b);
  }
};
struct Remainder {
  static double real(double a, double b) { return std::fmod(a, b); }
  static Complex complex(Complex a, Complex b) {
    const Complex quotient = a / b;
    return a - b * Complex(std::trunc(quotient.real()),
                           std::trunc(quotient.imag()));
  }
  /// The remainder of x / 0 is x.
  template <typename T> static T integer(T a, T b, unsigned) {
    if (b == 0)
      return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1))
      return 0;
    return static_cast<T>(a % b);
  }
};
struct Power {
  static double real(double a, double b) { return std::pow(a, b); }
  static Complex complex(Complex a, Complex b) {
    return complexmath::power(a, b);
  }
  /// By squaring, modulo 2^bits. A negative power is 1 / a^|b|, truncated.
  template <typename T> static T integer(T a, T b, unsigned) {
    if (b < 0) {
      if (a == 1)
        return 1;
      if (std::is_signed_v<T> && a == static_cast<T>(-1))
        return b % 2 ? static_cast<T>(-1) : T(1);
      return a == 0 ? static_cast<T>(-1) : T(0);
    }
    uint64_t base = wide(a), result = 1;
    for (uint64_t power = wide(b); power; power >>= 1, base *= base)
      if (power & 1)
        result *= base;
    return static_cast<T>(result);
  }
};
struct Atan2 {
  static double real(double a, double b) { return std::atan2(a, b); }
  static Complex complex(Complex a, Complex b) {
    return complexmath::atan2(a, b);
  }
};
/// Complex numbers compare by real, then imaginary part.
bool complexLess(Complex a, Complex b) {
  return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
}
bool isNan(Complex x) { return std::isnan(x.real()) || std::isnan(x.imag()); }
struct Maximum {
  /// IEEE 754-2019 maximum: NaN wins, +0 is greater than -0.
  static double real(double a, double b) {
    if (std::isnan(a) || std::isnan(b))
      return std::numeric_limits<double>::quiet_NaN();
    if (a == b)
      return std::signbit(a) ? b : a;
    return a > b ? a : b;
  }
  static Complex complex(Complex a, Complex b) {
    return isNan(a) ? a : isNan(b) ? b : complexLess(a, b) ? b : a;
  }
  static bool logical(bool a, bool b) { return a || b; }
  template <typename T> static T integer(T a, T b, unsigned) {
    return std::max(a, b);
  }
};
struct Minimum {
  static double real(double a, double b) {
    if (std::isnan(a) || std::isnan(b))
      return std::numeric_limits<double>::quiet_NaN();
    if (a == b)
      return std::signbit(a) ? a : b;
    return a < b ? a : b;
  }
  static Complex complex(Complex a, Complex b) {
    return isNan(a) ? a : isNan(b) ? b : complexLess(b, a) ? b : a;
  }
  static bool logical(bool a, bool b) { return a && b; }
  template <typename T> static T integer(T a, T b, unsigned) {
    return std::min(a, b);
  }
};

#define BITWISE(Name, logicalOperator, bitOperator)                            \
  struct Name {                                                                \
    static bool logical(bool a, bool b) { return a logicalOperator b; }        \
    template <typename T> static T integer(T a, T b, unsigned) {               \
      return static_cast<T>(a bitOperator b);                                  \
    }                                                                          \
  };
BITWISE(And, &&, &)
BITWISE(Or, ||, |)
BITWISE(Xor, !=, ^)
#undef BITWISE

/// Whether all bits are shifted out: by at least the width, or by a negative
/// amount.
template <typename T> bool shiftsAllOut(T amount, unsigned bits) {
  return amount < 0 || wide(amount) >= bits;
}
struct ShiftLeft {
  template <typename T> static T integer(T a, T b, unsigned bits) {
    return shiftsAllOut(b, bits) ? T(0) : static_cast<T>(wide(a) << b);
  }
};
struct ShiftRightLogical {
  template <typename T> static T integer(T a, T b, unsigned bits) {
    return shiftsAllOut(b, bits) ? T(0) : static_cast<T>(lowBits(a, bits) >> b);
  }
};
struct ShiftRightArithmetic {
  /// In an unsigned type, too, the highest bit is the sign.
  template <typename T> static T integer(T a, T b, unsigned bits) {
    const unsigned unused = 64 - bits;
    const auto extended = static_cast<int64_t>(wide(a) << unused) >> unused;
    return static_cast<T>(extended >> (shiftsAllOut(b, bits) ? 63 : b));
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

/// |x| of a complex number is a real one.
static void runComplexAbs(const ArrayFunction &function, int64_t count,
                          const std::byte *const *from, std::byte *to) {
  for (int64_t i = 0; i < count; ++i)
    if (function.operand == ElementType::C64)
      reinterpret_cast<float *>(to)[i] = static_cast<float>(std::abs(
          Complex(reinterpret_cast<const std::complex<float> *>(from[0])[i])));
    else
      reinterpret_cast<double *>(to)[i] =
          std::abs(reinterpret_cast<const Complex *>(from[0])[i]);
}

static Result<ArrayFunction> absFunction(mlir::Operation *op,
                                         llvm::ArrayRef<ElementType> operands) {
  if (!isComplex(operands[0]))
    return elementwiseFunction<Abs, 1>(op, operands);
  return ArrayFunction{runComplexAbs, operands[0],
                       operands[0] == ElementType::C64 ? ElementType::F32
                                                       : ElementType::F64};
}

/// minimum(maximum(operand, min), max).
static void runClamp(const ArrayFunction &function, int64_t count,
                     const std::byte *const *from, std::byte *to) {
  // The result may alias the upper bound.
  alignas(16) std::array<std::byte, 16 * chunkSize> raised;
  const size_t size = byteSize(function.operand);
  inChunks(count, [&](int64_t begin, int64_t length) {
    const int64_t at = begin * static_cast<int64_t>(size);
    const std::byte *low[] = {from[1] + at, from[0] + at};
    runFunction<Maximum, 2>(function, length, low, raised.data());
    const std::byte *high[] = {raised.data(), from[2] + at};
    runFunction<Minimum, 2>(function, length, high, to + at);
  });
}

static Result<ArrayFunction>
clampFunction(mlir::Operation *, llvm::ArrayRef<ElementType> operands) {
  return ArrayFunction{runClamp, operands[1], operands[1]};
}

void registerElementwise(Registry &registry) {
  using namespace stablehlo;
  registry.addArrayFunction<ClampOp>(clampFunction);
  registry.addArrayFunction<AbsOp>(absFunction);
#define UNARY(Op, Function)                                                    \
  registry.addArrayFunction<Op>(elementwiseFunction<Function, 1>);
  UNARY(CbrtOp, Cbrt)
  UNARY(CeilOp, Ceil)
  UNARY(CosineOp, Cosine)
  UNARY(ClzOp, CountLeadingZeros)
  UNARY(ExpOp, Exp)
  UNARY(Expm1Op, Expm1)
  UNARY(FloorOp, Floor)
  UNARY(LogOp, Log)
  UNARY(Log1pOp, Log1p)
  UNARY(LogisticOp, Logistic)
  UNARY(NegOp, Negate)
  UNARY(NotOp, Not)
  UNARY(PopcntOp, PopulationCount)
  UNARY(RoundOp, Round)
  UNARY(RoundNearestEvenOp, RoundNearestEven)
  UNARY(RsqrtOp, Rsqrt)
  UNARY(SignOp, Sign)
  UNARY(SineOp, Sine)
  UNARY(SqrtOp, Sqrt)
  UNARY(TanOp, Tan)
  UNARY(TanhOp, Tanh)
#undef UNARY
#define BINARY(Op, Function)                                                   \
  registry.addArrayFunction<Op>(elementwiseFunction<Function, 2>);
  BINARY(AddOp, Add)
  BINARY(AndOp, And)
  BINARY(Atan2Op, Atan2)
  BINARY(DivOp, Divide)
  BINARY(MaxOp, Maximum)
  BINARY(MinOp, Minimum)
  BINARY(MulOp, Multiply)
  BINARY(OrOp, Or)
  BINARY(PowOp, Power)
  BINARY(RemOp, Remainder)
  BINARY(ShiftLeftOp, ShiftLeft)
  BINARY(ShiftRightArithmeticOp, ShiftRightArithmetic)
  BINARY(ShiftRightLogicalOp, ShiftRightLogical)
  BINARY(SubtractOp, Subtract)
  BINARY(XorOp, Xor)
#undef BINARY
}

} // namespace sinter::interpreter
