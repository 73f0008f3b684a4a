#include "runtime/Expectation.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sinter {

namespace {

constexpr uint64_t farthest = std::numeric_limits<uint64_t>::max();

/// A tensor as a row of real numbers: a complex element has two.
class Reals {
public:
  explicit Reals(const Tensor &tensor)
      : parts(isComplex(tensor.type()) ? 2 : 1), tensor(reals(tensor)) {}

  const int64_t parts;
  double value(int64_t index) const { return tensor.toDouble(index); }
  uint64_t bits(int64_t index) const {
    switch (byteSize(tensor.type())) {
    case 1:
      return tensor.at<uint8_t>(index);
    case 2:
      return tensor.at<uint16_t>(index);
    case 4:
      return tensor.at<uint32_t>(index);
    default:
      return tensor.at<uint64_t>(index);
    }
  }
  uint64_t signBit() const {
    return uint64_t(1) << (bitWidth(tensor.type()) - 1);
  }

private:
  static Tensor reals(const Tensor &tensor) {
    if (!isComplex(tensor.type()))
      return tensor;
    const bool narrow = tensor.type() == ElementType::C64;
    return Tensor::share(narrow ? ElementType::F32 : ElementType::F64,
                         {2 * tensor.size()}, tensor.data(),
                         std::make_shared<Tensor>(tensor));
  }

  const Tensor tensor;
};

/// Units in the last place between two real numbers of the same type.
uint64_t ulpBetween(const Reals &a, const Reals &b, int64_t index) {
  const uint64_t bitsA = a.bits(index), bitsB = b.bits(index);
  if (bitsA == bitsB)
    return 0;
  const double valueA = a.value(index), valueB = b.value(index);
  if (std::isnan(valueA) && std::isnan(valueB))
    return 0;
  if (!std::isfinite(valueA) || !std::isfinite(valueB))
    return farthest;
  // Below the sign, the bits of finite numbers count up from zero.
  const uint64_t sign = a.signBit();
  const uint64_t sizeA = bitsA & ~sign, sizeB = bitsB & ~sign;
  if ((bitsA & sign) != (bitsB & sign))
    return sizeA + sizeB;
  return sizeA > sizeB ? sizeA - sizeB : sizeB - sizeA;
}

/// Says of each element whether it is as expected, and how bad it is if not.
class Judge {
public:
  Judge(const Tensor &got, const Tensor &expected, const Expectation &wanted)
      : got(got), expected(expected), gotReals(got), expectedReals(expected),
        wanted(wanted), isReal(isFloat(got.type()) || isComplex(got.type())) {}

  struct Verdict {
    bool good = true;
    /// For the choice of the worst element.
    double distance = 0;
    uint64_t ulp = 0;
  };

  Verdict of(int64_t element) const {
    if (!isReal)
      return ofIntegers(element);
    Verdict verdict;
    for (int64_t part = 0; part < gotReals.parts; ++part) {
      const Verdict own = ofReals(element * gotReals.parts + part);
      verdict.good &= own.good;
      verdict.distance = std::max(verdict.distance, own.distance);
      verdict.ulp = std::max(verdict.ulp, own.ulp);
    }
    // The bounds hold for the larger of the parts' distances.
    if (wanted.kind == Expectation::Kind::Close)
      verdict.good =
          wanted.minUlp <= verdict.ulp && verdict.ulp <= wanted.maxUlp;
    return verdict;
  }

private:
  Verdict ofIntegers(int64_t element) const {
    const int64_t a = got.toInteger(element), b = expected.toInteger(element);
    return {a == b, std::abs(static_cast<double>(a) - static_cast<double>(b)),
            0};
  }

  Verdict ofReals(int64_t index) const {
    const double a = gotReals.value(index), b = expectedReals.value(index);
    const double difference = std::abs(a - b);
    Verdict verdict{true, std::isnan(difference) ? HUGE_VAL : difference, 0};
    switch (wanted.kind) {
    case Expectation::Kind::Equal:
      verdict.good = a == b;
      break;
    case Expectation::Kind::Almost:
    case Expectation::Kind::AlmostOrEqual:
      verdict.good =
          a == b || (std::isnan(a) && std::isnan(b)) ||
          (std::isfinite(difference) && difference <= wanted.tolerance);
      break;
    case Expectation::Kind::Close:
      verdict.ulp = ulpBetween(gotReals, expectedReals, index);
      verdict.distance = static_cast<double>(verdict.ulp);
      break;
    }
    return verdict;
  }

  const Tensor &got, &expected;
  const Reals gotReals, expectedReals;
  const Expectation &wanted;
  const bool isReal;
};

std::string number(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.9g", value);
  return buffer;
}

std::string elementText(const Tensor &tensor, int64_t index) {
  if (classOf(tensor.type()) == ElementClass::UInt)
    return std::to_string(static_cast<uint64_t>(tensor.toInteger(index)));
  if (isInteger(tensor.type()))
    return std::to_string(tensor.toInteger(index));
  const Reals reals(tensor);
  if (reals.parts == 1)
    return number(reals.value(index));
  return "(" + number(reals.value(2 * index)) + ", " +
         number(reals.value(2 * index + 1)) + ")";
}

std::string placeText(const Shape &shape, int64_t index) {
  std::string text;
  for (size_t axis = shape.size(); axis-- > 0; index /= shape[axis])
    text =
        std::to_string(index % shape[axis]) + (text.empty() ? "" : ", ") + text;
  return "[" + text + "]";
}

std::string limitText(const Expectation &wanted) {
  if (wanted.kind == Expectation::Kind::Close)
    return ", allowed are " + std::to_string(wanted.minUlp) + " to " +
           std::to_string(wanted.maxUlp);
  if (wanted.tolerance > 0)
    return ", tolerance " + number(wanted.tolerance);
  return "";
}

} // namespace

Result<void> expect(const Tensor &got, const Tensor &expected,
                    const Expectation &expectation) {
  if (got.type() != expected.type() || got.shape() != expected.shape())
    return Error{ErrorKind::WrongResult,
                 "got " + toString(got.type(), got.shape()) + ", expected " +
                     toString(expected.type(), expected.shape())};
  const Judge judge(got, expected, expectation);
  int64_t wrong = 0, worst = 0;
  Judge::Verdict worstVerdict;
  for (int64_t i = 0; i < got.size(); ++i) {
    const Judge::Verdict verdict = judge.of(i);
    if (verdict.good)
      continue;
    if (wrong++ == 0 || verdict.distance > worstVerdict.distance) {
      worst = i;
      worstVerdict = verdict;
    }
  }
  if (wrong == 0)
    return {};
  std::string message =
      std::to_string(wrong) + " of " + std::to_string(got.size()) +
      " values are not as expected, worst at " + placeText(got.shape(), worst) +
      ": got " + elementText(got, worst) + ", expected " +
      elementText(expected, worst);
  if (expectation.kind == Expectation::Kind::Close)
    message += ", " + std::to_string(worstVerdict.ulp) + " steps apart";
  return Error{ErrorKind::WrongResult, message + limitText(expectation)};
}

uint64_t ulpDistance(const Tensor &a, const Tensor &b, int64_t index) {
  const Reals realsA(a), realsB(b);
  uint64_t distance = 0;
  for (int64_t part = 0; part < realsA.parts; ++part)
    distance = std::max(
        distance, ulpBetween(realsA, realsB, index * realsA.parts + part));
  return distance;
}

} // namespace sinter
