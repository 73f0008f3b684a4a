//===- ArgumentErrors.cpp - messages on arguments that do not parse -------===//

#include "driver/ArgumentErrors.h"

#include "driver/Text.h"
#include "runtime/Result.h"
#include "runtime/Suggestions.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

namespace sinter::driver {

/// The names of an app's options, as on the command line, but for hidden ones.
static std::vector<std::string> optionNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options())
    if (!option->get_lnames().empty() && !option->get_group().empty())
      names.push_back("--" + option->get_lnames().front());
  return names;
}

/// "from 0 to 10" of "0.000000 to 10.000000".
static std::string rangeText(const std::string &range) {
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
static std::string inOurWords(const std::string &message) {
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

std::string explained(const CLI::App &app, const CLI::ParseError &error) {
  for (const CLI::App *command : app.get_subcommands())
    for (const std::string &rest : command->remaining()) {
      if (!rest.starts_with("-"))
        return "'" + rest + "' is one argument too many for `sinter " +
               command->get_name() + "`";
      const std::string flag = rest.substr(0, rest.find('='));
      return withHint(didYouMean(flag, optionNames(*command)),
                      usageError("`sinter " + command->get_name() +
                                 "` has no option '" + flag + "'"))
          .message();
    }
  std::string message = error.what();
  if (message.ends_with('.'))
    message.pop_back();
  return inOurWords(message) + "; --help shows what there is";
}

} // namespace sinter::driver
