#include "passes/proofs/Arithmetic.h"

#include <limits>

using sinter::stablehlo::ComparisonDirection;
using z3::expr;

namespace sinter::test {

using Operands = Arithmetic::Operands;

expr truth(const expr &condition) {
  z3::context &context = condition.ctx();
  return ite(condition, context.bv_val(1, 1), context.bv_val(0, 1));
}

expr holds(const expr &truth) { return truth == truth.ctx().bv_val(1, 1); }

expr isNan(const expr &value) {
  return expr(value.ctx(), Z3_mk_fpa_is_nan(value.ctx(), value));
}
expr isInfinite(const expr &value) {
  return expr(value.ctx(), Z3_mk_fpa_is_infinite(value.ctx(), value));
}
expr isZero(const expr &value) {
  return expr(value.ctx(), Z3_mk_fpa_is_zero(value.ctx(), value));
}
static expr isNegative(const expr &value) {
  return expr(value.ctx(), Z3_mk_fpa_is_negative(value.ctx(), value));
}

/// clamp(low, x, high) = minimum(maximum(x, low), high).
static void addClamp(Arithmetic &arithmetic) {
  auto least = arithmetic.operations.at("minimum");
  auto greatest = arithmetic.operations.at("maximum");
  arithmetic.operations["clamp"] = [least, greatest](const Operands &x) {
    return least({greatest({x[1], x[0]}), x[2]});
  };
}

/// \p less and \p equal say how two values compare; every other order follows,
/// except with NaN, of which neither holds.
template <typename Less, typename Equal>
static auto comparison(Less less, Equal equal) {
  return [=](ComparisonDirection direction, const expr &a, const expr &b) {
    switch (direction) {
    case ComparisonDirection::EQ:
      return truth(equal(a, b));
    case ComparisonDirection::NE:
      return truth(!equal(a, b));
    case ComparisonDirection::LT:
      return truth(less(a, b));
    case ComparisonDirection::LE:
      return truth(less(a, b) || equal(a, b));
    case ComparisonDirection::GT:
      return truth(less(b, a));
    case ComparisonDirection::GE:
      return truth(less(b, a) || equal(a, b));
    }
    llvm_unreachable("a comparison has six directions");
  };
}

static void addBits(Arithmetic &arithmetic) {
  auto &is = arithmetic.operations;
  is["and"] = [](const Operands &x) { return x[0] & x[1]; };
  is["or"] = [](const Operands &x) { return x[0] | x[1]; };
  is["xor"] = [](const Operands &x) { return x[0] ^ x[1]; };
  is["not"] = [](const Operands &x) { return ~x[0]; };
}

Arithmetic truthValues(z3::context &context) {
  Arithmetic result{"i1", context.bv_sort(1), {}, {}, {}, {}};
  addBits(result);
  auto &is = result.operations;
  is["add"] = is["maximum"] = is["or"];
  is["multiply"] = is["minimum"] = is["and"];
  addClamp(result);
  result.number = [&context](llvm::StringRef word) -> std::optional<expr> {
    if (word == "0" || word == "least")
      return context.bv_val(0, 1);
    if (word == "ones" || word == "greatest" || word == "1" || word == "-1")
      return context.bv_val(1, 1);
    return std::nullopt;
  };
  result.compare =
      comparison([](const expr &a, const expr &b) { return ult(a, b); },
                 [](const expr &a, const expr &b) { return a == b; });
  return result;
}

/// Sums and products, which every solver's type has as operators.
static void addSums(Arithmetic &arithmetic) {
  auto &is = arithmetic.operations;
  is["add"] = [](const Operands &x) { return x[0] + x[1]; };
  is["subtract"] = [](const Operands &x) { return x[0] - x[1]; };
  is["multiply"] = [](const Operands &x) { return x[0] * x[1]; };
  is["negate"] = [](const Operands &x) { return -x[0]; };
}

/// Division is towards zero; by zero it gives all ones, and the least number by
/// -1 itself. The remainder by zero is the dividend.
static void addDivision(Arithmetic &arithmetic, unsigned width, bool isSigned) {
  arithmetic.operations["divide"] = [=](const Operands &x) {
    expr zero = x[0].ctx().bv_val(0, width);
    expr quotient = isSigned ? x[0] / x[1] : udiv(x[0], x[1]);
    return ite(x[1] == zero, ~zero, quotient);
  };
  arithmetic.operations["remainder"] = [=](const Operands &x) {
    expr zero = x[0].ctx().bv_val(0, width);
    expr rest = isSigned ? srem(x[0], x[1]) : urem(x[0], x[1]);
    return ite(x[1] == zero, x[0], rest);
  };
}

/// x to a power that is one of the numbers 0 and 1; powers of others have no
/// formula of a fixed size.
static expr smallPower(const Operands &x) {
  z3::context &context = x[0].ctx();
  unsigned width = x[0].get_sort().bv_size();
  expr exponent = x[1].simplify();
  if (exponent.is_numeral() && exponent.get_decimal_string(0) == "0")
    return context.bv_val(1, width);
  if (exponent.is_numeral() && exponent.get_decimal_string(0) == "1")
    return x[0];
  throw z3::exception("a power has no formula");
}

static void addOrder(Arithmetic &arithmetic, bool isSigned) {
  auto less = [isSigned](const expr &a, const expr &b) {
    return isSigned ? a < b : ult(a, b);
  };
  arithmetic.compare =
      comparison(less, [](const expr &a, const expr &b) { return a == b; });
  auto &is = arithmetic.operations;
  is["maximum"] = [=](const Operands &x) {
    return ite(less(x[0], x[1]), x[1], x[0]);
  };
  is["minimum"] = [=](const Operands &x) {
    return ite(less(x[1], x[0]), x[1], x[0]);
  };
  addClamp(arithmetic);
}

Arithmetic integers(z3::context &context, unsigned width, bool isSigned) {
  Arithmetic result{(isSigned ? "i" : "ui") + std::to_string(width),
                    context.bv_sort(width),
                    {},
                    {},
                    {},
                    {}};
  addBits(result);
  addDivision(result, width, isSigned);
  addOrder(result, isSigned);
  auto &is = result.operations;
  addSums(result);
  is["power"] = smallPower;
  is["shift_left"] = [](const Operands &x) { return shl(x[0], x[1]); };
  is["shift_right_logical"] = [](const Operands &x) {
    return lshr(x[0], x[1]);
  };
  is["shift_right_arithmetic"] = [](const Operands &x) {
    return ashr(x[0], x[1]);
  };
  if (isSigned) {
    is["abs"] = [](const Operands &x) { return ite(x[0] < 0, -x[0], x[0]); };
    is["sign"] = [&context, width](const Operands &x) {
      return ite(
          x[0] < 0, context.bv_val(-1, width),
          ite(x[0] == 0, context.bv_val(0, width), context.bv_val(1, width)));
    };
  }
  result.number = [&context, width,
                   isSigned](llvm::StringRef word) -> std::optional<expr> {
    llvm::APInt value = llvm::APInt::getAllOnes(width);
    int64_t number = 0;
    if (word == "least")
      value = isSigned ? llvm::APInt::getSignedMinValue(width)
                       : llvm::APInt::getMinValue(width);
    else if (word == "greatest")
      value = isSigned ? llvm::APInt::getSignedMaxValue(width)
                       : llvm::APInt::getMaxValue(width);
    else if (!word.getAsInteger(10, number))
      value = llvm::APInt(64, number, true).sextOrTrunc(width);
    else if (word != "ones")
      return std::nullopt;
    if (number < 0 && !isSigned)
      return std::nullopt;
    return context.bv_val(value.getZExtValue(), width);
  };
  return result;
}

static expr roundToIntegral(const expr &value, Z3_ast mode) {
  return expr(value.ctx(),
              Z3_mk_fpa_round_to_integral(value.ctx(), mode, value));
}

/// IEEE 754-2019 maximum and minimum: NaN where either is, and -0 below 0.
static expr floatExtremum(const expr &a, const expr &b, bool greatest) {
  expr nan(a.ctx(), Z3_mk_fpa_nan(a.ctx(), a.get_sort()));
  expr onTie = greatest ? ite(isNegative(a), b, a) : ite(isNegative(a), a, b);
  expr other = greatest ? ite(a > b, a, ite(b > a, b, onTie))
                        : ite(a < b, a, ite(b < a, b, onTie));
  return ite(isNan(a) || isNan(b), nan, other);
}

static void addRounding(Arithmetic &arithmetic, z3::context &context) {
  using Mode = Z3_ast (*)(Z3_context);
  for (auto [name, mode] : std::initializer_list<std::pair<const char *, Mode>>{
           {"floor", Z3_mk_fpa_rtn},
           {"ceil", Z3_mk_fpa_rtp},
           {"round_nearest_even", Z3_mk_fpa_rne},
           {"round_nearest_afz", Z3_mk_fpa_rna}})
    arithmetic.operations[name] = [&context, mode = mode](const Operands &x) {
      return roundToIntegral(x[0], mode(context));
    };
}

Arithmetic floats(z3::context &context, std::string name, unsigned exponent,
                  unsigned mantissa) {
  context.set_rounding_mode(z3::RNE);
  z3::sort sort = context.fpa_sort(exponent, mantissa + 1);
  Arithmetic result{std::move(name), sort, {}, {}, {}, {}};
  addRounding(result, context);
  auto &is = result.operations;
  addSums(result);
  is["divide"] = [](const Operands &x) { return x[0] / x[1]; };
  is["abs"] = [](const Operands &x) {
    return expr(x[0].ctx(), Z3_mk_fpa_abs(x[0].ctx(), x[0]));
  };
  is["sqrt"] = [&context](const Operands &x) {
    return expr(context, Z3_mk_fpa_sqrt(context, Z3_mk_fpa_rne(context), x[0]));
  };
  is["maximum"] = [](const Operands &x) {
    return floatExtremum(x[0], x[1], true);
  };
  is["minimum"] = [](const Operands &x) {
    return floatExtremum(x[0], x[1], false);
  };
  addClamp(result);
  auto number = [&context, sort](double value) {
    return expr(context, Z3_mk_fpa_numeral_double(context, value, sort));
  };
  is["sign"] = [number](const Operands &x) {
    expr one = number(1), minusOne = number(-1);
    return ite(isNan(x[0]) || isZero(x[0]), x[0],
               ite(isNegative(x[0]), minusOne, one));
  };
  result.number = [number](llvm::StringRef word) -> std::optional<expr> {
    double value = 0;
    if (word.getAsDouble(value))
      return std::nullopt;
    return number(value);
  };
  result.compare =
      comparison([](const expr &a, const expr &b) { return a < b; },
                 [](const expr &a, const expr &b) {
                   return expr(a.ctx(), Z3_mk_fpa_eq(a.ctx(), a, b));
                 });
  result.beyondTheory = {"exponential", "exponential_minus_one",
                         "log",         "log_plus_one",
                         "logistic",    "cosine",
                         "power",       "remainder",
                         "rsqrt"};
  return result;
}

/// Functions of which only the name is known, and those defined by them.
static void addFunctions(Arithmetic &arithmetic, z3::context &context) {
  auto &is = arithmetic.operations;
  z3::sort real = context.real_sort();
  for (const char *name : {"exponential", "log", "sqrt", "cosine"}) {
    z3::func_decl function = context.function(name, real, real);
    is[name] = [function](const Operands &x) { return function(x[0]); };
  }
  is["rsqrt"] = [sqrt = is["sqrt"]](const Operands &x) { return 1 / sqrt(x); };
  is["exponential_minus_one"] = [exp = is["exponential"]](const Operands &x) {
    return exp(x) - 1;
  };
  is["log_plus_one"] = [log = is["log"]](const Operands &x) {
    return log({x[0] + 1});
  };
  is["logistic"] = [exp = is["exponential"]](const Operands &x) {
    return 1 / (1 + exp({-x[0]}));
  };
}

Arithmetic reals(z3::context &context) {
  Arithmetic result{"reals", context.real_sort(), {}, {}, {}, {}};
  addFunctions(result, context);
  auto &is = result.operations;
  addSums(result);
  is["divide"] = [](const Operands &x) { return x[0] / x[1]; };
  is["abs"] = [](const Operands &x) { return ite(x[0] < 0, -x[0], x[0]); };
  result.number = [&context](llvm::StringRef word) -> std::optional<expr> {
    double value = 0;
    if (word.getAsDouble(value) || !std::isfinite(value))
      return std::nullopt;
    return context.real_val(word.str().c_str());
  };
  result.compare =
      comparison([](const expr &a, const expr &b) { return a < b; },
                 [](const expr &a, const expr &b) { return a == b; });
  result.beyondTheory = {"power"};
  return result;
}

} // namespace sinter::test
