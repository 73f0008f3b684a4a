// Numbers as strings, and strings as numbers.

#include "runtime/ElementDispatch.h"
#include "runtime/StringFunctions.h"
#include "runtime/Strings.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <locale.h>

namespace sinter {

/// The shortest decimal form that \p T reads back as \p value, with a point or
/// an exponent, as Python writes floats.
template <typename T> static std::string shortest(T value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  char buffer[64];
  const double size = std::abs(static_cast<double>(value));
  const bool isPlain = size == 0 || (size >= 1e-4 && size < 1e16);
  const auto [end, code] = std::to_chars(
      buffer, buffer + sizeof buffer, value,
      isPlain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(buffer, end);
  if (isPlain && text.find('.') == std::string::npos)
    text += ".0";
  return text;
}

/// A narrow float as the shortest of the forms that f32 has for it: \p digits
/// that read back as the same value.
template <typename T> static std::string shortestNarrow(T value) {
  const auto wide = static_cast<float>(value);
  if (!std::isfinite(wide))
    return shortest(wide);
  for (int digits = 1; digits <= 8; ++digits) {
    char buffer[64];
    const auto [end, code] =
        std::to_chars(buffer, buffer + sizeof buffer, wide,
                      std::chars_format::scientific, digits - 1);
    float back = 0;
    std::from_chars(buffer, end, back);
    if (static_cast<float>(T(back)) == wide)
      return shortest(back);
  }
  return shortest(wide);
}

std::string numberAsString(const Tensor &numbers, int64_t index) {
  return dispatch(numbers.type(), [&](auto tag) -> std::string {
    using T = typename decltype(tag)::type;
    if constexpr (isStdComplex<T>) {
      return {};
    } else {
      const T value = numbers.at<T>(index);
      if constexpr (std::is_integral_v<T>)
        return std::to_string(value);
      else if constexpr (std::is_floating_point_v<T>)
        return shortest(value);
      else
        return shortestNarrow(value);
    }
  });
}

void formatNumbers(const Tensor &numbers, Tensor &to) {
  for (int64_t i = 0; i < to.size(); ++i)
    to.set<StringHandle>(i, internString(numberAsString(numbers, i)));
}

/// \p text without white space at its ends.
static std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\n\r\f\v";
  const size_t first = text.find_first_not_of(space);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

/// The number that \p text is, as a whole; nothing if it is none of type \p T.
/// Beyond the range of a float it is infinite or zero.
template <typename T> static std::optional<T> parsed(std::string_view text) {
  // from_chars takes no plus.
  if (text.starts_with('+') && !text.starts_with("+-"))
    text.remove_prefix(1);
  T value = 0;
  const auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || text.empty())
    return std::nullopt;
  if (code == std::errc())
    return value;
  if (std::is_integral_v<T> || code != std::errc::result_out_of_range)
    return std::nullopt;
  // Which of them from_chars does not say. The point is one in every locale.
  static const locale_t plain = ::newlocale(LC_NUMERIC_MASK, "C", nullptr);
  const std::string copy(text);
  return static_cast<T>(::strtod_l(copy.c_str(), nullptr, plain));
}

/// Whether \p number is a value of \p type, whose C++ type may be wider.
template <typename T> static bool isValueOf(ElementType type, T number) {
  const unsigned bits = bitWidth(type);
  if (bits >= 8 * sizeof(T))
    return true;
  if constexpr (std::is_signed_v<T>)
    return number >= -(T(1) << (bits - 1)) && number < T(1) << (bits - 1);
  else
    return number < T(1) << bits;
}

/// Element \p index of \p to from \p text; false if it is no such number.
template <typename T>
static bool setParsed(Tensor &to, int64_t index, std::string_view text) {
  if (to.type() == ElementType::I1) {
    const std::optional<int64_t> number = parsed<int64_t>(text);
    to.set<uint8_t>(index, number.value_or(0) != 0);
    return number.has_value();
  }
  if constexpr (std::is_integral_v<T>) {
    using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    const std::optional<Wide> number = parsed<Wide>(text);
    if (!number || !isValueOf(to.type(), *number))
      return false;
    to.set<T>(index, static_cast<T>(*number));
    return true;
  } else if constexpr (std::is_floating_point_v<T>) {
    const std::optional<T> number = parsed<T>(text);
    to.set<T>(index, number.value_or(0));
    return number.has_value();
  } else if constexpr (!isStdComplex<T>) {
    const std::optional<double> number = parsed<double>(text);
    to.set<T>(index, T(number.value_or(0)));
    return number.has_value();
  }
  return false;
}

Result<void> parseNumbers(const Tensor &texts, Tensor &to) {
  return dispatch(to.type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < to.size(); ++i)
      if (!setParsed<T>(to, i, trimmed(stringAt(texts, i))))
        return usageError("the string '" + std::string(stringAt(texts, i)) +
                          "' is no " + std::string(name(to.type())));
    return {};
  });
}

} // namespace sinter
