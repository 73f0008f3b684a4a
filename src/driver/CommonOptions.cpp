//===- CommonOptions.cpp - options that several sub-commands share --------===//

#include "driver/CommonOptions.h"

#include "driver/Progress.h"
#include "driver/Text.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace sinter::driver {

void addReport(CLI::App &app, CommonOptions &options) {
  app.add_flag("--json", options.json,
               "results as JSON on standard output, all else on standard error")
      ->group("Report");
  app.add_flag("-v,--verbose", options.verbose,
               "how long each stage takes, on standard error")
      ->group("Report");
}

void addTrace(CLI::App &app, CommonOptions &options) {
  app.add_option(
         "--trace", options.traceFile,
         "write the times of compilation and of the layers for ui.perfetto.dev")
      ->type_name("FILE")
      ->group("Report");
}

std::function<void(const std::string &)>
choicePrinter(const CommonOptions &options) {
  if (!options.verbose)
    return {};
  return [](const std::string &line) {
    printTo(stderr, "estimated  %s\n", line.c_str());
  };
}

CompileObserver stageObserver(const CommonOptions &options) {
  return [isTold = options.verbose, isKept = !options.traceFile.empty(),
          kept = options.stages](const CompileStage &stage) {
    if (isTold && stage.kernel.empty())
      printTo(stderr, "%-20s %10.1f ms\n", stage.name.c_str(),
              stage.seconds() * 1e3);
    if (isKept)
      kept->push_back(stage);
  };
}

Result<SessionOptions> sessionOptions(const CommonOptions &options) {
  Result<SessionOptions> session = sinter::sessionOptions(options);
  if (!session)
    return session;
  session->progress = progressLine("compiling", "kernels");
  session->stages = stageObserver(options);
  session->choice = choicePrinter(options);
  return session;
}

} // namespace sinter::driver
