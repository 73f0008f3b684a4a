//===- Evaluation.cpp - how right a model is on labelled samples ----------===//

#include "evaluate/Evaluation.h"

#include "data/SampleQueue.h"
#include "data/SampleRunner.h"
#include "metrics/AveragePrecision.h"
#include "metrics/ClassMetrics.h"
#include "metrics/Overlap.h"
#include "post/BoxDrawing.h"

#include <algorithm>
#include <cmath>

namespace sinter {

namespace {

/// One of the models: its session, and what it has shown so far.
struct Side {
  std::string path;
  std::unique_ptr<Session> session;
  std::optional<SampleRunner> runner;
  std::optional<ModelMetrics> metrics;
  /// How images become its input, for steps behind its outputs.
  ImageOptions how;
};

/// A sample that not all models have run on.
struct OpenSample {
  std::vector<Shape> shapes;
  SampleTruth truth;
  /// By side.
  std::optional<std::vector<Tensor>> outputs[2];
};

class Evaluator {
public:
  explicit Evaluator(const EvaluateOptions &options) : options(options) {}

  Result<EvaluationReport> run();

private:
  Result<void> open(Side &side, const std::string &path);
  Result<void> openRunner(Side &side);
  const SessionOptions &howOf(const Side &side) const {
    return &side == &sides[1] && options.againstSession
               ? *options.againstSession
               : options.session;
  }
  Result<void> choosePost();
  Result<void> add(LoadedSample loaded);
  Result<void> take(Side &side, size_t index, std::vector<Tensor> outputs);
  Result<void> measure(Side &side, const OpenSample &sample,
                       std::vector<Tensor> &outputs);
  Result<void> chooseMetrics(Side &side, const SampleTruth &truth,
                             const std::vector<Tensor> &outputs);
  Result<std::vector<Detection>> postProcess(Side &side,
                                             std::vector<Tensor> &outputs,
                                             const OpenSample &sample) const;
  void compareAnswers(const OpenSample &sample);
  EvaluatedSide reportOf(const Side &side) const;
  EvaluationReport report(double seconds) const;
  bool hasSecond() const { return !options.against.empty(); }
  Side &first() { return sides[0]; }

