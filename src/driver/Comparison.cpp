//===- Comparison.cpp - is a tensor what was expected? --------------------===//

#include "driver/Comparison.h"

#include "driver/Text.h"

#include <algorithm>
#include <cmath>

namespace sinter::driver {

namespace {

/// Real numbers of a tensor: a complex one has two an element.
int64_t realCount(const Tensor &tensor) {
  return tensor.size() * (isComplex(tensor.type()) ? 2 : 1);
}

double realAt(const Tensor &tensor, int64_t index) {
  if (tensor.type() == ElementType::C64)
    return tensor.at<float>(index);
  if (tensor.type() == ElementType::C128)
    return tensor.at<double>(index);
  return tensor.toDouble(index);
}

double largestMagnitude(const Tensor &tensor) {
  double largest = 0;
  for (int64_t i = 0; i < realCount(tensor); ++i)
    if (const double value = std::abs(realAt(tensor, i)); std::isfinite(value))
      largest = std::max(largest, value);
  return largest;
}

/// How far a value is outside its tolerance; 0 if it is inside.
class Excess {
public:
  Excess(const Tensor &got, const Tensor &expected, const Tolerance &tolerance)
      : got(got), expected(expected), tolerance(tolerance),
        allowance(tolerance.absolute) {
    if (tolerance.ofRange > 0)
      allowance += tolerance.ofRange * largestMagnitude(expected);
  }

  double at(int64_t index) const {
    return isInteger(expected.type()) ? ofIntegers(index) : ofReals(index);
  }

private:
  double ofIntegers(int64_t index) const {
    const int64_t a = got.toInteger(index), b = expected.toInteger(index);
    if (a == b)
      return 0;
    const bool isUnsigned = classOf(expected.type()) == ElementClass::UInt;
    const bool less = isUnsigned
                          ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b)
                          : a < b;
    const uint64_t distance =
        less ? static_cast<uint64_t>(b) - static_cast<uint64_t>(a)
             : static_cast<uint64_t>(a) - static_cast<uint64_t>(b);
    const auto difference = static_cast<double>(distance);
    return difference <= tolerance.absolute ? 0 : difference;
  }

  double ofReals(int64_t index) const {
    const double a = realAt(got, index), b = realAt(expected, index);
    if (a == b || (std::isnan(a) && std::isnan(b)))
      return 0;
    const double difference = std::abs(a - b);
    if (!std::isfinite(difference))
      return HUGE_VAL;
    const double limit = allowance + tolerance.relative * std::abs(b);
    return difference <= limit ? 0 : difference - limit;
  }

  const Tensor &got, &expected;
  const Tolerance &tolerance;
  double allowance;
};

std::string placeText(const Shape &shape, int64_t index) {
  std::string text;
  for (size_t axis = shape.size(); axis-- > 0; index /= shape[axis])
    text =
        std::to_string(index % shape[axis]) + (text.empty() ? "" : ", ") + text;
  return "[" + text + "]";
}

} // namespace

Result<void> compare(const Tensor &got, const Tensor &expected,
                     const Tolerance &tolerance) {
  if (got.type() != expected.type() || got.shape() != expected.shape())
    return Error{ErrorKind::WrongResult,
                 "got " + toString(got.type(), got.shape()) + ", expected " +
                     toString(expected.type(), expected.shape())};
  const Excess excess(got, expected, tolerance);
  int64_t wrong = 0, worst = 0;
  double worstExcess = 0;
  for (int64_t i = 0; i < realCount(expected); ++i) {
    const double by = excess.at(i);
    wrong += by > 0;
    if (by > worstExcess) {
      worst = i;
      worstExcess = by;
    }
  }
  if (wrong == 0)
    return {};
  const int64_t element = isComplex(expected.type()) ? worst / 2 : worst;
  return Error{ErrorKind::WrongResult,
               text("%lld of %lld values differ, most at %s: got %s, "
                    "expected %s",
                    static_cast<long long>(wrong),
                    static_cast<long long>(realCount(expected)),
                    placeText(expected.shape(), element).c_str(),
                    elementText(got, element).c_str(),
                    elementText(expected, element).c_str())};
}

} // namespace sinter::driver
