//===- Sinter.cpp - the command -------------------------------------------===//

#include "driver/ArgumentErrors.h"
#include "driver/CommonOptions.h"
#include "driver/Completion.h"
#include "driver/HelpText.h"
#include "driver/ManualPage.h"
#include "driver/Progress.h"
#include "driver/SubCommands.h"
#include "driver/Text.h"
#include "driver/VersionText.h"
#include "engine/LibraryFiles.h"
#include "runtime/LibraryContract.h"
#include "runtime/MappedFile.h"
#include "runtime/OptionNames.h"
#include "runtime/Suggestions.h"
#include "runtime/TemporaryFiles.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <new>
#include <optional>
#include <string_view>

namespace sinter::driver {
namespace {

int usage(const std::string &message) {
  printError(message);
  return static_cast<int>(ErrorKind::Usage);
}

/// The error for the first empty value of an option.
std::optional<std::string> emptyValue(const CLI::App &command) {
  for (const CLI::Option *option : command.get_options())
    for (const std::string &value : option->results())
      if (value.empty())
        return option->get_name() + " is empty";
  return std::nullopt;
}

/// Runs a command; if memory runs out, the error names the model.
Result<int> runNaming(Command &command, const CLI::App &app) {
  try {
    return command.run();
  } catch (const std::bad_alloc &) {
    const CLI::Option *model = app.get_option_no_throw("MODEL");
    return systemError((model ? model->as<std::string>() + ": " : "") +
                       "there is not enough memory");
  }
}

/// \p code, or that of an error if output was lost: the stream remembers
/// earlier failures.
int afterOutput(int code) {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout))
    return code;
  printError("standard output cannot be written");
  return static_cast<int>(ErrorKind::System);
}

/// The current spelling of the argument \p word: renamed options are taken by
/// their old names for one release.
std::string currentSpelling(std::string word) {
  if (word == "--closed")
    return "--static";
  constexpr std::string_view open = "--open";
  if (word == open || word.starts_with("--open="))
    word.replace(0, open.size(), "--dynamic");
  return word;
}

/// The command with its sub-commands.
class CommandLine {
public:
  CommandLine() : app("", "sinter") {
    app.add_flag("--version", isVersionAsked,
                 "print the version, how it was built, and this machine");
    app.set_help_flag("-h,--help", "print this help");
    app.require_subcommand(0, 1);
    for (const SubCommand &command : subCommands()) {
      CLI::App *sub = app.add_subcommand(command.name, command.summary);
      commands.emplace_back(sub, command.make(*sub));
      names.emplace_back(command.name);
    }
  }

  int run(std::vector<std::string> words) {
    if (words.empty()) {
      std::fputs(help("", 80).c_str(), stderr);
      return static_cast<int>(ErrorKind::Usage);
    }
    const std::string first = words.front();
    if (first == "help")
      return printHelp(words);
    if (first == "completion")
      return printCompletion(words);
    if (std::optional<std::string> wrong = wrongStart(first))
      return usage(*wrong);
    std::ranges::transform(words, words.begin(), currentSpelling);
    try {
      // CLI11 takes them in reverse.
      std::ranges::reverse(words);
      app.parse(words);
    } catch (const CLI::CallForHelp &) {
      const std::vector<CLI::App *> chosen = app.get_subcommands();
      return print(
          help(chosen.empty() ? "" : chosen.front()->get_name(), helpWidth()));
    } catch (const CLI::ParseError &error) {
      return usage(explained(app, error));
    }
    if (isVersionAsked)
      return print(versionText());
    for (size_t i = 0; i < commands.size(); ++i)
      if (commands[i].first->parsed())
        return runParsed(*commands[i].second, *commands[i].first,
                         subCommands()[i].activity);
    return 0;
  }

private:
  static int print(const std::string &text) {
    printTo(stdout, "%s", text.c_str());
    return afterOutput(0);
  }

  static int runParsed(Command &command, const CLI::App &sub,
                       const std::string &activity) {
    if (const auto empty = emptyValue(sub))
      return usage(*empty + "; --help shows what there is");
    const CLI::Option *model = sub.get_option_no_throw("MODEL");
    const Activity shown(model && model->count()
                             ? activity + " " + model->results().front()
                             : activity);
    Result<int> code = runNaming(command, sub);
    if (code)
      return afterOutput(*code);
    Error error = code.takeError();
    if (const CommonOptions *options = command.modelOptions())
      error = blamed(std::move(error), *options);
    printError(error.message());
    return static_cast<int>(error.kind);
  }