  const EvaluateOptions &options;
  Side sides[2];
  std::optional<EvaluationData> data;
  PostProcessing post;
  std::vector<std::string> notes;
  /// Those that not all models have run on, by index.
  std::map<size_t, OpenSample> samples;
  size_t done = 0;
  SampledMean agreement = SampledMean(/*countsAnswers=*/true);
};

} // namespace

Result<void> Evaluator::open(Side &side, const std::string &path) {
  auto session = Session::open(path, howOf(side));
  if (!session)
    return session.takeError();
  side.path = path;
  side.session = std::move(*session);
  if (side.session->model().inputs.empty())
    return usageError(path + ": the model has no inputs");
  return {};
}

/// Makes \p side ready for the samples.
Result<void> Evaluator::openRunner(Side &side) {
  SampleRunnerOptions how;
  how.batch = options.batch;
  how.batchName = options.names.batch;
  how.shapes = howOf(side).shapes;
  // Samples do not depend on those before them.
  how.resetsStates = true;
  how.cancellation = options.cancellation.get();
  how.nameOf = [this](size_t index) { return data->nameOf(index); };
  Result<SampleRunner> made = SampleRunner::of(
      *side.session, data->varying(), std::move(how),
      [this, &side](size_t index, std::vector<Tensor> outputs) {
        return take(side, index, std::move(outputs));
      });
  if (!made)
    return inFile(made.takeError(), side.path);
  side.runner.emplace(std::move(*made));
  if (post.empty())
    return {};
  Result<Preprocessing> prepared =
      preprocessingFor(side.session->model(), options.data.pictures);
  if (!prepared)
    return inFile(prepared.takeError(), side.path);
  side.how = imageOptions(*prepared);
  return {};
}

/// Replaces \p outputs by those after all steps, and returns the boxes found,
/// in the pixels of the truth's image.
Result<std::vector<Detection>>
Evaluator::postProcess(Side &side, std::vector<Tensor> &outputs,
                       const OpenSample &sample) const {
  if (post.empty())
    return std::vector<Detection>();
  const PostInput size = imageAmong(sample.shapes, side.how.layout);
  Result<PostResults> results =
      post.apply(side.session->model().outputNames(), std::move(outputs), size);
  if (!results)
    return results.takeError();
  outputs = std::move(results->outputs);
  for (PostResult &found : results->found)
    if (auto *boxes =
            std::get_if<std::vector<std::vector<Detection>>>(&found.value)) {
      if (boxes->size() != 1)
        return usageError("boxes: the outputs are of " +
                          std::to_string(boxes->size()) +
                          " images, and the sample is one");
      if (size.width <= 0 || size.height <= 0 || sample.truth.size.width <= 0)
        return std::move(boxes->front());
      return boxesInImage(std::move(boxes->front()), sample.truth.size,
                          {size.height, size.width}, side.how);
    }
  return std::vector<Detection>();
}

/// The metrics that the first sample allows; the second model's are those of
/// the first.
Result<void> Evaluator::chooseMetrics(Side &side, const SampleTruth &truth,
                                      const std::vector<Tensor> &outputs) {
  std::vector<MetricName> wanted = options.metrics;
  if (wanted.empty() && first().metrics)
    for (const ModelMetrics::Entry &entry : first().metrics->entries())
      wanted.push_back(entry.name);
  MetricRules rules = options.rules;
  rules.areBoxes = data->hasBoxes();
  if (!data->labels().empty())
    rules.mapClasses = static_cast<int64_t>(data->labels().size());
  Result<ModelMetrics> made = ModelMetrics::of(
      wanted, side.session->model().outputNames(), outputs, truth, rules);
  if (!made)
    return inFile(inside(options.names.metrics, made.takeError()), side.path);
  side.metrics = std::move(*made);
  return {};
}

/// Adds what \p outputs of \p sample show; they become those after all steps.
Result<void> Evaluator::measure(Side &side, const OpenSample &sample,
                                std::vector<Tensor> &outputs) {
  Result<std::vector<Detection>> boxes = postProcess(side, outputs, sample);
  if (!boxes)
    return boxes.takeError();
  if (!side.metrics)
    if (Result<void> chosen = chooseMetrics(side, sample.truth, outputs);
        !chosen)
      return chosen;
  return side.metrics->add(outputs, sample.truth, *boxes);
}

/// How many of the answers are the same.
void Evaluator::compareAnswers(const OpenSample &sample) {
  const auto a = sides[0].metrics->answers(*sample.outputs[0], sample.truth);
  const auto b = sides[1].metrics->answers(*sample.outputs[1], sample.truth);
  if (!a || !b || a->size() != b->size())
    return;
  SampleValue value{0, static_cast<double>(a->size())};
  for (size_t k = 0; k < a->size(); ++k)
    value.sum += (*a)[k] == (*b)[k];
  agreement.add(value);
}

/// Takes the outputs of sample \p index from one of the models. Once all have
/// given theirs, they are measured.
Result<void> Evaluator::take(Side &side, size_t index,
                             std::vector<Tensor> outputs) {
  const auto sample = samples.find(index);
  sample->second.outputs[&side - sides] = std::move(outputs);
  const size_t models = hasSecond() ? 2 : 1;
  for (size_t i = 0; i < models; ++i)
    if (!sample->second.outputs[i])
      return {};
  for (size_t i = 0; i < models; ++i)
    if (Result<void> measured =
            measure(sides[i], sample->second, *sample->second.outputs[i]);
        !measured)
      return inFile(inside(data->nameOf(index), measured.takeError()),
                    sides[i].path);
  if (hasSecond())
    compareAnswers(sample->second);
  samples.erase(sample);
  if (options.progress)
    options.progress(++done, data->count());
  return {};
}

/// Gives a sample to the models.
Result<void> Evaluator::add(LoadedSample loaded) {
  if (!loaded.tensors)
    return loaded.tensors.takeError();
  Result<SampleTruth> truth = data->truth(loaded.index);
  if (!truth)
    return truth.takeError();
  OpenSample &sample = samples[loaded.index];
  sample.truth = std::move(*truth);
  for (const Tensor &input : *loaded.tensors)
    sample.shapes.push_back(input.shape());
  for (Side &side : sides)
    if (side.runner)
      if (Result<void> added = side.runner->add(loaded.index, *loaded.tensors);
          !added)
        return inFile(added.takeError(), side.path);
  return {};
}

/// The steps of the options, or those that the model keeps.
Result<void> Evaluator::choosePost() {
  Result<PostProcessing> steps =
      options.post ? Result<PostProcessing>(*options.post)
                   : PostProcessing::keptBy(first().session->model());
  if (!steps)
    return inFile(steps.takeError(), options.model);
  if (!options.post && !steps->empty())
    notes.push_back("post-processing that the model keeps: " + steps->text());
  // Average precision counts all boxes, however low their scores.
  constexpr double leastScore = 1e-3;
  post = steps->withBoxes(data->hasBoxes(), leastScore);
  return {};
}

Result<EvaluationReport> Evaluator::run() {
  if (Result<void> opened = open(sides[0], options.model); !opened)
    return opened.takeError();
  if (hasSecond())
    if (Result<void> opened = open(sides[1], options.against); !opened)
      return inside(options.names.against, opened.takeError());
  Result<EvaluationData> loaded =
      options.given
          ? EvaluationData::of(*options.given, first().session->model())
          : EvaluationData::load(*first().session, options.model, options.data,
                                 options.session.shapes);
  if (!loaded)
    return loaded.takeError();
  data = std::move(*loaded);
  if (Result<void> chosen = choosePost(); !chosen)
    return chosen.takeError();
  size_t most = 1;
  for (Side &side : sides) {
    if (!side.session)
      continue;
    if (Result<void> opened = openRunner(side); !opened)
      return opened.takeError();
    most = std::max(most, static_cast<size_t>(side.runner->size()));
  }
  const Stopwatch watch;
  const unsigned threads = data->loaders();
  SampleQueue queue([this](size_t index) { return data->inputs(index); }, 0,
                    data->count(), threads, 2 * (threads + most));
  while (std::optional<LoadedSample> next = queue.next()) {
    if (Result<void> goesOn =
            Cancellation::check(options.cancellation.get(), "the evaluation");
        !goesOn)
      return goesOn.takeError();
    if (Result<void> added = add(std::move(*next)); !added)
      return added.takeError();
  }
  for (Side &side : sides)
    if (side.runner)
      if (Result<void> ran = side.runner->flush(); !ran)
        return inFile(ran.takeError(), side.path);
  return report(watch.milliseconds() / 1e3);
}

EvaluatedSide Evaluator::reportOf(const Side &side) const {
  EvaluatedSide result{
      side.path, {}, side.runner->milliseconds() / 1e3, side.runner->runs()};
  for (const ModelMetrics::Entry &entry : side.metrics->entries()) {
    EvaluatedMetric &metric = result.metrics.emplace_back();
    metric.name = entry.name;
    if (entry.output)
      metric.output = side.session->model().outputs[*entry.output].name;
    metric.estimate = entry.metric->estimate();
    if (const auto *loss = dynamic_cast<CrossEntropy *>(entry.metric.get()))
      metric.areProbabilities = loss->areProbabilities();
    if (const auto *boxes =
            dynamic_cast<AveragePrecision *>(entry.metric.get())) {
      metric.atHalf = boxes->atHalf();
      metric.classes = boxes->ofClasses();
    }
    if (const auto *maps = dynamic_cast<Overlap *>(entry.metric.get())) {
      const auto all = maps->ofClasses();
      for (size_t i = 0; i < all.size(); ++i)
        if (all[i])
          metric.classes[static_cast<int64_t>(i)] = *all[i];
    }
  }
  return result;
}

EvaluationReport Evaluator::report(double seconds) const {
  EvaluationReport result;
  result.samples = data->count();
  result.seconds = seconds;
  result.areChosen = options.metrics.empty();
  result.labels = data->labels();
  result.notes = notes;
  result.model = reportOf(sides[0]);
  if (sides[0].metrics->hasResizedTruth())
    result.notes.emplace_back("maps of the truth have other sizes than the "
                              "output: each pixel of it is compared with the "
                              "nearest one");
  if (!hasSecond())
    return result;
  result.against = reportOf(sides[1]);
  for (size_t i = 0; i < sides[0].metrics->entries().size(); ++i)
    result.differences.push_back(
        sides[0].metrics->entries()[i].metric->differenceFrom(
            *sides[1].metrics->entries()[i].metric));
  if (agreement.samples() > 0)
    result.agreement = agreement.estimate();
  return result;
}

Result<EvaluationReport> evaluate(const EvaluateOptions &options) {
  return Evaluator(options).run();
}

} // namespace sinter
