//===- PreprocessingOptions.cpp - pre-processing as options ---------------===//

#include "interface/PreprocessingOptions.h"

#include <CLI/CLI.hpp>

namespace sinter {

void addPreprocessing(CLI::App &app, Preprocessing &preprocessing,
                      const std::string &group) {
  for (const PreprocessingOption &option : preprocessingOptions()) {
    const std::string flag = std::string("--") + option.name;
    const auto take = [&preprocessing, &option, flag](const std::string &text) {
      if (!option.set(preprocessing, text))
        throw CLI::ValidationError(flag, "'" + text + "' " + option.wanted);
    };
    app.add_option_function<std::string>(flag, take, option.help)
        ->allow_extra_args(false)
        ->type_name(option.form)
        ->group(group);
  }
}

void addKeptPreprocessing(CLI::App &app, KeptPreprocessing &kept) {
  const char *group = "Pre-processing";
  addPreprocessing(app, kept.given, group);
  app.add_flag("--embed-preprocessing", kept.embeds,
               "make the pre-processing of images a part of the model, whose "
               "input becomes the ui8 pixels of an image of any size")
      ->group(group);
}

Result<void> keepPreprocessing(const KeptPreprocessing &kept,
                               Compiler &compiler, OptimizeRequest &request) {
  if (!kept.any())
    return {};
  Result<std::unique_ptr<CompilerModel>> model = compiler.open(request.input);
  if (!model)
    return model.takeError();
  Result<Preprocessing> known = preprocessingOf((*model)->description());
  if (!known)
    return inFile(known.takeError(), request.input.path);
  Preprocessing all = combined(kept.given, *known);
  if (kept.embeds) {
    request.embeds = imageOptions(all);
    all = {};
    all.channels = ImageChannels::Rgb;
    all.layout = ImageLayout::Nhwc;
  }
  request.metadata.emplace_back(preprocessingKey, preprocessingText(all));
  return {};
}

} // namespace sinter
