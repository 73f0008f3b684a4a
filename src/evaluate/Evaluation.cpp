//===- Evaluation.cpp - how right a model is on labelled samples ----------===//

#include "evaluate/Evaluation.h"

#include "data/SampleQueue.h"
#include "evaluate/SampleBatches.h"
#include "metrics/AveragePrecision.h"
#include "metrics/ClassMetrics.h"
#include "metrics/Overlap.h"
#include "post/BoxDrawing.h"
#include "runtime/CpuCount.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace sinter {

namespace {

/// Samples that are loaded and evaluated together.
struct LoadedSamples {
  std::vector<std::vector<Tensor>> inputs;
  std::vector<SampleTruth> truths;
};

/// One of the models: its session, and what it has shown so far.
struct Side {
  std::string path;
  std::unique_ptr<Session> session;
  std::optional<SampleRunner> runner;
  std::optional<ModelMetrics> metrics;
};

class Evaluator {
public:
  explicit Evaluator(const EvaluateOptions &options) : options(options) {}

  Result<EvaluationReport> run();

private:
  Result<void> open(Side &side, const std::string &path);
  Result<void> choosePost();
  Result<LoadedSamples> load(SampleQueue &queue) const;
  Result<void> take(const LoadedSamples &loaded, size_t begin);
  Result<std::vector<std::vector<Tensor>>>
  takeInto(Side &side, const LoadedSamples &loaded, size_t begin);
  Result<std::vector<Detection>> postProcess(Side &side,
                                             std::vector<Tensor> &outputs,
                                             const std::vector<Tensor> &inputs,
                                             const SampleTruth &truth) const;
  void compareAnswers(const std::vector<std::vector<Tensor>> &one,
                      const std::vector<std::vector<Tensor>> &other,
                      const LoadedSamples &loaded);
  EvaluatedSide reportOf(const Side &side) const;
  EvaluationReport report(double seconds) const;
  bool hasSecond() const { return !options.against.empty(); }
  Error inSample(Error error, size_t index) const {
    return inside(data->nameOf(index), std::move(error));
  }

  const EvaluateOptions &options;
  Side first, second;
  std::optional<EvaluationData> data;
  PostProcessing post;
  std::vector<std::string> notes;
  size_t step = 1;
  SampledMean agreement = SampledMean(/*countsAnswers=*/true);
};

} // namespace

Result<void> Evaluator::open(Side &side, const std::string &path) {
  auto session = Session::open(path, options.session);
  if (!session)
    return session.takeError();
  side.path = path;
  side.session = std::move(*session);
  if (side.session->model().inputs.empty())
    return usageError(path + ": the model has no inputs");
  Result<BatchForm> form = batchFormOf(side.session->model(), options.batch);
  if (!form)
    return inFile(inside(options.names.batch, form.takeError()), path);
  step = std::max(step, static_cast<size_t>(form->rows));
  side.runner.emplace(*side.session, path, *form);
  return {};
}

/// The next samples of \p queue, as many as are run together.
Result<LoadedSamples> Evaluator::load(SampleQueue &queue) const {
  LoadedSamples loaded;
  while (loaded.inputs.size() < step) {
    std::optional<LoadedSample> next = queue.next();
    if (!next)
      break;
    if (!next->tensors)
      return next->tensors.takeError();
    Result<SampleTruth> truth = data->truth(next->index);
    if (!truth)
      return truth.takeError();
    loaded.inputs.push_back(std::move(*next->tensors));
    loaded.truths.push_back(std::move(*truth));
  }
  return loaded;
}

static std::vector<std::string> namesOfOutputs(const Session &session) {
  std::vector<std::string> names;
  for (const ModelOutput &each : session.model().outputs)
    names.push_back(each.name);
  return names;
}

/// Replaces \p outputs by those after all steps, and returns the boxes found,
/// in the pixels of the truth's image.
Result<std::vector<Detection>>
Evaluator::postProcess(Side &side, std::vector<Tensor> &outputs,
                       const std::vector<Tensor> &inputs,
                       const SampleTruth &truth) const {
  if (post.empty())
    return std::vector<Detection>();
  Result<Preprocessing> prepared =
      preprocessingFor(side.session->model(), options.data.pictures);
  if (!prepared)
    return prepared.takeError();
  const ImageOptions how = imageOptions(*prepared);
  std::vector<Shape> shapes;
  for (const Tensor &input : inputs)
    shapes.push_back(input.shape());
  const PostInput size = imageAmong(shapes, how.layout);
  Result<PostResults> results =
      post.apply(namesOfOutputs(*side.session), std::move(outputs), size);
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
      if (size.width <= 0 || size.height <= 0 || truth.size.width <= 0)
        return std::move(boxes->front());
      return boxesInImage(std::move(boxes->front()), truth.size,
                          {size.height, size.width}, how);
    }
  return std::vector<Detection>();
}

