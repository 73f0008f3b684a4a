#include "interface/KeptMetadata.h"

#include "data/Labels.h"
#include "post/PostProcessing.h"
#include "runtime/OptionNames.h"

#include <CLI/CLI.hpp>

namespace sinter {

void addKeptMetadata(CLI::App &app, KeptMetadata &kept) {
  app.add_option("--labels", kept.labels,
                 "keep the names of the classes in the model, from a file with "
                 "one a line in the order of the scores: run uses them")
      ->type_name("FILE")
      ->group("Keep");
  app.add_option("--state", kept.states,
                 "an output that becomes an input of the next run, as in "
                 "stateN=state, is from now on a state: kept from run to run, "
                 "and zero at first; may be repeated")
      ->allow_extra_args(false)
      ->type_name("OUTPUT=INPUT")
      ->group("Keep");
  app.add_option("--post", kept.post,
                 "keep a step of post-processing in the model, as `run` takes "
                 "it: run and evaluate use it; may be repeated")
      ->allow_extra_args(false)
      ->type_name("STEP")
      ->group("Keep");
}

Result<void> keepInModel(const KeptMetadata &kept, OptimizeRequest &request) {
  request.states = kept.states;
  if (!kept.post.empty()) {
    Result<PostProcessing> post =
        PostProcessing::parse(kept.post, optionText("post"));
    if (!post)
      return post.takeError();
    request.metadata.emplace_back(postprocessingKey, post->toMetadata());
  }
  if (kept.labels.empty())
    return {};
  const std::string what = optionText("labels") + " '" + kept.labels + "'";
  Result<std::vector<std::string>> labels =
      readLabels(kept.labels, optionText("labels"));
  if (!labels)
    return labels.takeError();
  Result<std::string> text = labelsText(*labels);
  if (!text)
    return inside(what, text.takeError());
  request.metadata.emplace_back(labelsKey, std::move(*text));
  request.checkModel = [labels = std::move(*labels),
                        what](const ModelDescription &model) {
    const std::vector<TensorSpec> outputs(model.outputs.begin(),
                                          model.outputs.end());
    return checkLabels(outputs, labels, what);
  };
  return {};
}

} // namespace sinter
