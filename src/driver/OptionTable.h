//===- OptionTable.h - the options of a command as plain data -------------===//
//
// What help, manual pages and completions are made of. They say the same, since
// all of it is read from the parser of the command line.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DRIVER_OPTIONTABLE_H
#define SINTER_DRIVER_OPTIONTABLE_H

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sinter::driver {

struct OptionRow {
  /// "-o" and "--output"; of an argument without a name its place, "MODEL".
  /// Former names that are still taken are not among them.
  std::vector<std::string> names;
  /// "FILE", "cpu|interpreter"; empty if it takes no value.
  std::string value;
  /// Whether the value may be left out: --dynamic[=NAME,...].
  bool isValueOptional = false;
  /// The values that there are, if they are few.
  std::vector<std::string> choices;
  /// What it does, with its default and which options it needs or excludes.
  std::string description;

  /// "-o, --output FILE".
  std::string title() const;
};

struct OptionGroup {
  std::string title;
  std::vector<OptionRow> rows;
};

struct CommandTable {
  /// "run", or "" for `sinter` itself.
  std::string name;
  std::string summary;
  /// Lines of a command each, indented by two.
  std::string examples;
  std::vector<OptionRow> positional;
  /// Those that most users need first, those of one file format last.
  std::vector<OptionGroup> groups;

  /// "sinter run MODEL [OPTIONS]".
  std::string usage() const;
};

/// The options of \p app, a sub-command or the whole command.
CommandTable tableOf(const CLI::App &app, const std::string &examples);

} // namespace sinter::driver

#endif // SINTER_DRIVER_OPTIONTABLE_H
