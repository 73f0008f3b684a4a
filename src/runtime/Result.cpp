//===- Result.cpp - a value or an error -----------------------------------===//

#include "runtime/Result.h"

#include "runtime/Utf8.h"

#include <algorithm>

using namespace sinter;

/// Whether \p character, in UTF-8, is a control character (C0, DEL, C1), one
/// that ends a line, or one that changes the direction of text (Unicode
/// Standard Annex 9).
static bool isControl(std::string_view character) {
  const auto byte = [&](size_t i) {
    return static_cast<unsigned char>(character[i]);
  };
  switch (character.size()) {
  case 1:
    return byte(0) < 0x20 || byte(0) == 0x7f;
  case 2: // U+0080 to U+009F; U+061C
    return (byte(0) == 0xc2 && byte(1) < 0xa0) || character == "\xd8\x9c";
  case 3: // U+200E, U+200F, U+2028 to U+202E; U+2066 to U+2069
    return byte(0) == 0xe2 &&
           ((byte(1) == 0x80 && (byte(2) == 0x8e || byte(2) == 0x8f ||
                                 (byte(2) >= 0xa8 && byte(2) <= 0xae))) ||
            (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9));
  default:
    return false;
  }
}

std::string sinter::oneLine(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  bool breaking = false;
  while (!text.empty()) {
    const size_t length = utf8Length(text);
    const std::string_view character = text.substr(0, length);
    text.remove_prefix(std::max<size_t>(length, 1));
    if (character == "\n" || (breaking && character == " ")) {
      breaking = true;
      continue;
    }
    if (breaking && !line.empty() && line.back() != ' ')
      line += ' ';
    breaking = false;
    if (length == 0)
      line += "\xef\xbf\xbd";
    else
      line += isControl(character) ? "?" : character;
  }
  return line;
}

/// Whether \p text has \p file as a word: "cannot open 'a.npy'".
static bool mentions(std::string_view text, std::string_view file) {
  constexpr std::string_view around = " '\"(),:;";
  for (size_t at = text.find(file); at != std::string_view::npos;
       at = text.find(file, at + 1)) {
    const size_t end = at + file.size();
    if ((at == 0 || around.find(text[at - 1]) != std::string_view::npos) &&
        (end == text.size() ||
         around.find(text[end]) != std::string_view::npos))
      return true;
  }
  return false;
}

std::string Error::message() const {
  std::string line = where;
  if (!what.empty())
    line += (line.empty() ? "" : ": ") + what;
  // Some name the file where it belongs in the sentence.
  if (!file.empty() && !mentions(line, file))
    line = file + (position.empty() ? "" : ":" + position) + ": " + line;
  else if (!position.empty())
    line = position + ": " + line;
  return hint.empty() ? line : line + "; " + hint;
}

Error sinter::inFile(Error error, const std::string &path) {
  if (error.file.empty())
    error.file = oneLine(path);
  return error;
}

Error sinter::inside(std::string_view subject, Error error) {
  error.where =
      oneLine(subject) + (error.where.empty() ? "" : ": " + error.where);
  return error;
}

Error sinter::atNode(std::string_view subject, std::string_view node,
                     std::string_view op, Error error) {
  if (error.node.empty() && error.op.empty()) {
    error.node = oneLine(node);
    error.op = oneLine(op);
  }
  return inside(subject, std::move(error));
}

Error sinter::withHint(std::string_view hint, Error error) {
  if (!hint.empty())
    error.hint += (error.hint.empty() ? "" : "; ") + oneLine(hint);
  return error;
}
