//===- SpecialValuesTest.cpp - NaN, infinities and signed zeros -----------===//
//
// In every place of the operands of every operation, in each type of floats:
// both backends give NaN where one does, the same infinities, and zeros of the
// same sign but where docs/special-values.md leaves it open.
//
//===----------------------------------------------------------------------===//

#include "Sweep.h"
#include "backend/operations/OperationSamples.h"
#include "runtime/ElementDispatch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <map>

using namespace sinter;
using namespace sinter::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// The parts of element \p i as doubles.
std::vector<double> partsOf(const Tensor &tensor, int64_t i) {
  return dispatch(tensor.type(), [&](auto tag) -> std::vector<double> {
    using T = typename decltype(tag)::type;
    const T value = tensor.at<T>(i);
    if constexpr (isStdComplex<T>)
      return {double(value.real()), double(value.imag())};
    else
      return {double(value)};
  });
}

enum class Difference { None, OfZeros, OfValues };

Difference differenceOf(double got, double expected, double tolerance) {
  if (std::isnan(got) || std::isnan(expected))
    return std::isnan(got) == std::isnan(expected) ? Difference::None
                                                   : Difference::OfValues;
  if (std::isinf(got) || std::isinf(expected))
    return got == expected ? Difference::None : Difference::OfValues;
  if (got == 0 && expected == 0)
    return std::signbit(got) == std::signbit(expected) ? Difference::None
                                                       : Difference::OfZeros;
  return std::abs(got - expected) <=
                 tolerance * std::max(1.0, std::abs(expected))
             ? Difference::None
             : Difference::OfValues;
}

/// The worst difference, with where it is.
Difference compare(const std::vector<Tensor> &got,
                   const std::vector<Tensor> &expected, double tolerance,
                   std::string &where) {
  Difference worst = Difference::None;
  for (size_t r = 0; r < got.size(); ++r)
    for (int64_t i = 0; i < got[r].size(); ++i) {
      const std::vector<double> a = partsOf(got[r], i),
                                b = partsOf(expected[r], i);
      for (size_t part = 0; part < a.size(); ++part) {
        const Difference one = differenceOf(a[part], b[part], tolerance);
        if (one <= worst)
          continue;
        worst = one;
        where = "result " + std::to_string(r) + ", element " +
                std::to_string(i) + ": compiled " + std::to_string(a[part]) +
                ", interpreter " + std::to_string(b[part]);
      }
    }
  return worst;
}

double toleranceOf(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return 1e-9;
  case ElementType::F16:
    return 1e-2;
  case ElementType::BF16:
    return 5e-2;
  default:
    return 1e-3;
  }
}

/// A number that is special, and what is written of it.
struct Special {
  const char *name;
  double value;
};

constexpr Special specials[] = {
    {"NaN", nan},           {"-NaN", -nan},
    {"infinity", infinity}, {"-infinity", -infinity},
    {"-0", -0.0},           {"0", 0.0}};

/// Operands of which docs/special-values.md leaves open where they lead if they
/// are not finite: weights that meet what a window reads from outside, and the
/// scales and offsets of norms, and neighbours of the weight 0 in a resize of
/// unknown sizes. So is the sign of zeros of these norms.
bool isDynamic(llvm::StringRef operation, size_t input) {
  if (operation.contains("resize with ?"))
    return true;
  return input > 0 &&
         (operation.contains("conv") || operation.contains("batch_norm"));
}

class Walk {
public:
  explicit Walk(std::string element, ElementType type)
      : element(std::move(element)), type(type) {}

  void check(const OperationSample &plain) {
    const OperationSample sample = withElement(plain, element);
    std::optional<Model> model = validModel(sample.text);
    if (!model)
      return;
    std::vector<Tensor> inputs = sampleInputs(*model, sample.unknown);
    bool hasFloats = false;
    for (const Tensor &input : inputs)
      hasFloats |= input.type() == type;
    // Random numbers have no definition to compare with.
    Result<std::vector<Tensor>> first = interpretGuarded(*model, inputs);
    if (!hasFloats || !first)
      return;
    Result<std::unique_ptr<Executor>> executor = compiledExecutor(*model);
    if (!executor) {
      EXPECT_EQ(executor.error().kind, ErrorKind::Unsupported)
          << sample.name << ": " << executor.error().message();
      return;
    }
    ++valid;
    differences.clear();
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].type() == type && !isDynamic(sample.name, i))
        for (const Special &special : specials)
          placeEverywhere(*model, **executor, inputs, i, special);
    for (const auto &[special, where] : differences)
      ADD_FAILURE() << sample.name << " of " << special << ": " << where << "\n"
                    << sample.text;
  }

  int valid = 0;

private:
  /// \p special in each place of input \p which, and in all of them.
  void placeEverywhere(const Model &model, Executor &executor,
                       std::vector<Tensor> inputs, size_t which,
                       const Special &special) {
    const Tensor plain = inputs[which];
    for (int64_t place = 0; place <= plain.size(); ++place) {
      Tensor changed(plain.type(), plain.shape());
      std::memcpy(changed.mutableBytes(), plain.data(), plain.bytes());
      for (int64_t i = 0; i < plain.size(); ++i)
        if (i == place || place == plain.size())
          setNumber(changed, i, special.value);
      inputs[which] = std::move(changed);
      Result<std::vector<Tensor>> expected = interpretGuarded(model, inputs);
      Result<std::vector<Tensor>> got = executor.run(inputs);
      if (!expected || !got) {
        if (bool(expected) != bool(got))
          differences[special.name] = "only one backend refuses it: " +
                                      (got ? expected : got).error().message();
        continue;
      }
      std::string where;
      const Difference found =
          compare(*got, *expected, toleranceOf(type), where);
      if (found == Difference::OfValues || found == Difference::OfZeros) {
        const std::string name =
            (found == Difference::OfZeros ? "zeros, " : "") +
            std::string(special.name);
        differences.try_emplace(name, where + " (in input " +
                                          std::to_string(which) + ", place " +
                                          std::to_string(place) + ")");
      }
    }
  }

  std::string element;
  ElementType type;
  std::map<std::string, std::string> differences;
};

class SpecialValuesOf
    : public testing::TestWithParam<std::pair<const char *, ElementType>> {};

TEST_P(SpecialValuesOf, BothBackendsAgree) {
  Walk walk(GetParam().first, GetParam().second);
  Sweep sweep;
  int taken = 0;
  for (const OperationSample &sample : operationSamples())
    if (sweep.takesNext()) {
      ++taken;
      walk.check(sample);
    }
  // Others take no floats, or are of other types.
  EXPECT_GT(2 * walk.valid, taken);
}

TEST(SpecialValuesTest, BothBackendsAgreeWithUnknownSizes) {
  Walk walk("f32", ElementType::F32);
  // Each operation has a few.
  Sweep sweep(/*oneIn=*/3);
  for (const OperationSample &sample : samplesWithSize("?"))
    if (sweep.takesNext())
      walk.check(sample);
  EXPECT_GT(walk.valid, 0);
}

INSTANTIATE_TEST_SUITE_P(Types, SpecialValuesOf,
                         testing::Values(std::pair("f32", ElementType::F32),
                                         std::pair("f64", ElementType::F64),
                                         std::pair("f16", ElementType::F16),
                                         std::pair("bf16", ElementType::BF16)),
                         [](const auto &info) {
                           return std::string(info.param.first);
                         });

} // namespace
