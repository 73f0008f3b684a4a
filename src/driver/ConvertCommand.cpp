//===- ConvertCommand.cpp - sinter convert --------------------------------===//

#include "driver/Command.h"
#include "driver/CommonOptions.h"
#include "engine/CompilerLibrary.h"
#include "interface/OutputFiles.h"

#include <CLI/CLI.hpp>

namespace sinter::driver {
namespace {

class ConvertCommand : public Command {
public:
  explicit ConvertCommand(CLI::App &app) {
    addModel(app, common);
    addParameters(app, common);
    addFunction(app, common);
    app.add_option(
           "-o,--output", output,
           std::string(
               "where to write it; the extension says in which format: ") +
               writtenForms)
        ->type_name("FILE")
        ->group("Output")
        ->required();
    app.add_option("--target-version", targetVersion,
                   "the oldest version of StableHLO that can read the portable "
                   "artifact, from 0.9.0 on (default: the newest)")
        ->type_name("X.Y.Z")
        ->group("Formats");
    addOverwrite(app, overwrite);
    addShapes(app, common);
    addBinding(app, common);
  }

  const CommonOptions *modelOptions() const override { return &common; }

  Result<int> run() override {
    Result<ModelRequest> input = modelRequest(common);
    if (!input)
      return input.takeError();
    Result<Compiler *> compiler = loadCompiler();
    if (!compiler)
      return compiler.takeError();
    output = (*compiler)->outputFor(common.model, output);
    if (Result<void> good = checkOutputFile("-o", output, ""); !good)
      return good.takeError();
    const ConvertRequest request{std::move(*input), overwrite.allowed(), output,
                                 targetVersion};
    if (Result<void> done = (*compiler)->convert(request); !done)
      return done.takeError();
    return 0;
  }

private:
  CommonOptions common;
  std::string output, targetVersion;
  OverwriteOptions overwrite;
};

} // namespace

std::unique_ptr<Command> makeConvertCommand(CLI::App &app) {
  return std::make_unique<ConvertCommand>(app);
}

} // namespace sinter::driver
