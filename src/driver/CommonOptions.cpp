//===- CommonOptions.cpp - options that several sub-commands share --------===//

#include "driver/CommonOptions.h"

#include "driver/Progress.h"
#include "driver/Text.h"

#include <CLI/CLI.hpp>
#include <algorithm>
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
  session->print = [](std::string_view text) {
    makeRoomFor(std::string(text));
    std::fwrite(text.data(), 1, text.size(), stdout);
  };
  return session;
}

Error blamed(Error error, const CommonOptions &options) {
  const bool isOfModel = error.file.empty() || error.file == options.model;
  if (error.kind != ErrorKind::InvalidModel || options.model.empty() ||
      !isOfModel)
    return error;
  CommonOptions asItIs = options;
  asItIs.shapes.clear();
  asItIs.note = [](const std::string &) {};
  Result<SessionOptions> how = sinter::sessionOptions(asItIs);
  if (!how)
    return error;
  auto session = Session::open(options.model, std::move(*how));
  if (!session)
    return error;
  const bool leavesSizes = std::ranges::any_of(
      (*session)->model().inputs, [](const ModelInput &input) {
        return !input.ranked || input.sizesAreHints ||
               std::ranges::find(input.spec.shape, -1) !=
                   input.spec.shape.end() ||
               (isInteger(input.spec.type) && mayFeedShapes(input.spec));
      });
  if (!leavesSizes)
    return error;
  error.kind = ErrorKind::Usage;
  return withHint("the model does not take these sizes or values",
                  std::move(error));
}

} // namespace sinter::driver