Result<std::vector<std::vector<Tensor>>>
Evaluator::takeInto(Side &side, const LoadedSamples &loaded, size_t begin) {
  auto outputs = side.runner->run(loaded.inputs);
  if (!outputs)
    return inSample(outputs.takeError(), begin);
  std::vector<std::vector<Detection>> boxes;
  for (size_t i = 0; i < outputs->size(); ++i) {
    Result<std::vector<Detection>> found =
        postProcess(side, (*outputs)[i], loaded.inputs[i], loaded.truths[i]);
    if (!found)
      return inFile(inSample(found.takeError(), begin + i), side.path);
    boxes.push_back(std::move(*found));
  }
  if (!side.metrics) {
    std::vector<MetricName> wanted = options.metrics;
    // The second model's are those of the first.
    if (wanted.empty() && first.metrics)
      for (const ModelMetrics::Entry &entry : first.metrics->entries())
        wanted.push_back(entry.name);
    MetricRules rules = options.rules;
    rules.areBoxes = data->hasBoxes();
    if (!data->labels().empty())
      rules.mapClasses = static_cast<int64_t>(data->labels().size());
    Result<ModelMetrics> made =
        ModelMetrics::of(wanted, namesOfOutputs(*side.session),
                         outputs->front(), loaded.truths.front(), rules);
    if (!made)
      return inFile(inside(options.names.metrics, made.takeError()), side.path);
    side.metrics = std::move(*made);
  }
  for (size_t i = 0; i < outputs->size(); ++i)
    if (Result<void> done =
            side.metrics->add((*outputs)[i], loaded.truths[i], boxes[i]);
        !done)
      return inFile(inSample(done.takeError(), begin + i), side.path);
  return outputs;
}

/// How many of the answers are the same.
void Evaluator::compareAnswers(const std::vector<std::vector<Tensor>> &one,
                               const std::vector<std::vector<Tensor>> &other,
                               const LoadedSamples &loaded) {
  for (size_t i = 0; i < one.size(); ++i) {
    const auto a = first.metrics->answers(one[i], loaded.truths[i]);
    const auto b = second.metrics->answers(other[i], loaded.truths[i]);
    if (!a || !b || a->size() != b->size())
      continue;
    SampleValue value{0, static_cast<double>(a->size())};
    for (size_t k = 0; k < a->size(); ++k)
      value.sum += (*a)[k] == (*b)[k];
    agreement.add(value);
  }
}

Result<void> Evaluator::take(const LoadedSamples &loaded, size_t begin) {
  auto outputs = takeInto(first, loaded, begin);
  if (!outputs)
    return outputs.takeError();
  if (!hasSecond())
    return {};
  auto others = takeInto(second, loaded, begin);
  if (!others)
    return others.takeError();
  compareAnswers(*outputs, *others, loaded);
  return {};
}

/// The steps of the options, or those that the model keeps.
Result<void> Evaluator::choosePost() {
  Result<PostProcessing> steps =
      options.post ? Result<PostProcessing>(*options.post)
                   : PostProcessing::keptBy(first.session->model());
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
  if (Result<void> done = open(first, options.model); !done)
    return done.takeError();
  if (hasSecond())
    if (Result<void> done = open(second, options.against); !done)
      return inside(options.names.against, done.takeError());
  Result<EvaluationData> samples = EvaluationData::load(
      *first.session, options.model, options.data, options.session.shapes);
  if (!samples)
    return samples.takeError();
  data = std::move(*samples);
  if (Result<void> done = choosePost(); !done)
    return done.takeError();
  const auto start = std::chrono::steady_clock::now();
  const unsigned threads = usableCpuCount();
  SampleQueue queue([this](size_t index) { return data->inputs(index); }, 0,
                    data->count(), threads, 2 * (threads + step));
  for (size_t begin = 0; begin < data->count(); begin += step) {
    Result<LoadedSamples> loaded = load(queue);
    if (!loaded)
      return loaded.takeError();
    if (Result<void> done = take(*loaded, begin); !done)
      return done.takeError();
    if (options.progress)
      options.progress(std::min(begin + step, data->count()), data->count());
  }
  return report(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count());
}

EvaluatedSide Evaluator::reportOf(const Side &side) const {
  EvaluatedSide result{
      side.path, {}, side.runner->seconds(), side.runner->runs()};
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
  result.model = reportOf(first);
  if (first.metrics->hasResizedTruth())
    result.notes.emplace_back("maps of the truth have other sizes than the "
                              "output: each pixel of it is compared with the "
                              "nearest one");
  if (!hasSecond())
    return result;
  result.against = reportOf(second);
  for (size_t i = 0; i < first.metrics->entries().size(); ++i)
    result.differences.push_back(
        first.metrics->entries()[i].metric->differenceFrom(
            *second.metrics->entries()[i].metric));
  if (agreement.samples() > 0)
    result.agreement = agreement.estimate();
  return result;
}

Result<EvaluationReport> evaluate(const EvaluateOptions &options) {
  return Evaluator(options).run();
}

} // namespace sinter
