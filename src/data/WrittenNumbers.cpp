#include "data/WrittenNumbers.h"

#include "runtime/ElementDispatch.h"
#include "runtime/Text.h"

#include <charconv>
#include <cmath>
#include <vector>

namespace sinter {

/// Nothing if \p text is no list of numbers.
static std::optional<std::vector<double>> listOfNumbers(std::string_view text) {
  std::vector<double> numbers;
  for (const std::string &one : partsOf(text, ',')) {
    double number = one == "true" ? 1 : 0;
    if (one != "true" && one != "false") {
      const auto [stop, error] =
          std::from_chars(one.data(), one.data() + one.size(), number);
      if (error != std::errc() || stop != one.data() + one.size())
        return std::nullopt;
    }
    numbers.push_back(number);
  }
  return numbers;
}

/// Whether \p number is a value of the integer type \p type.
static bool holds(ElementType type, double number) {
  // Beyond 2^53 not every integer is a double.
  constexpr double largestExact = 9007199254740992.0;
  const bool isUnsigned =
      classOf(type) == ElementClass::UInt || type == ElementType::I1;
  const int bits = int(bitWidth(type));
  const double most = std::ldexp(1, isUnsigned ? bits : bits - 1) - 1;
  const double least = isUnsigned ? 0 : -most - 1;
  return number == std::trunc(number) && number >= least && number <= most &&
         std::abs(number) <= largestExact;
}

/// \p number, which \p tensor can hold, rounded for floats.
static void setElement(Tensor &tensor, int64_t index, double number) {
  dispatch(tensor.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_arithmetic_v<T>)
      tensor.set<T>(index, static_cast<T>(number));
    else if constexpr (isStdComplex<T>)
      tensor.set<T>(index, T(static_cast<typename T::value_type>(number)));
    else
      tensor.set<T>(index, T(static_cast<float>(number)));
  });
}

bool isListOfNumbers(const std::string &text) {
  return listOfNumbers(text).has_value();
}

std::optional<Result<Tensor>> writtenNumbers(const std::string &what,
                                             const std::string &text,
                                             const TensorSpec &spec) {
  const std::optional<std::vector<double>> numbers = listOfNumbers(text);
  if (!numbers)
    return std::nullopt;
  const auto count = static_cast<int64_t>(numbers->size());
  Shape shape;
  if (spec.shape.size() == 1)
    shape = {count};
  const std::string given = "'" + spec.name + "=" + text + "'";
  const bool fits = spec.shape.empty()
                        ? count == 1
                        : spec.shape.size() == 1 &&
                              (spec.shape[0] < 0 || spec.shape[0] == count);
  if (!fits)
    return usageError(what + " " + given + " is no " +
                      toString(spec.type, spec.shape) +
                      "; only scalars and lists of one dimension can be "
                      "typed, and a file of this name is ./" +
                      text);
  Tensor tensor(spec.type, shape);
  for (int64_t i = 0; i < count; ++i) {
    if (isInteger(spec.type) && !holds(spec.type, (*numbers)[i]))
      return usageError(what + " " + given + ": " +
                        std::string(name(spec.type)) + " holds no such number");
    setElement(tensor, i, (*numbers)[i]);
  }
  return Result<Tensor>(std::move(tensor));
}

} // namespace sinter
