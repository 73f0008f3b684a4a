//===- AccuracyTest.cpp - elementary functions, in units of the last place
//---===//
//
// Covers: backend/cpu/emit CircularMath ComplexMath Math PowerMath

#include "backend/cpu/CompareWithInterpreter.h"
#include "backend/cpu/KernelBuffers.h"
#include "backend/cpu/KernelRunner.h"
#include "backend/cpu/emit/Math.h"
#include "backend/cpu/emit/MathWriter.h"
#include "runtime/ElementDispatch.h"
#include "runtime/Program.h"
#include "runtime/ProgramExecutor.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <gtest/gtest.h>
#include <iomanip>
#include <random>
#include <sstream>

using namespace mlir;
using namespace sinter;
using namespace sinter::test;

namespace {

/// The elements of the result of \p model.
template <typename T>
std::vector<T> run(Model &model, const std::vector<Tensor> &inputs,
                   Denormals denormals = Denormals::Keep,
                   const cpu::Target *target = nullptr) {
  cpu::CpuOptions options;
  options.threads = 1;
  options.denormals = denormals;
  if (target)
    options.target = *target;
  Result<Program> program = cpu::compileForCpu(model, options);
  EXPECT_TRUE(bool(program));
  ProgramExecutorOptions how;
  how.denormals = denormals;
  auto executor =
      ProgramExecutor::create(std::make_shared<Program>(std::move(*program)),
                              std::make_shared<ThreadPool>(1), how);
  auto results = (*executor)->run(inputs);
  auto values = (*results)[0].template values<T>();
  return {values.begin(), values.end()};
}

/// The elements of \p inputs under stablehlo.<op>.
template <typename T>
std::vector<T> compute(const std::string &op, ElementType type,
                       const std::vector<std::vector<T>> &inputs,
                       Denormals denormals = Denormals::Keep,
                       const cpu::Target *target = nullptr) {
  const auto size = static_cast<int64_t>(inputs[0].size());
  std::string tensor =
      "tensor<" + toString(type, std::vector<int64_t>{size}) + ">";
  std::string parameters, operands;
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string name = "%a" + std::to_string(i);
    parameters += (i ? ", " : "") + name + ": " + tensor;
    operands += (i ? ", " : "") + name;
    tensors.push_back(Tensor::of<T>(type, {size}, inputs[i]));
  }
  Model model = parseModel("(" + parameters + ") -> " + tensor +
                           " {\n  %0 = " + op + " " + operands + " : " +
                           tensor + "\n  return %0 : " + tensor + "\n}");
  return run<T>(model, tensors, denormals, target);
}

/// How far \p got is from \p exact, in units of the last place of \p exact
/// rounded to a float of \p digits binary digits; 0 where both are NaN or the
/// same infinity.
long double distance(long double got, long double exact, int digits,
                     int minExponent, long double greatest) {
  if (std::isnan(exact) || std::isnan(got))
    return std::isnan(exact) && std::isnan(got) ? 0 : INFINITY;
  // What rounds to infinity may be the greatest number or infinity.
  if (std::abs(exact) >= greatest)
    return std::isinf(got) || std::abs(got) == greatest ? 0 : INFINITY;
  if (std::isinf(got))
    return INFINITY;
  int exponent = exact == 0 ? minExponent : std::ilogb(exact);
  long double unit =
      std::ldexp(1.0L, std::max(exponent, minExponent) - digits + 1);
  return std::abs(got - exact) / unit;
}

using ExactFunction = long double (*)(long double, long double);

struct FunctionCase {
  const char *op;
  ExactFunction exact;
  /// How far f32 may be from that, in units of the last place.
  long double float32;
  int operands = 1;
  /// The same of any type, where that is more than is allowed else.
  long double most = 0;
};

#define EXACT(expression)                                                      \
  [](long double x, [[maybe_unused]] long double y) -> long double {           \
    return expression;                                                         \
  }
