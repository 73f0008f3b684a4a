//===- HelpText.cpp - the help of a command -------------------------------===//

#include "driver/HelpText.h"

#include "runtime/Text.h"

#include <algorithm>
#include <sys/ioctl.h>
#include <unistd.h>

namespace sinter::driver {

std::vector<std::string> wrapped(const std::string &text, size_t width) {
  std::vector<std::string> lines(1);
  for (const std::string &word : partsOf(text, ' ')) {
    std::string &line = lines.back();
    if (!line.empty() && line.size() + 1 + word.size() > width)
      lines.push_back(word);
    else
      line += (line.empty() ? "" : " ") + word;
  }
  return lines;
}

/// A title and beside it, or below if it is long, what it means.
static std::string twoColumns(const std::string &title,
                              const std::string &meaning, size_t width) {
  constexpr size_t column = 30;
  std::string text = "  " + title;
  if (text.size() + 2 > column)
    text += '\n' + std::string(column, ' ');
  else
    text.resize(column, ' ');
  bool isFirst = true;
  for (const std::string &line : wrapped(meaning, width - column)) {
    text += (isFirst ? "" : '\n' + std::string(column, ' ')) + line;
    isFirst = false;
  }
  return text + '\n';
}

static std::string groupsText(const CommandTable &command, size_t width) {
  std::string text;
  for (const OptionGroup &group : command.groups) {
    text += '\n' + group.title + ":\n";
    for (const OptionRow &row : group.rows)
      text += twoColumns(row.title(), row.description, width);
  }
  return text;
}

std::string helpText(const CommandTable &command, size_t width) {
  std::string text = "sinter " + command.name + ": " + command.summary +
                     "\n\n" + command.examples + "\nUsage: " + command.usage() +
                     "\n";
  if (!command.positional.empty())
    text += '\n';
  for (const OptionRow &row : command.positional)
    text += twoColumns(row.names.front(), row.description, width);
  return text + groupsText(command, width);
}

std::string helpText(const CommandTable &whole,
                     std::span<const CommandTable> all, size_t width) {
  std::string text =
      whole.examples + "\nUsage: " + whole.usage() + "\n\nCommands:\n";
  for (const CommandTable &command : all)
    text += twoColumns(command.name, command.summary, width);
  return text + groupsText(whole, width);
}

size_t helpWidth() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return 80;
  return std::clamp<size_t>(size.ws_col, 60, 100);
}

} // namespace sinter::driver
