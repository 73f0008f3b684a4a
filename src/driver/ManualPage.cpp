//===- ManualPage.cpp - manual pages of the command -----------------------===//

#include "driver/ManualPage.h"

#include "driver/ExitCodes.h"
#include "runtime/Text.h"

#include <algorithm>
#include <cctype>

namespace sinter::driver {

/// \p text as roff prints it: a dash stays one that can be copied, and no line
/// begins a request.
static std::string roff(const std::string &text) {
  std::string result;
  bool isStart = true;
  for (const char letter : text) {
    if (isStart && (letter == '.' || letter == '\''))
      result += "\\&";
    if (letter == '\\')
      result += "\\e";
    else if (letter == '-')
      result += "\\-";
    else
      result += letter;
    isStart = letter == '\n';
  }
  return result;
}

/// \p text as one argument of a request.
static std::string argument(const std::string &text) {
  std::string result = "\"";
  for (const char letter : roff(text))
    result += letter == '"' ? std::string("\\(dq") : std::string(1, letter);
  return result + "\"";
}

static std::string upperCase(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char letter) {
    return static_cast<char>(std::toupper(letter));
  });
  return text;
}

static std::string headText(const std::string &page,
                            const std::string &summary) {
  return ".TH " + argument(upperCase(page)) + " 1 \"\" " +
         argument("sinter " SINTER_VERSION) + " \"Sinter\"\n.SH NAME\n" +
         roff(page) + " \\- " + roff(summary) + "\n";
}

static std::string rowText(const std::string &title,
                           const std::string &meaning) {
  return ".TP\n.B " + argument(title) + "\n" + roff(meaning) + "\n";
}

static std::string optionsText(const CommandTable &command) {
  std::string text;
  for (const OptionGroup &group : command.groups) {
    text += ".SS " + argument(group.title) + "\n";
    for (const OptionRow &row : group.rows)
      text += rowText(row.title(), row.description);
  }
  return text;
}

static std::string linesText(const std::string &lines) {
  return ".PP\n.nf\n" + roff(lines) + ".fi\n";
}

/// What all pages end with.
static std::string tailText(const std::string &others) {
  std::string text = ".SH \"EXIT STATUS\"\n";
  for (const ExitCodeRow &row : exitCodes())
    text += rowText(std::to_string(row.code), std::string(row.meaning) + ".");
  text += ".SH ENVIRONMENT\n";
  text += rowText("XDG_CACHE_HOME, HOME",
                  "where compiled programs are kept unless --cache-dir says "
                  "it: $XDG_CACHE_HOME/sinter, or ~/.cache/sinter.");
  text += rowText("SINTER_COMPILER_LIBRARY",
                  "the file of the compiler, if it is not beside the "
                  "libraries.");
  return text + ".SH \"SEE ALSO\"\n" + others + "\n";
}

std::string manualPage(const CommandTable &command) {
  std::string text = headText("sinter-" + command.name, command.summary) +
                     ".SH SYNOPSIS\n.B " + argument(command.usage()) +
                     "\n.SH EXAMPLES\n" + linesText(command.examples) +
                     ".SH OPTIONS\n";
  for (const OptionRow &row : command.positional)
    text += rowText(row.names.front(), row.description);
  return text + optionsText(command) + tailText(".BR sinter (1)");
}

std::string manualPage(const CommandTable &whole,
                       std::span<const CommandTable> all) {
  std::string text = headText("sinter", "neural-network compiler for CPUs") +
                     ".SH SYNOPSIS\n.B " + argument(whole.usage()) +
                     "\n.SH DESCRIPTION\n" + linesText(whole.examples) +
                     ".SH COMMANDS\n";
  std::string others;
  for (const CommandTable &command : all) {
    text += rowText(command.name, command.summary + ".");
    others += (others.empty() ? ".BR " : ",\n.BR ") +
              roff("sinter-" + command.name) + " (1)";
  }
  return text + ".SH OPTIONS\n" + optionsText(whole) + tailText(others);
}

} // namespace sinter::driver
