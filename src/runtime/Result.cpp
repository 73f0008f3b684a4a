//===- Result.cpp - the one line that an error is -------------------------===//

#include "runtime/Result.h"

std::string sinter::oneLine(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  bool breaking = false;
  for (const char letter : text) {
    if (letter == '\n' || (breaking && letter == ' ')) {
      breaking = true;
      continue;
    }
    if (breaking && !line.empty() && line.back() != ' ')
      line += ' ';
    breaking = false;
    const auto code = static_cast<unsigned char>(letter);
    line += code < 0x20 || code == 0x7f ? '?' : letter;
  }
  return line;
}