const FunctionCase functionCases[] = {
    {"stablehlo.exponential", EXACT(expl(x)), 1.3L},
    {"stablehlo.exponential_minus_one", EXACT(expm1l(x)), 2.2L},
    {"stablehlo.log", EXACT(logl(x)), 1.0L},
    {"stablehlo.log_plus_one", EXACT(log1pl(x)), 2.5L},
    {"stablehlo.sine", EXACT(sinl(x)), 1.75L},
    {"stablehlo.cosine", EXACT(cosl(x)), 1.75L},
    {"stablehlo.tan", EXACT(tanl(x)), 0.6L},
    {"nn.asin", EXACT(asinl(x)), 2.0L},
    {"nn.acos", EXACT(acosl(x)), 1.5L},
    {"nn.atan", EXACT(atanl(x)), 1.5L},
    {"nn.asinh", EXACT(asinhl(x)), 4},
    {"nn.acosh", EXACT(acoshl(x)), 4},
    {"nn.atanh", EXACT(atanhl(x)), 4},
    {"stablehlo.tanh", EXACT(tanhl(x)), 2.5L},
    {"stablehlo.sqrt", EXACT(sqrtl(x)), 0.5L},
    {"stablehlo.rsqrt", EXACT(1 / sqrtl(x)), 1.5L},
    {"stablehlo.cbrt", EXACT(cbrtl(x)), 0.6L},
    {"stablehlo.logistic", EXACT(1 / (1 + expl(-x))), 2.5L},
    {"nn.erf", EXACT(erfl(x)), 2.5L},
    {"nn.erfc", EXACT(erfcl(x)), 5, 1, 5},
    {"nn.cosh", EXACT(coshl(x)), 2},
    {"nn.sinh", EXACT(sinhl(x)), 3},
    {"stablehlo.power", EXACT(powl(x, y)), 0.6L, 2},
    {"stablehlo.atan2", EXACT(atan2l(x, y)), 0.6L, 2},
    {"stablehlo.remainder", EXACT(fmodl(x, y)), 0, 2},
};

/// Of the type in which \p T is computed.
template <typename T> double leastNormal() {
  return std::is_same_v<T, double> ? std::numeric_limits<double>::min()
                                   : double(std::numeric_limits<float>::min());
}
template <typename T> double flushed(double value) {
  return std::abs(value) < leastNormal<T>() ? std::copysign(0.0, value) : value;
}

/// The greatest error of each function over \p inputs, but for f32, which the
/// table limits, at most \p most.
template <typename T>
void check(ElementType type, const std::vector<std::vector<T>> &inputs,
           long double most, Denormals denormals = Denormals::Keep,
           const cpu::Target *target = nullptr) {
  using Limits = std::numeric_limits<T>;
  const auto greatest = static_cast<long double>(Limits::max());
  for (const FunctionCase &c : functionCases) {
    auto operands = std::vector<std::vector<T>>(inputs.begin(),
                                                inputs.begin() + c.operands);
    std::vector<T> got = compute<T>(c.op, type, operands, denormals, target);
    long double worst = 0;
    size_t where = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      const auto operand = [&](const std::vector<T> &values) {
        const double value = static_cast<double>(values[i]);
        return static_cast<long double>(
            denormals == Denormals::Flush ? flushed<T>(value) : value);
      };
      long double x = operand(operands[0]), y = operand(operands.back());
      const long double exact = c.exact(x, y);
      long double d =
          distance(static_cast<double>(got[i]), exact, Limits::digits,
                   Limits::min_exponent - 1, greatest);
      // What is denormal may be zero, and so may what is rounded to the least
      // number that is not.
      if (denormals == Denormals::Flush &&
          std::abs(exact) < 1.0001L * leastNormal<T>() &&
          std::abs(static_cast<double>(got[i])) <= leastNormal<T>())
        d = 0;
      if (d > worst) {
        worst = d;
        where = i;
      }
    }
    const long double bound =
        std::is_same_v<T, float> ? c.float32 : std::max(most, c.most);
    EXPECT_LE(worst, bound)
        << c.op << " of " << double(operands[0][where]) << ", "
        << double(operands.back()[where]) << " is " << double(got[where]);
    if (std::getenv("SINTER_VERBOSE"))
      std::fprintf(stderr, "%-34s %-5s %.3Lf at %.9g, %.9g: %.9g\n", c.op,
                   std::string(name(type)).c_str(), worst,
                   double(operands[0][where]), double(operands.back()[where]),
                   double(got[where]));
  }
}

