#include "interface/PostChoices.h"

#include "runtime/OptionNames.h"

#include <CLI/CLI.hpp>

namespace sinter {

void addPostSteps(CLI::App &app, std::vector<std::string> &steps,
                  const std::string &group) {
  app.add_option(
         "--post", steps,
         "a step from outputs to answers: softmax, top-k=N, argmax-map, "
         "ctc=CHARACTERS or boxes, with settings behind colons, as in "
         "boxes:head=yolov8:iou=0.5; may be repeated (default: the "
         "steps that the model keeps; none: no step)")
      ->allow_extra_args(false)
      ->type_name("STEP")
      ->group(group);
}

Result<std::optional<PostProcessing>>
postStepsOf(const std::vector<std::string> &steps) {
  if (steps.empty())
    return std::optional<PostProcessing>();
  if (steps == std::vector<std::string>{"none"})
    return std::optional(PostProcessing());
  Result<PostProcessing> parsed =
      PostProcessing::parse(steps, optionText("post"));
  if (!parsed)
    return parsed.takeError();
  return std::optional(std::move(*parsed));
}

} // namespace sinter
