#include "runtime/Text.h"

#include <charconv>
#include <cstdio>
#include <iterator>

namespace sinter {

std::string formatted(const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  std::string result(size > 0 ? size : 0, '\0');
  std::vsnprintf(result.data(), result.size() + 1, format, arguments);
  return result;
}

std::string text(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::string result = formatted(format, arguments);
  va_end(arguments);
  return result;
}

std::vector<std::string> partsOf(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t end = text.find(separator); end != std::string_view::npos;
       end = text.find(separator)) {
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.emplace_back(text);
  return parts;
}

std::optional<int64_t> parseSize(std::string_view text) {
  int64_t size = 0;
  const char *end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, size);
  if (failed != std::errc() || stop != end || size < 0)
    return std::nullopt;
  return size;
}

std::string bytesText(double bytes) {
  constexpr const char *units[] = {"bytes", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(units)) {
    bytes /= 1000;
    ++unit;
  }
  return text(unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

} // namespace sinter