/// Bit patterns of all magnitudes, and numbers of everyday size.
template <typename T, typename Bits>
std::vector<T> everywhere(unsigned seed, size_t count) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal(0, 3);
  std::vector<T> values;
  for (size_t i = 0; i < count; ++i) {
    auto bits = static_cast<Bits>(generator());
    T value;
    std::memcpy(&value, &bits, sizeof(value));
    values.push_back(i % 2 == 0 ? value : static_cast<T>(normal(generator)));
  }
  return values;
}

constexpr size_t count = 200000;

} // namespace

TEST(Accuracy, Float32) {
  check<float>(ElementType::F32,
               {everywhere<float, uint32_t>(1, count),
                everywhere<float, uint32_t>(2, count)},
               3);
}

#ifdef __x86_64__
/// Machines with narrower vectors, and those without multiply-add.
TEST(Accuracy, OlderMachines) {
  for (const char *name : {"x86-64", "x86-64-v3"}) {
    Result<cpu::Target> target = cpu::Target::named("", name, "");
    ASSERT_TRUE(bool(target));
    SCOPED_TRACE(name);
    check<float>(ElementType::F32,
                 {everywhere<float, uint32_t>(1, count / 2),
                  everywhere<float, uint32_t>(2, count / 2)},
                 3, Denormals::Keep, &*target);
  }
}
#endif

namespace {

using Emit = Value (*)(cpu::KernelBuilder &, Value);

/// \p function of \p inputs, \p lanes at a time.
std::vector<float> computeInVectors(const cpu::Target &target, Emit function,
                                    const std::vector<float> &inputs,
                                    int64_t lanes) {
  cpu::KernelRunner runner(target);
  const auto count = static_cast<int64_t>(inputs.size());
  Type f32 = Float32Type::get(&runner.context());
  auto type = MemRefType::get({count}, f32);
  cpu::KernelBuffer buffers[] = {{type}, {type, /*isWritten=*/true}};
  cpu::createKernel(
      runner.module(), UnknownLoc::get(&runner.context()), "kernel", buffers,
      [&](OpBuilder &builder, Location loc, Value, ValueRange memory) {
        cpu::KernelBuilder code(builder, loc);
        auto vector = VectorType::get({lanes}, f32);
        code.loop(code.index(0), code.index(count), lanes, [&](Value i) {
          if (lanes == 1) {
            Value x = code.create<memref::LoadOp>(memory[0], i);
            builder.create<memref::StoreOp>(loc, function(code, x), memory[1],
                                            i);
            return;
          }
          Value x = code.create<vector::LoadOp>(vector, memory[0], i);
          builder.create<vector::StoreOp>(loc, function(code, x), memory[1], i);
        });
      });
  runner.compile();
  cpu::Floats x(count), y(count);
  std::copy(inputs.begin(), inputs.end(), x.data());
  void *arguments[] = {x.data(), y.data()};
  runner.kernel("kernel")(arguments, 0, 1);
  return {y.data(), y.data() + count};
}

} // namespace

static Value number(cpu::KernelBuilder &code, Value like, float value) {
  return cpu::MathWriter(code, like).number(value);
}
static Value powerOfItself(cpu::KernelBuilder &code, Value x) {
  return cpu::emitPow(code, x, x);
}
static Value angleWithOne(cpu::KernelBuilder &code, Value x) {
  return cpu::emitAtan2(code, x, number(code, x, -1));
}
static Value remainderOfOne(cpu::KernelBuilder &code, Value x) {
  return cpu::emitRemainder(code, number(code, x, 1), x);
}

