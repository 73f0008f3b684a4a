//===- Completion.cpp - scripts that complete command lines ---------------===//

#include "driver/Completion.h"

namespace sinter::driver {

/// Whether the value of an option is, or ends with, a path.
static bool takesPath(const OptionRow &row) {
  for (const char *word : {"FILE", "DIR", "PATH", "MODEL"})
    if (row.value.find(word) != std::string::npos)
      return true;
  return false;
}

static std::string joined(const std::vector<std::string> &all,
                          const char *between) {
  std::string text;
  for (const std::string &each : all)
    text += (text.empty() ? "" : between) + each;
  return text;
}

static std::vector<std::string> namesOf(const CommandTable &command) {
  std::vector<std::string> names;
  for (const OptionGroup &group : command.groups)
    for (const OptionRow &row : group.rows)
      names.insert(names.end(), row.names.begin(), row.names.end());
  return names;
}

//===----------------------------------------------------------------------===//
// bash
//===----------------------------------------------------------------------===//

/// What completes the values of a command's options: a branch for each.
static std::string bashValues(const CommandTable &command) {
  std::string text;
  for (const OptionGroup &group : command.groups)
    for (const OptionRow &row : group.rows) {
      if (row.value.empty())
        continue;
      // An optional value comes behind `=` alone.
      if (row.isValueOptional && row.choices.empty())
        continue;
      std::string how = "return";
      if (!row.choices.empty())
        how = "_sinter_words '" + joined(row.choices, " ") + "'; return";
      else if (takesPath(row))
        how = "_sinter_files; return";
      const std::string attached = row.isValueOptional ? "=" : "";
      std::vector<std::string> patterns;
      for (const std::string &name : row.names)
        patterns.push_back("'" + command.name + " " + name + attached + "'");
      text += "    " + joined(patterns, "|") + ") " + how + " ;;\n";
    }
  return text;
}

std::string bashCompletion(const CommandTable &whole,
                           std::span<const CommandTable> all) {
  std::vector<std::string> first;
  std::string options, values;
  for (const CommandTable &command : all) {
    first.push_back(command.name);
    options += "    " + command.name + ") options='" +
               joined(namesOf(command), " ") + "' ;;\n";
    values += bashValues(command);
  }
  const std::string commands = joined(first, " ");
  first.insert(first.end(), {"help", "completion"});
  for (const std::string &name : namesOf(whole))
    first.push_back(name);
  return R"(# Completes command lines of sinter in bash; `sinter completion bash` prints it.

_sinter_words() { COMPREPLY=($(compgen -W "$1" -- "$current")); }

_sinter_files() {
  compopt -o filenames 2>/dev/null
  local IFS=$'\n'
  COMPREPLY=($(compgen -f -- "$current"))
}

_sinter() {
  local command=${COMP_WORDS[1]} options=''
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    _sinter_words ')" +
         joined(first, " ") + R"('
    return
  fi
  # bash makes words of their own of `=`.
  local attached=''
  if [[ $current == '=' ]]; then
    attached='=' current=''
  elif [[ $before == '=' ]]; then
    attached='=' before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case $command in
    help) _sinter_words ')" +
         commands + R"('; return ;;
    completion) _sinter_words 'bash zsh'; return ;;
)" + options +
         R"(  esac
  local place
  for place in "$command $before" "$command $before$attached"; do
  case $place in
)" + values +
         R"(  esac
  done
  if [[ $current == -* ]]; then
    _sinter_words "$options"
  else
    _sinter_files
  fi
}

complete -F _sinter sinter
)";
}

//===----------------------------------------------------------------------===//
// zsh
//===----------------------------------------------------------------------===//

/// \p text in single quotes, with \p special characters escaped for zsh's own
/// syntax.
static std::string zshQuoted(const std::string &text,
                             const std::string &special) {
  std::string result;
  for (const char letter : text) {
    if (special.find(letter) != std::string::npos)
      result += '\\';
    result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return result;
}

/// What _arguments takes of an option.
static std::string zshOption(const OptionRow &row) {
  std::string what = "[" + zshQuoted(row.description, "[]:\\") + "]";
  if (!row.value.empty()) {
    what +=
        (row.isValueOptional ? "::" : ":") + zshQuoted(row.value, ":\\") + ":";
    if (!row.choices.empty())
      what += "(" + joined(row.choices, " ") + ")";
    else if (takesPath(row))
      what += "_files";
  }
  std::string text;
  for (const std::string &name : row.names) {
    const bool isLong = name.starts_with("--");
    const char *form = row.value.empty()     ? ""
                       : !isLong             ? "+"
                       : row.isValueOptional ? "=-"
                                             : "=";
    // Most options may be repeated.
    text += "        '*" + name + form + what + "' \\\n";
  }
  return text;
}

std::string zshCompletion(const CommandTable &whole,
                          std::span<const CommandTable> all) {
  std::string described, cases, names;
  for (const CommandTable &command : all) {
    described += "    '" + command.name + ":" +
                 zshQuoted(command.summary, ":\\") + "'\n";
    names += " " + command.name;
    cases += "    " + command.name + ")\n      _arguments \\\n";
    for (const OptionGroup &group : command.groups)
      for (const OptionRow &row : group.rows)
        cases += zshOption(row);
    cases += "        '*:file:_files' ;;\n";
  }
  described += "    'help:the options of a command'\n"
               "    'completion:print a script that completes command lines'\n";
  for (const OptionGroup &group : whole.groups)
    for (const OptionRow &row : group.rows)
      described += "    '" + row.names.back() + ":" +
                   zshQuoted(row.description, ":\\") + "'\n";
  return "#compdef sinter\n# Completes command lines of sinter in zsh; `sinter "
         "completion zsh` prints it.\n\n_sinter() {\n  local context state "
         "line\n  local -a commands\n  commands=(\n" +
         described +
         "  )\n  _arguments -C '1: :->command' '*:: :->rest'\n"
         "  if [[ $state == command ]]; then\n"
         "    _describe command commands\n    return\n  fi\n"
         "  case $words[1] in\n    help) _values command" +
         names + " ;;\n    completion) _values shell bash zsh ;;\n" + cases +
         "  esac\n}\n\n_sinter \"$@\"\n";
}

} // namespace sinter::driver
