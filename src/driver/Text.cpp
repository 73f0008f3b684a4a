//===- Text.cpp - output for the user -------------------------------------===//

#include "driver/Text.h"

#include "driver/Progress.h"
#include "runtime/Result.h"

#include <cstdarg>

namespace sinter::driver {

void printTo(std::FILE *stream, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const std::string whole = formatted(format, arguments);
  va_end(arguments);
  std::string result;
  for (const std::string &line : partsOf(whole, '\n'))
    result += oneLine(line) + '\n';
  result.pop_back();
  makeRoomFor(result);
  std::fwrite(result.data(), 1, result.size(), stream);
}

static void printLine(const char *kind, const std::string &message) {
  std::fflush(stdout);
  makeRoomFor("\n");
  std::fprintf(stderr, "%s: %s\n", kind, oneLine(message).c_str());
}

std::string escaped(const std::string &text) {
  std::string result;
  // Characters that are not allowed in XML.
  for (const char letter : oneLine(text))
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
      result += letter;
    }
  return result;
}

void printError(const std::string &message) { printLine("error", message); }

static bool hasNotes = true;

void muteNotes() { hasNotes = false; }

void printNote(const std::string &message) {
  if (hasNotes)
    printLine("note", message);
}

} // namespace sinter::driver