/// Functions are the same to the last bit in loops and in vectors of any
/// length. Where machines divide slowly, whole vectors round another way when
/// the divisor is just below a power of two.
TEST(Accuracy, SameInVectorsOfAnyLength) {
  const std::vector<float> inputs = everywhere<float, uint32_t>(7, 1 << 16);
  const std::pair<const char *, Emit> functions[] = {
      {"exp", cpu::emitExp},   {"expm1", cpu::emitExpm1},
      {"log", cpu::emitLog},   {"log1p", cpu::emitLog1p},
      {"tanh", cpu::emitTanh}, {"erf", cpu::emitErf},
      {"erfc", cpu::emitErfc}, {"logistic", cpu::emitLogistic},
      {"sin", cpu::emitSin},   {"cos", cpu::emitCos},
      {"tan", cpu::emitTan},   {"asin", cpu::emitAsin},
      {"acos", cpu::emitAcos}, {"atan", cpu::emitAtan},
      {"cbrt", cpu::emitCbrt}, {"pow", powerOfItself},
      {"atan2", angleWithOne}, {"fmod", remainderOfOne}};
  Result<cpu::Target> host = cpu::Target::host();
  ASSERT_TRUE(bool(host));
  for (auto [name, emit] : functions) {
    const std::vector<float> expected =
        computeInVectors(*host, emit, inputs, 1);
    for (int64_t lanes : {4, 8, 16})
      for (bool dividesSlowly : {false, true}) {
        cpu::Target target = *host;
        target.dividesSlowly = dividesSlowly;
        const std::vector<float> got =
            computeInVectors(target, emit, inputs, lanes);
        size_t differing = 0, where = 0;
        for (size_t i = 0; i < inputs.size(); ++i)
          if (std::bit_cast<uint32_t>(got[i]) !=
                  std::bit_cast<uint32_t>(expected[i]) &&
              !(std::isnan(got[i]) && std::isnan(expected[i]))) {
            ++differing;
            where = i;
          }
        EXPECT_LE(differing, dividesSlowly ? inputs.size() / 1000 : 0)
            << name << " on " << lanes << " lanes: of " << inputs[where]
            << " is " << got[where] << ", not " << expected[where];
      }
  }
}

namespace {

/// Every \p stride-th bit pattern there is.
std::vector<float> sweep(uint32_t stride) {
  std::vector<float> values;
  for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += stride)
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return values;
}

/// Next to multiples of pi / 2, of any magnitude; the closest of all is 1.6e-9
/// from one.
std::vector<float> nearQuarters() {
  std::vector<float> values = {std::ldexp(16367173.0f, 72),
                               std::ldexp(13253401.0f, 5)};
  for (int exponent = 0; exponent < 60; ++exponent)
    for (int odd = 1; odd < 200; odd += 2) {
      const auto near = static_cast<float>(
          std::ldexp(static_cast<long double>(odd), exponent) *
          1.57079632679489661923L);
      for (float x :
           {std::nextafter(near, 0.0f), near, std::nextafter(near, INFINITY)})
        values.insert(values.end(), {x, -x});
    }
  return values;
}

/// Zeros, limits, ones, whole and other numbers of either sign.
std::vector<float> specialNumbers() {
  using Limits = std::numeric_limits<float>;
  std::vector<float> values = {Limits::quiet_NaN()};
  for (float x : {0.0f,          Limits::denorm_min(),
                  1e-40f,        Limits::min(),
                  1e-20f,        0.5f,
                  0.99999994f,   1.0f,
                  1.0000001f,    1.5f,
                  2.0f,          3.0f,
                  7.0f,          1e10f,
                  4194303.5f,    8388607.5f,
                  8388609.0f,    16777215.0f,
                  16777216.0f,   33554434.0f,
                  Limits::max(), Limits::infinity()})
    values.insert(values.end(), {x, -x});
  return values;
}

} // namespace

TEST(Accuracy, EveryMagnitude) {
  const std::vector<float> x = sweep(8191);
  std::vector<float> y = x;
  std::shuffle(y.begin(), y.end(), std::mt19937(1));
  check<float>(ElementType::F32, {x, y}, 3);
  const std::vector<float> near = nearQuarters();
  check<float>(ElementType::F32, {near, near}, 3);
}

