//===- Sinter.cpp - the command -------------------------------------------===//

#include "driver/Command.h"
#include "driver/Text.h"
#include "engine/Binding.h"
#include "engine/LibraryFiles.h"
#include "runtime/LibraryContract.h"
#include "runtime/OptionNames.h"
#include "runtime/TemporaryFiles.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <new>
#include <optional>
#include <string_view>

namespace sinter::driver {
namespace {

constexpr const char *examples =
    R"(Compiles trained neural networks to native code.

  sinter run resnet50.onnx --input photo.png --labels labels.txt    run a model
  sinter bench resnet50.onnx --threads 2 --layers                   measure it, layer by layer
  sinter optimize resnet50.onnx -o simple.onnx --stats              simplify it, same format in and out
  sinter convert net.onnx -o net.mlir                               change its format
  sinter compile net.onnx -o build/ --name net                      make code that needs no library
  sinter quantize net.onnx --calibration images/ -o net_int8.onnx   quantise it to int8
  sinter evaluate net_int8.onnx --data test/ --against net.onnx     measure its accuracy
  sinter train net.onnx --data train/ -o trained.onnx               train or fine-tune it
  sinter test models/ --filter resnet                               check it against expected outputs
  sinter compare old.onnx new.onnx                                  find where two models differ
  sinter inspect resnet50.onnx                                      see what is in it
  sinter reduce wrong.mlir -o small.mlir                            shrink a program on which the backends differ

`sinter help COMMAND` has all options of a command, and examples.
Exit codes: 0 done, 1 wrong result, 2 wrong usage, 3 not a valid model, 4 something in it is unsupported, 5 the system failed.
)";

struct SubCommand {
  const char *name;
  const char *summary;
  const char *examples;
  std::unique_ptr<Command> (*make)(CLI::App &app);
};

constexpr SubCommand subCommands[] = {
    {"run", "compile a model for this machine and run it",
     R"(  sinter run resnet50.onnx --input photo.png --labels labels.txt --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225
  sinter run net.onnx --input x=x.npy --input mask=mask.pb --output-dir results/
  sinter run net.onnx --shape x:8x3x224x224 --input random:42
)",
     makeRunCommand},
    {"bench", "measure how fast a model runs",
     R"(  sinter bench resnet50.onnx --threads 2
  sinter bench resnet50.onnx --layers --json > layers.json
  sinter bench net.onnx --input x=x.npy --seconds 10
  sinter bench --machine --json
)",
     makeBenchCommand},
    {"optimize", "simplify a model and write it in its own format",
     R"(  sinter optimize resnet50.onnx -o simple.onnx --stats
  sinter optimize net.mlir -o simple.mlir --disable-patterns LABEL --verify-numerics
  sinter optimize --list-patterns
)",
     makeOptimizeCommand},
    {"convert", "write a model in another format",
     R"(  sinter convert net.onnx -o net.mlir
  sinter convert net.onnx -o net.mlir.bc --shape x:1x3x224x224
)",
     makeConvertCommand},
    {"compile", "compile a model ahead of time, to code that needs no library",
     R"(  sinter compile resnet50.onnx -o build/ --name resnet50
  sinter compile net.onnx -o net.so --shape x:1x3x224x224 --cpu x86-64-v3
  sinter compile net.onnx -o net.o --target aarch64-linux-gnu --cpu cortex-a76 --weights file
)",
     makeCompileCommand},
    {"quantize", "quantise a float model to int8",
     R"(  sinter quantize net.onnx --calibration images/ -o net_int8.onnx --report report.html
  sinter quantize net.onnx --calibration images/ --profile-out net.profile.json
  sinter quantize net.onnx --profile net.profile.json --range max -o net_int8.mlir
  sinter quantize net.onnx --calibration images/ --truth truth.txt --max-loss 0.5 -o net_int8.onnx
)",
     makeQuantizeCommand},
    {"evaluate", "measure how right a model is on labelled samples",
     R"(  sinter evaluate resnet50.onnx --data validation/ --labels labels.txt --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225
  sinter evaluate net_int8.onnx --data test.npz --against net.onnx --max-loss 0.5
  sinter evaluate net.onnx --data test/ --metric top1,cross-entropy --at-least top1=90% --json
)",
     makeEvaluateCommand},
    {"train", "train or fine-tune a model",
     R"(  sinter train net.onnx --data train/ --validate test/ --optimizer adamw --lr 1e-3 --schedule cosine --epochs 10 --batch 64 -o trained.onnx
  sinter train net.onnx --data d.npz --optimizer sgd --momentum 0.9 --lr 0.05 --batch 16 --no-shuffle --log log.jsonl -o trained.onnx
  sinter train net.onnx --data d.npz --frozen 'features.*' --freeze-batch-norm -o tuned.onnx
  sinter train net.onnx --data d.npz --batch 16 --write-step step.mlir
)",
     makeTrainCommand},
    {"test", "run models that come with inputs and expected outputs",
     R"(  sinter test models/
  sinter test models/ --backend interpreter --filter resnet
  sinter test models/ --rtol 1e-3 --range-atol 1e-4 --json
)",
     makeTestCommand},
    {"compare",
     "run two models, or one in two ways, and find where they differ",
     R"(  sinter compare old.onnx new.onnx --html difference.html
  sinter compare net.onnx --backend interpreter,cpu
  sinter compare net.onnx --passes --bisect --reduce small.onnx
  sinter compare net.onnx --input x=x.npy --with other-tool.npz --json
)",
     makeCompareCommand},
    {"inspect", "print what is in a model",
     R"(  sinter inspect resnet50.onnx
  sinter inspect net.onnx --shape x:1x128 --json
)",
     makeInspectCommand},
    {"reduce", "find the smallest program that still fails",
     R"(  sinter reduce wrong.mlir -o small.mlir
  sinter reduce crash.mlir -o small.mlir --command 'other-tool {}'
)",
     makeReduceCommand},
};