  /// What is wrong with the first argument, if it is neither a command nor an
  /// option of `sinter`.
  std::optional<std::string> wrongStart(const std::string &first) const {
    if (first == "-h" || first == "--help" || first == "--version")
      return std::nullopt;
    if (first.starts_with("-"))
      return withHint(didYouMean(first, std::vector<std::string>{"--help",
                                                                 "--version"}),
                      usageError("`sinter` has no option '" + first +
                                 "' without a command"))
          .message();
    return unknownCommand(first);
  }

  std::optional<std::string> unknownCommand(const std::string &name) const {
    if (std::ranges::find(names, name) != names.end())
      return std::nullopt;
    std::vector<std::string> all = names;
    all.insert(all.end(), {"help", "completion"});
    return withHint(suggestion(name, all),
                    usageError("there is no command '" + name + "'"))
        .message();
  }

  CommandTable wholeTable() const { return tableOf(app, taskExamples()); }

  std::vector<CommandTable> tables() const {
    std::vector<CommandTable> all;
    for (size_t i = 0; i < commands.size(); ++i)
      all.push_back(tableOf(*commands[i].first, subCommands()[i].examples));
    return all;
  }

  /// The help of a command; of `sinter` itself if \p name is empty.
  std::string help(const std::string &name, size_t width) const {
    for (const CommandTable &table : tables())
      if (table.name == name)
        return helpText(table, width);
    return helpText(wholeTable(), tables(), width);
  }

  /// `help` and `help COMMAND`; `help --write DIR` writes what is installed.
  int printHelp(const std::vector<std::string> &words) const {
    if (words.size() == 3 && words[1] == "--write")
      return writePages(words[2]);
    if (words.size() > 2)
      return usage("'" + words[2] +
                   "' is one argument too many for `sinter help`");
    const std::string name = words.size() == 2 ? words[1] : "";
    if (!name.empty())
      if (std::optional<std::string> wrong = unknownCommand(name))
        return usage(*wrong);
    return print(help(name, helpWidth()));
  }

  int printCompletion(const std::vector<std::string> &words) const {
    if (words.size() == 2 && words[1] == "bash")
      return print(bashCompletion(wholeTable(), tables()));
    if (words.size() == 2 && words[1] == "zsh")
      return print(zshCompletion(wholeTable(), tables()));
    return usage("`sinter completion` takes the name of a shell: bash or zsh");
  }

  /// Manual pages and completions, in the folders that an installation has.
  int writePages(const std::string &folder) const {
    std::vector<std::pair<std::string, std::string>> files = {
        {"man/man1/sinter.1", manualPage(wholeTable(), tables())},
        {"bash-completion/completions/sinter",
         bashCompletion(wholeTable(), tables())},
        {"zsh/vendor-completions/_sinter",
         zshCompletion(wholeTable(), tables())}};
    for (const CommandTable &table : tables())
      files.emplace_back("man/man1/sinter-" + table.name + ".1",
                         manualPage(table));
    for (const auto &[name, text] : files) {
      const std::filesystem::path path = std::filesystem::path(folder) / name;
      std::error_code failed;
      std::filesystem::create_directories(path.parent_path(), failed);
      if (Result<void> written = writeFileAtomically(path.string(), text);
          !written) {
        printError(written.error().message());
        return static_cast<int>(ErrorKind::System);
      }
    }
    return 0;
  }

  CLI::App app;
  std::vector<std::pair<CLI::App *, std::unique_ptr<Command>>> commands;
  std::vector<std::string> names;
  bool isVersionAsked = false;
};

/// Runs the command; exceptions are printed as errors of the system.
int runCatching(int argc, char **argv) {
  try {
    // The functions of another build's library may have other parameters.
    if (Result<void> fits = checkContract("sinter", libraryContract); !fits) {
      printError(fits.error().message());
      return static_cast<int>(ErrorKind::System);
    }
    nameOptionsOfCommandLine();
    removeTemporaryFilesOnSignals();
    return CommandLine().run({argv + 1, argv + argc});
  } catch (const std::bad_alloc &) {
    printError("out of memory");
  } catch (const std::exception &failure) {
    printError(failure.what());
  }
  return static_cast<int>(ErrorKind::System);
}

} // namespace
} // namespace sinter::driver

int main(int argc, char **argv) {
  return sinter::driver::runCatching(argc, argv);
}