/// Of all pairs the same as the C library's, signs of zeros included.
TEST(Accuracy, SpecialNumbers) {
  std::vector<std::vector<float>> pairs(2);
  for (float x : specialNumbers())
    for (float y : specialNumbers()) {
      pairs[0].push_back(x);
      pairs[1].push_back(y);
    }
  check<float>(ElementType::F32, pairs, 3);
  for (const FunctionCase &c : functionCases) {
    // The root of a sum of zeros and the like are elsewhere.
    const auto operands = std::vector<std::vector<float>>(
        pairs.begin(), pairs.begin() + c.operands);
    const std::vector<float> got =
        compute<float>(c.op, ElementType::F32, operands);
    for (size_t i = 0; i < got.size(); ++i) {
      const auto exact =
          static_cast<float>(c.exact(operands[0][i], operands.back()[i]));
      if (!std::isnan(exact))
        ASSERT_EQ(std::signbit(got[i]), std::signbit(exact))
            << c.op << " of " << operands[0][i] << ", " << operands.back()[i]
            << " is " << got[i];
    }
  }
}

/// Remainders by one number, of which fewer steps are taken.
TEST(Accuracy, RemaindersByOneNumber) {
  const std::vector<float> x = sweep(65521);
  for (float divisor : specialNumbers()) {
    if (!std::isfinite(divisor))
      continue;
    const std::string tensor = "tensor<" + std::to_string(x.size()) + "xf32>";
    std::ostringstream number;
    number << "0x" << std::hex << std::uppercase
           << std::bit_cast<uint32_t>(divisor);
    Model model = parseModel("(%a: " + tensor + ") -> " + tensor +
                             " {\n  %c = stablehlo.constant dense<" +
                             number.str() + "> : " + tensor +
                             "\n  %0 = stablehlo.remainder %a, %c : " + tensor +
                             "\n  return %0 : " + tensor + "\n}");
    const std::vector<float> got = run<float>(
        model, {Tensor::of<float>(ElementType::F32,
                                  {static_cast<int64_t>(x.size())}, x)});
    for (size_t i = 0; i < x.size(); ++i) {
      const float exact = std::fmod(x[i], divisor);
      if (std::isnan(exact))
        ASSERT_TRUE(std::isnan(got[i])) << x[i] << " by " << divisor;
      else
        ASSERT_EQ(std::bit_cast<uint32_t>(got[i]),
                  std::bit_cast<uint32_t>(exact))
            << x[i] << " by " << divisor << " is " << got[i];
    }
  }
}

TEST(Accuracy, Float64) {
  check<double>(ElementType::F64,
                {everywhere<double, uint64_t>(1, count),
                 everywhere<double, uint64_t>(2, count)},
                3);
}

/// Without what is denormal.
std::vector<double> normalOnes(std::vector<double> values) {
  for (double &value : values)
    value = flushed<double>(value);
  return values;
}

/// All magnitudes again, as programs compute unless told otherwise. What the C
/// library, which computes f64, makes of a denormal operand then is its own.
TEST(Accuracy, DenormalsAsZero) {
  check<float>(ElementType::F32,
               {everywhere<float, uint32_t>(3, count),
                everywhere<float, uint32_t>(4, count)},
               3, Denormals::Flush);
  check<double>(ElementType::F64,
                {normalOnes(everywhere<double, uint64_t>(3, count / 4)),
                 normalOnes(everywhere<double, uint64_t>(4, count / 4))},
                3, Denormals::Flush);
  check<Half>(ElementType::F16,
              {everywhere<Half, uint16_t>(3, count / 4),
               everywhere<Half, uint16_t>(4, count / 4)},
              1, Denormals::Flush);
  check<BFloat16>(ElementType::BF16,
                  {everywhere<BFloat16, uint16_t>(3, count / 4),
                   everywhere<BFloat16, uint16_t>(4, count / 4)},
                  1, Denormals::Flush);
}

TEST(Accuracy, NarrowFloats) {
  check<Half>(ElementType::F16,
              {everywhere<Half, uint16_t>(1, count / 2),
               everywhere<Half, uint16_t>(2, count / 2)},
              0.52L);
  check<BFloat16>(ElementType::BF16,
                  {everywhere<BFloat16, uint16_t>(1, count / 2),
                   everywhere<BFloat16, uint16_t>(2, count / 2)},
                  0.52L);
}