std::vector<std::string> commandNames() {
  std::vector<std::string> names;
  for (const SubCommand &command : subCommands)
    names.emplace_back(command.name);
  return names;
}

/// The names of all of an app's options, as on the command line.
std::vector<std::string> optionNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options())
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

int usage(const std::string &message) {
  printError(message);
  return static_cast<int>(ErrorKind::Usage);
}

/// "from 0 to 10" of "0.000000 to 10.000000".
std::string rangeText(const std::string &range) {
  constexpr double endless = 1e300;
  const size_t middle = range.find(" to ");
  if (middle == std::string::npos)
    return "in " + range;
  const double low = std::strtod(range.c_str(), nullptr);
  const double high = std::strtod(range.c_str() + middle + 4, nullptr);
  return text("a number from %.10g ", low) +
         (high > endless ? "on" : text("to %.10g", high));
}

/// CLI11's messages on an option's values in other words: "--x: At Most 1
/// required but received 2" and the like.
std::string inOurWords(const std::string &message) {
  const auto begins = [&](const char *with) {
    return message.starts_with(with);
  };
  if (const std::string convert = "Could not convert: ";
      begins(convert.c_str())) {
    const std::string rest = message.substr(convert.size());
    const size_t sign = rest.find(" = ");
    return sign == std::string::npos
               ? message
               : rest.substr(0, sign) + ": '" + rest.substr(sign + 3) +
                     "' is no number";
  }
  const size_t colon = message.find(": ");
  if (colon == std::string::npos)
    return message;
  const std::string option = message.substr(0, colon);
  std::string what = message.substr(colon + 2);
  if (what.starts_with("At Most 1 required"))
    return option + " is given more than once";
  if (what.ends_with(" missing"))
    return option + " needs a value";
  if (const size_t at = what.find(" not in range "); at != std::string::npos) {
    const std::string value =
        what.starts_with("Value ") ? what.substr(6) : what;
    return option + ": '" + value.substr(0, value.find(" not in range ")) +
           "' is not " + rangeText(what.substr(at + 14));
  }
  if (const size_t at = what.find(" not in {"); at != std::string::npos) {
    std::string names = what.substr(at + 9);
    names = names.substr(0, names.find('}'));
    for (size_t comma = 0;
         (comma = names.find(',', comma)) != std::string::npos; comma += 2)
      names.replace(comma, 1, ", ");
    return option + ": '" + what.substr(0, at) + "' is none of " + names;
  }
  return message;
}

