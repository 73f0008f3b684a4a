//===- Text.cpp - texts for the user --------------------------------------===//

#include "driver/Text.h"

#include "runtime/Result.h"
#include "runtime/TraceWriter.h"

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
void printNote(const std::string &message) { printLine("note", message); }

} // namespace sinter::driver