namespace {

/// All numbers of \p T by \p divisor, as code that multiplies or divides has
/// them.
template <typename T>
void checkQuotients(ElementType type, float divisor, Denormals denormals) {
  std::vector<T> inputs;
  for (unsigned bits = 0; bits < 1u << 16; ++bits)
    inputs.push_back(std::bit_cast<T>(static_cast<uint16_t>(bits)));
  const T by(divisor);
  const std::string tensor = "tensor<" + toString(type, Shape{1 << 16}) + ">";
  std::ostringstream number;
  number << std::scientific << std::setprecision(9) << static_cast<float>(by);
  Model model = parseModel("(%a: " + tensor + ") -> " + tensor +
                           " {\n  %c = stablehlo.constant dense<" +
                           number.str() + "> : " + tensor +
                           "\n  %0 = stablehlo.divide %a, %c : " + tensor +
                           "\n  return %0 : " + tensor + "\n}");
  const std::vector<T> got =
      run<T>(model, {Tensor::of<T>(type, {1 << 16}, inputs)}, denormals);
  const bool flushes = denormals == Denormals::Flush;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto read = [&](T value) {
      const auto wide = static_cast<float>(value);
      return flushes ? static_cast<float>(flushed<float>(wide)) : wide;
    };
    const float x = read(inputs[i]), quotient = x / read(by);
    const auto is = static_cast<float>(got[i]);
    // What is next to denormal may be zero.
    if (flushes && std::abs(quotient) < 1.001 * leastNormal<float>()) {
      EXPECT_LE(std::abs(is), leastNormal<float>())
          << x << " by " << number.str();
      continue;
    }
    const T exact(quotient);
    if (std::isnan(quotient))
      EXPECT_TRUE(std::isnan(is)) << x << " by " << number.str();
    else
      ASSERT_EQ(std::bit_cast<uint16_t>(got[i]), std::bit_cast<uint16_t>(exact))
          << x << " by " << number.str() << " is " << is;
  }
}

} // namespace

// 14 and 28 have quotients in the middle of two denormals of f16 that products
// miss; the reciprocal of 2^127 is no normal number.
TEST(Accuracy, QuotientsOfHalfPrecisionByOneNumber) {
  for (float divisor :
       {1.4142135f, 3.0f, 14.0f, 28.0f, -7.0f, 0.1f, 8.0f, 6.0e-8f, 65504.0f}) {
    checkQuotients<Half>(ElementType::F16, divisor, Denormals::Keep);
    checkQuotients<BFloat16>(ElementType::BF16, divisor, Denormals::Keep);
    checkQuotients<BFloat16>(ElementType::BF16, divisor, Denormals::Flush);
  }
  for (float divisor : {std::ldexp(1.0f, 127), 3.0e38f, 1.2e-38f})
    checkQuotients<BFloat16>(ElementType::BF16, divisor, Denormals::Flush);
}

namespace {

/// Quotients and remainders of small, great and other numbers of \p T.
template <typename T> void checkIntegers(ElementType type) {
  using Limits = std::numeric_limits<T>;
  std::mt19937_64 generator(9);
  std::vector<T> numbers;
  for (int64_t k = 0; k < 12; ++k)
    for (int64_t number :
         {k, -k, int64_t(Limits::max()) - k, int64_t(Limits::min()) + k,
          int64_t(Limits::max()) / (k + 1), int64_t(generator())})
      numbers.push_back(static_cast<T>(number));
  if (sizeof(T) == 1)
    for (int number = 0; number < 256; ++number)
      numbers.push_back(static_cast<T>(number));
  std::vector<std::vector<T>> pairs(2);
  for (T a : numbers)
    for (T b : numbers) {
      pairs[0].push_back(a);
      pairs[1].push_back(b);
    }
  const std::vector<T> quotients = compute<T>("stablehlo.divide", type, pairs);
  const std::vector<T> rests = compute<T>("stablehlo.remainder", type, pairs);
  for (size_t i = 0; i < quotients.size(); ++i) {
    const int64_t a = pairs[0][i], b = pairs[1][i];
    // The least number by -1 wraps around.
    ASSERT_EQ(quotients[i], static_cast<T>(b == 0 ? -1 : a / b))
        << a << " by " << b << " of " << name(type);
    ASSERT_EQ(rests[i], static_cast<T>(b == 0 ? a : a % b))
        << a << " by " << b << " of " << name(type);
  }
}

} // namespace