/// The error for the first empty value of an option.
std::optional<std::string> emptyValue(const CLI::App &command) {
  for (const CLI::Option *option : command.get_options())
    for (const std::string &value : option->results())
      if (value.empty())
        return option->get_name() + " is empty";
  return std::nullopt;
}

/// The error for arguments that CLI11 did not understand.
int explain(const CLI::App &app, const CLI::ParseError &error) {
  for (const CLI::App *command : app.get_subcommands())
    for (const std::string &rest : command->remaining()) {
      if (!rest.starts_with("-"))
        return usage("'" + rest + "' is one argument too many for `sinter " +
                     command->get_name() + "`");
      const std::string flag = rest.substr(0, rest.find('='));
      return usage(withHint(didYouMean(flag, optionNames(*command)),
                            usageError("`sinter " + command->get_name() +
                                       "` has no option '" + flag + "'"))
                       .message());
    }
  std::string message = error.what();
  if (message.ends_with('.'))
    message.pop_back();
  return usage(inOurWords(message) + "; --help shows what there is");
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

int runCommand(int argc, char **argv) {
  CLI::App app(examples, "sinter");
  app.set_version_flag("--version", "sinter " SINTER_VERSION);
  app.set_help_flag("-h,--help", "print this help");
  app.require_subcommand(1);
  app.get_formatter()->column_width(36);

  std::vector<std::pair<CLI::App *, std::unique_ptr<Command>>> commands;
  for (const SubCommand &command : subCommands) {
    CLI::App *sub = app.add_subcommand(command.name, command.summary);
    commands.emplace_back(sub, command.make(*sub));
  }
  if (argc < 2) {
    std::fputs(app.help().c_str(), stderr);
    return static_cast<int>(ErrorKind::Usage);
  }
  std::string first = argv[1];
  const std::vector<std::string> names = commandNames();
  // `help` and `help COMMAND` are --help and COMMAND --help.
  std::vector<std::string> words(argv + 1, argv + argc);
  std::ranges::transform(words, words.begin(), currentSpelling);
  if (first == "help") {
    if (argc > 3)
      return usage("'" + std::string(argv[3]) +
                   "' is one argument too many for `sinter help`");
    first = argc == 3 ? argv[2] : "--help";
    words = {first};
    if (argc == 3)
      words.emplace_back("--help");
  }
  if (first.starts_with("-") && first != "-h" && first != "--help" &&
      first != "--version")
    return usage(
        withHint(
            didYouMean(first, std::vector<std::string>{"--help", "--version"}),
            usageError("`sinter` has no option '" + first +
                       "' without a command"))
            .message());
  if (!first.starts_with("-") && std::ranges::find(names, first) == names.end())
    return usage(withHint(suggestion(first, names),
                          usageError("there is no command '" + first + "'"))
                     .message());
  // The examples stand only in the command's own help.
  for (size_t i = 0; i < commands.size(); ++i)
    if (names[i] == first)
      commands[i].first->description("sinter " + first + ": " +
                                     subCommands[i].summary + "\n\n" +
                                     subCommands[i].examples);
  try {
    // CLI11 takes them in reverse.
    std::ranges::reverse(words);
    app.parse(words);
  } catch (const CLI::Success &success) {
    // --help or --version.
    app.exit(success);
    std::cout.flush();
    return afterOutput(0);
  } catch (const CLI::ParseError &error) {
    return explain(app, error);
  }

  for (auto &[sub, command] : commands) {
    if (!sub->parsed())
      continue;
    if (const auto empty = emptyValue(*sub))
      return usage(*empty + "; --help shows what there is");
    Result<int> code = runNaming(*command, *sub);
    if (code)
      return afterOutput(*code);
    printError(code.error().message());
    return static_cast<int>(code.error().kind);
  }
  return 0;
}

/// The same; exceptions are printed as errors of the system.
int runCatching(int argc, char **argv) {
  try {
    // The functions of another build's library may have other parameters.
    if (Result<void> fits = checkContract("sinter", libraryContract); !fits) {
      printError(fits.error().message());
      return static_cast<int>(ErrorKind::System);
    }
    nameOptionsOfCommandLine();
    removeTemporaryFilesOnSignals();
    return runCommand(argc, argv);
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
