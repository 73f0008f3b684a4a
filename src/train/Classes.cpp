//===- Classes.cpp - the classes of a model and of the data ---------------===//

#include "train/Classes.h"

#include "data/Labels.h"

#include <algorithm>

namespace sinter {

namespace {

/// The scores of the first loss of classes.
struct Scores {
  const autodiff::LossOptions *loss = nullptr;
  const ModelOutput *output = nullptr;
  unsigned dimension = 0;

  /// Negative if it is dynamic.
  int64_t classes() const { return output->shape[dimension]; }
};

} // namespace

/// Whether \p labels (all samples') have the shape of \p output without the
/// dimension \p dimension.
static bool fitsWithout(const Shape &output, size_t dimension,
                        const Tensor &labels) {
  if (labels.rank() + 1 != static_cast<int64_t>(output.size()))
    return false;
  // The first counts samples, of whatever number.
  for (int64_t i = 1; i < labels.rank(); ++i) {
    const size_t own =
        static_cast<size_t>(i) + (i >= static_cast<int64_t>(dimension));
    if (output[own] >= 0 && output[own] != labels.dim(static_cast<size_t>(i)))
      return false;
  }
  return true;
}

/// The dimension of classes: the second or the last, as for the loss.
static unsigned classDimension(const Shape &output, const Tensor *labels) {
  const auto last = static_cast<unsigned>(output.size() - 1);
  const unsigned second = std::min(1U, last);
  unsigned first = second;
  if (last > 1 && (output[1] < 0) != (output[last] < 0))
    first = output[1] < 0 ? last : 1;
  if (labels && isInteger(labels->type()))
    for (const unsigned each : {first, second, last})
      if (fitsWithout(output, each, *labels))
        return each;
  return first;
}

static std::optional<Scores> scoresOf(const TrainOptions &options,
                                      const ModelDescription &model,
                                      const std::vector<Tensor> &targets) {
  for (const autodiff::LossOptions &loss : options.training.losses) {
    const ModelOutput &output = model.outputs[loss.output];
    if (loss.kind != autodiff::Loss::CrossEntropy || !output.ranked ||
        output.shape.empty())
      continue;
    return Scores{&loss, &output,
                  classDimension(output.shape, loss.target < targets.size()
                                                   ? &targets[loss.target]
                                                   : nullptr)};
  }
  return std::nullopt;
}

/// The number of classes in \p targets, labels or a distribution over the
/// classes; nothing if there are none.
static std::optional<int64_t> classesIn(const Tensor &targets,
                                        const Scores &scores) {
  if (!isInteger(targets.type()))
    return targets.rank() > static_cast<int64_t>(scores.dimension)
               ? std::optional(targets.dim(scores.dimension))
               : std::nullopt;
  int64_t most = -1;
  for (int64_t i = 0; i < targets.size(); ++i)
    if (const int64_t label = targets.toInteger(i);
        label != scores.loss->ignoredLabel)
      most = std::max(most, label);
  return most < 0 ? std::nullopt : std::optional(most + 1);
}

/// The classes' names as metadata, if all have one.
static void keepNames(TrainOptions &options,
                      const std::vector<std::string> &names, int64_t classes) {
  if (static_cast<int64_t>(names.size()) != classes ||
      std::ranges::any_of(names, [](const std::string &name) {
        return name.find('\n') != std::string::npos;
      }))
    return;
  std::string text;
  for (const std::string &name : names)
    text += (&name == &names[0] ? "" : "\n") + name;
  options.metadata.emplace_back(labelsKey, std::move(text));
}

Result<void> chooseHead(TrainOptions &options, const ModelDescription &model,
                        const TrainingData *data,
                        const std::function<void(const std::string &)> &note) {
  const TrainNames &names = options.names;
  const std::vector<Tensor> targets =
      data ? data->allTargets().targets : std::vector<Tensor>();
  const std::optional<Scores> scores = scoresOf(options, model, targets);
  if (!scores || scores->classes() < 0)
    return options.classes
               ? Result<void>(usageError(
                     names.classes + ": the model has no output with a known "
                                     "number of classes and cross-entropy as "
                                     "its loss"))
               : Result<void>();
  const std::vector<std::string> known =
      data ? data->classNames() : std::vector<std::string>();
  std::optional<int64_t> found;
  if (!known.empty())
    found = static_cast<int64_t>(known.size());
  else if (scores->loss->target < targets.size())
    found = classesIn(targets[scores->loss->target], *scores);
  const int64_t before = scores->classes();
  if (options.classes == 0 && !found)
    return usageError(names.classes + ": the number of classes is not known "
                                      "from the data; give it");
  const int64_t wanted = !options.classes   ? before
                         : *options.classes ? *options.classes
                                            : *found;
  const std::string counts =
      found ? (data->where() + " has " + std::to_string(*found) + " classes")
            : std::string();
  if (found && *found > wanted && (options.classes || !known.empty()))
    return usageError(
        counts +
        (options.classes
             ? ", and " + names.classes + " is " + std::to_string(wanted)
             : ", and the model's output '" + scores->output->name + "' " +
                   std::to_string(before) + "; " + names.classes +
                   " auto replaces the last layer"));
  if (found && *found < before && !options.classes && note)
    note(counts + ", and the model's output '" + scores->output->name + "' " +
         std::to_string(before) +
         ": the others are trained to be improbable; " + names.classes +
         " auto replaces the last layer");
  if (wanted != before)
    options.head = {scores->loss->output, scores->dimension, wanted,
                    options.seed};
  keepNames(options, known, wanted);
  return {};
}

} // namespace sinter
