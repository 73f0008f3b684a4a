//===- OptionTable.cpp - the options of a command as plain data -----------===//

#include "driver/OptionTable.h"

#include "runtime/Text.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <span>
#include <string_view>

namespace sinter::driver {

/// What most users need, in this order; before the other groups.
static constexpr std::string_view usual[] = {
    "--input",      "--data",    "--validate", "--calibration", "--output",
    "--output-dir", "--labels",  "--metric",   "--loss",        "--optimizer",
    "--lr",         "--epochs",  "--batch",    "--samples",     "--shape",
    "--repeat",     "--seconds", "--layers",   "--stats",       "--filter",
    "--backend",    "--threads", "--html",     "--json",        "--verbose",
    "--version",    "--help"};

/// Groups behind all others, in this order.
static constexpr std::string_view lastGroups[] = {"Compile", "Rewrites",
                                                  "Processes", "Formats"};

template <size_t count>
static size_t indexIn(const std::string_view (&all)[count],
                      std::string_view name) {
  return static_cast<size_t>(std::ranges::find(all, name) - std::begin(all));
}

std::string OptionRow::title() const {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  if (value.empty() || value == text)
    return text;
  return text + (isValueOptional ? "[=" + value + "]" : " " + value);
}

std::string CommandTable::usage() const {
  std::string text = "sinter";
  if (name.empty())
    return text + " COMMAND [OPTIONS]";
  text += " " + name;
  for (const OptionRow &row : positional)
    text += " " + row.value;
  return text + " [OPTIONS]";
}

/// "name" of "--name"; the first long one, since later ones are former names.
static std::string longName(const CLI::Option &option) {
  return option.get_lnames().empty() ? "" : "--" + option.get_lnames().front();
}

/// The parser's "TEXT:{a,b}" as what stands for the value, and the choices. It
/// writes checks behind a colon, which may be in the type's own name.
static void describeValue(const CLI::Option &option, OptionRow &row) {
  std::string type = option.get_type_name();
  if (const size_t set = type.find(":{"); set != std::string::npos) {
    const size_t end = type.find('}', set);
    row.choices = partsOf(type.substr(set + 2, end - set - 2), ',');
    // What several of the choices make, as in NAME[,NAME], says more.
    const std::string own = type.substr(0, set);
    type = own.empty() || own == "TEXT" ? "" : own;
    for (const std::string &choice : row.choices)
      if (own.empty() || own == "TEXT")
        type += (type.empty() ? "" : "|") + choice;
  }
  for (const char *check : {":INT in [", ":UINT in [", ":FLOAT in [",
                            ":NONNEGATIVE", ":POSITIVE", ":("})
    if (const size_t at = type.find(check); at != std::string::npos)
      type.erase(at);
  if (type == "INT" || type == "UINT")
    type = "N";
  else if (type == "FLOAT")
    type = "X";
  else if (type == "TEXT")
    type = "VALUE";
  row.value = type;
}

/// "; needs --a and --b" of the options in \p all.
static std::string relationText(const char *what,
                                const std::set<CLI::Option *> &all) {
  std::vector<std::string> names;
  for (const CLI::Option *other : all)
    names.push_back(longName(*other));
  std::ranges::sort(names);
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? std::string(what) + " "
                    : std::string(i + 1 == names.size() ? " and " : ", ")) +
            names[i];
  return text;
}

static OptionRow rowOf(const CLI::Option &option) {
  OptionRow row;
  describeValue(option, row);
  if (option.get_positional()) {
    row.names = {option.get_name(true)};
    // "MODEL [MODEL]" if there may be two.
    row.value = row.names.front();
    if (option.get_expected_max() > 1)
      row.value +=
          option.get_expected_max() == 2 ? " [" + row.value + "]" : "...";
    if (!option.get_required())
      row.value = "[" + row.value + "]";
  } else {
    for (const std::string &name : option.get_snames())
      row.names.push_back("-" + name);
    if (const std::string name = longName(option); !name.empty())
      row.names.push_back(name);
    row.isValueOptional = option.get_expected_min() == 0 && !row.value.empty();
  }
  row.description = option.get_description();
  std::vector<std::string> more;
  if (const std::string initial = option.get_default_str();
      !initial.empty() && row.description.find("(default") == std::string::npos)
    more.push_back("default: " + initial);
  for (const std::string &each :
       {relationText("needs", option.get_needs()),
        relationText("not with", option.get_excludes())})
    if (!each.empty())
      more.push_back(each);
  for (size_t i = 0; i < more.size(); ++i)
    row.description += (i == 0 ? " (" : "; ") + more[i];
  if (!more.empty())
    row.description += ")";
  return row;
}

/// Where an option stands: the place of its group, and its own in it.
static std::pair<size_t, size_t> placeOf(const CLI::Option &option,
                                         std::span<const std::string> groups) {
  const size_t own = indexIn(usual, longName(option));
  if (own < std::size(usual))
    return {0, own};
  const std::string &group = option.get_group();
  const size_t last = indexIn(lastGroups, group);
  const size_t first =
      static_cast<size_t>(std::ranges::find(groups, group) - groups.begin());
  return {last < std::size(lastGroups) ? 1 + groups.size() + last : 1 + first,
          0};
}

CommandTable tableOf(const CLI::App &app, const std::string &examples) {
  CommandTable table;
  table.name = app.get_parent() ? app.get_name() : "";
  table.summary = app.get_description();
  table.examples = examples;
  const std::vector<std::string> groups = app.get_groups();
  std::vector<const CLI::Option *> named;
  for (const CLI::Option *option : app.get_options())
    // Options without a group are hidden.
    if (option->get_positional())
      table.positional.push_back(rowOf(*option));
    else if (!option->get_group().empty())
      named.push_back(option);
  std::ranges::stable_sort(named, {}, [&](const CLI::Option *option) {
    return placeOf(*option, groups);
  });
  size_t current = SIZE_MAX;
  for (const CLI::Option *option : named) {
    const size_t place = placeOf(*option, groups).first;
    if (place != current)
      table.groups.push_back(
          {place == 0 ? "Usual options" : option->get_group(), {}});
    current = place;
    table.groups.back().rows.push_back(rowOf(*option));
  }
  return table;
}

} // namespace sinter::driver
