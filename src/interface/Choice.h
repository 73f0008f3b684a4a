//===- Choice.h - an option with one of a few names -----------------------===//

#ifndef SINTER_INTERFACE_CHOICE_H
#define SINTER_INTERFACE_CHOICE_H

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace sinter {

/// Adds the option \p flag, which sets \p place to the value of a name in
/// \p table. \p initial is the name of what it is otherwise.
template <typename T>
void addChoice(CLI::App &app, const char *flag, T &place,
               const std::map<std::string, T> &table, const char *what,
               const char *initial, const char *group) {
  std::vector<std::string> names;
  for (const auto &[name, value] : table)
    names.push_back(name);
  app.add_option_function<std::string>(
         flag,
         [&place, table](const std::string &name) { place = table.at(name); },
         what)
      ->check(CLI::IsMember(names))
      ->default_str(initial)
      ->group(group);
}

} // namespace sinter

#endif // SINTER_INTERFACE_CHOICE_H
