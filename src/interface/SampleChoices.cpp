#include "interface/SampleChoices.h"

#include "runtime/OptionNames.h"

#include <CLI/CLI.hpp>

namespace sinter {

void addLabelledSamples(CLI::App &app, SampleOptions &options,
                        const std::string &group, const std::string &truth,
                        const std::string &form) {
  options.names.truth = optionText("truth");
  options.names.labels = optionText("labels");
  app.add_option("-n,--samples", options.most,
                 "use at most this many, spread over all (default: all)")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->group(group);
  app.add_option("--truth", options.truth, truth)
      ->type_name(form)
      ->group(group);
  app.add_option("--labels", options.labels, "the classes' names, a line each")
      ->type_name("FILE")
      ->group(group);
}

} // namespace sinter
