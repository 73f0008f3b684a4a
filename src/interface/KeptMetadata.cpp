#include "interface/KeptMetadata.h"

#include "data/Labels.h"
#include "post/BoxDecoding.h"
#include "post/PostProcessing.h"
#include "runtime/OptionNames.h"

#include <CLI/CLI.hpp>
#include <algorithm>

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
                 "and zero at first; where its sizes are dynamic, `run` feeds "
                 "it back in streams and with --repeat; may be repeated")
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

/// Whether \p model, which is to keep the steps \p given or has its own, has
/// classes to which \p labels may belong.
static Result<void> checkKeptLabels(const ModelDescription &model,
                                    const std::vector<std::string> &labels,
                                    const std::vector<std::string> &given,
                                    const std::string &what) {
  Result<PostProcessing> post =
      given.empty() ? PostProcessing::keptBy(model)
                    : PostProcessing::parse(given, optionText("post"));
  if (!post)
    return post.takeError();
  const auto isOfBoxes = [](const PostStep &step) {
    return step.kind == PostStep::Kind::Boxes;
  };
  const std::vector<TensorSpec> outputs(model.outputs.begin(),
                                        model.outputs.end());
  if (std::ranges::any_of(post->all(), isOfBoxes) ||
      mayBeDetector(outputs, labels.size()))
    return {};
  Result<void> fit = checkLabels(outputs, labels, what);
  if (fit)
    return fit;
  return withHint("for a detector keep " + optionText("post") + " boxes, too",
                  fit.takeError());
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
  request.checkModel = [labels = std::move(*labels), what,
                        given = kept.post](const ModelDescription &model) {
    return checkKeptLabels(model, labels, given, what);
  };
  return {};
}

} // namespace sinter
