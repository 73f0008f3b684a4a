//===- Text.cpp - texts for the user --------------------------------------===//

#include "driver/Text.h"

#include "runtime/Result.h"
#include "runtime/TraceWriter.h"

#include <cctype>
#include <charconv>
#include <cstdarg>
#include <cstdio>

namespace sinter::driver {

std::string text(const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string result(size > 0 ? size : 0, '\0');
  std::vsnprintf(result.data(), result.size() + 1, format, again);
  va_end(again);
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

static void printLine(const char *kind, const std::string &message) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s: %s\n", kind, oneLine(message).c_str());
}

std::string escaped(const std::string &text) {
  std::string result;
  for (const char letter : validUtf8(text))
    switch (letter) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      // What is no character of a page would make it none.
      result += static_cast<unsigned char>(letter) < ' ' ? ' ' : letter;
    }
  return result;
}

void printError(const std::string &message) { printLine("error", message); }

std::optional<uint64_t> parseBytes(std::string_view text) {
  double number = 0;
  const char *end = text.data() + text.size();
  const auto [rest, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc())
    return std::nullopt;
  std::string unit;
  for (char letter : std::string_view(rest, static_cast<size_t>(end - rest)))
    if (letter != ' ')
      unit +=
          static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  constexpr std::pair<std::string_view, double> units[] = {
      {"", 1},         {"B", 1},        {"KB", 1e3},
      {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},
      {"KIB", 0x1p10}, {"MIB", 0x1p20}, {"GIB", 0x1p30}};
  for (const auto &[name, factor] : units)
    if (unit == name && number * factor >= 1 && number * factor < 0x1p62)
      return static_cast<uint64_t>(number * factor);
  return std::nullopt;
}

static bool hasNotes = true;

void muteNotes() { hasNotes = false; }

void printNote(const std::string &message) {
  if (hasNotes)
    printLine("note", message);
}

} // namespace sinter::driver