TEST(Accuracy, QuotientsOfIntegers) {
  checkIntegers<int8_t>(ElementType::I8);
  checkIntegers<uint8_t>(ElementType::UI8);
  checkIntegers<int16_t>(ElementType::I16);
  checkIntegers<uint16_t>(ElementType::UI16);
  checkIntegers<int32_t>(ElementType::I32);
  checkIntegers<uint32_t>(ElementType::UI32);
}

namespace {

using Wide = std::complex<long double>;

struct ComplexCase {
  const char *op;
  Wide (*exact)(Wide, Wide);
  int operands = 1;
  /// Near its poles a function is as good as what it is made of.
  long double most = 4;
};

const ComplexCase complexCases[] = {
    {"stablehlo.exponential", [](Wide x, Wide) { return std::exp(x); }},
    {"stablehlo.log", [](Wide x, Wide) { return std::log(x); }},
    {"stablehlo.sqrt", [](Wide x, Wide) { return std::sqrt(x); }},
    {"stablehlo.rsqrt", [](Wide x, Wide) { return 1.0L / std::sqrt(x); }},
    {"stablehlo.sine", [](Wide x, Wide) { return std::sin(x); }},
    {"stablehlo.cosine", [](Wide x, Wide) { return std::cos(x); }},
    {"stablehlo.tan", [](Wide x, Wide) { return std::tan(x); }},
    {"stablehlo.tanh", [](Wide x, Wide) { return std::tanh(x); }},
    {"stablehlo.sign", [](Wide x, Wide) { return x / std::abs(x); }},
    {"stablehlo.exponential_minus_one",
     [](Wide x, Wide) { return std::exp(x) - 1.0L; }},
    {"stablehlo.log_plus_one", [](Wide x, Wide) { return std::log(1.0L + x); }},
    {"stablehlo.logistic",
     [](Wide x, Wide) { return 1.0L / (1.0L + std::exp(-x)); }, 1, 400},
    {"stablehlo.power", [](Wide x, Wide y) { return std::pow(x, y); }, 2, 50},
    {"stablehlo.multiply", [](Wide x, Wide y) { return x * y; }, 2},
    {"stablehlo.divide", [](Wide x, Wide y) { return x / y; }, 2}};

/// The greatest error of either part, in units of the last place of the larger
/// one.
template <typename T> void checkComplex(ElementType type) {
  using Limits = std::numeric_limits<T>;
  std::mt19937_64 generator(5);
  std::normal_distribution<double> normal(0, 2);
  std::vector<std::vector<std::complex<T>>> inputs(2);
  for (auto &values : inputs)
    for (int i = 0; i < 20000; ++i)
      values.emplace_back(normal(generator), normal(generator));
  for (const ComplexCase &c : complexCases) {
    auto operands = std::vector(inputs.begin(), inputs.begin() + c.operands);
    auto got = compute<std::complex<T>>(c.op, type, operands);
    long double worst = 0;
    size_t where = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      Wide exact = c.exact(Wide(operands[0][i]), Wide(operands.back()[i]));
      long double unit =
          std::ldexp(1.0L, std::ilogb(std::abs(exact)) - Limits::digits + 1);
      long double d = std::abs(Wide(got[i]) - exact) / unit;
      if (d > worst) {
        worst = d;
        where = i;
      }
    }
    EXPECT_LE(worst, Limits::digits == 24 ? 1.5L : c.most)
        << c.op << " of " << operands[0][where] << ", "
        << operands.back()[where];
    if (std::getenv("SINTER_VERBOSE"))
      std::fprintf(stderr, "%-34s %d %.3Lf\n", c.op, Limits::digits, worst);
  }
}

} // namespace

TEST(Accuracy, Complex) {
  checkComplex<float>(ElementType::C64);
  checkComplex<double>(ElementType::C128);
}
