//===- PostProcessing.cpp - steps from outputs to answers -----------------===//

#include "post/PostProcessing.h"

#include "metrics/ClassScores.h"
#include "post/ClassMaps.h"
#include "post/PostSteps.h"
#include "runtime/Json.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sinter {

namespace {

/// Applies steps one after the other.
class PostRun {
public:
  PostRun(const std::vector<std::string> &names, std::vector<Tensor> outputs,
          const PostInput &input)
      : names(names), input(input) {
    results.outputs = std::move(outputs);
  }

  Result<void> apply(const PostStep &step);
  PostResults take() { return std::move(results); }

private:
  Result<size_t> outputOf(const PostStep &step) const;
  void softmax(size_t index);
  void rank(const PostStep &step, size_t index);
  Result<void> findBoxes(const PostStep &step);

  const std::vector<std::string> &names;
  const PostInput &input;
  PostResults results;
};

/// The scores of classes that softmax and top-k are of: rows, or with four
/// dimensions one row a pixel.
std::optional<ClassScores> scoresOf(const Tensor &output) {
  if (auto rows = ClassScores::inRows(output);
      rows && (output.rank() < 4 ||
               rows->classes() * rows->rows() == output.dim(0) * output.dim(1)))
    return rows;
  if (output.rank() == 4 && isFloat(output.type()) && output.dim(1) > 1)
    return ClassScores(output, 1);
  return std::nullopt;
}

bool fitsStep(const PostStep &step, const Tensor &output) {
  switch (step.kind) {
  case PostStep::Kind::Softmax:
  case PostStep::Kind::TopK:
    return scoresOf(output).has_value();
  case PostStep::Kind::ArgmaxMap:
    return isInteger(output.type())
               ? output.rank() == 3 || output.rank() == 4
               : output.rank() == 4 && isFloat(output.type());
  case PostStep::Kind::Ctc:
    return isFloat(output.type()) && (output.rank() == 2 || output.rank() == 3);
  case PostStep::Kind::Boxes:
    return true;
  }
  return false;
}

} // namespace

Result<size_t> PostRun::outputOf(const PostStep &step) const {
  std::string list;
  for (size_t i = 0; i < names.size(); ++i) {
    const Tensor &output = results.outputs[i];
    const bool isWanted = step.output.empty() || step.output == names[i];
    if (isWanted && fitsStep(step, output))
      return i;
    if (isWanted)
      list += (list.empty() ? "'" : ", '") + names[i] + "' " +
              toString(output.type(), output.shape());
  }
  if (list.empty())
    return usageError(nameOf(step.kind) + ": the model has no output '" +
                      step.output + "'");
  return usageError(nameOf(step.kind) + " is not of " + list);
}

void PostRun::softmax(size_t index) {
  Tensor &output = results.outputs[index];
  const ClassScores scores = *scoresOf(output);
  // The same order of elements, whatever the dimension of classes.
  Tensor result(ElementType::F32, output.shape());
  const int64_t inner = output.rank() == 4 && scores.rows() != output.dim(0)
                            ? output.dim(2) * output.dim(3)
                            : 1;
  for (int64_t row = 0; row < scores.rows(); ++row) {
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < scores.classes(); ++i)
      largest = std::max(largest, scores.score(row, i));
    for (int64_t i = 0; i < scores.classes(); ++i)
      sum += std::exp(scores.score(row, i) - largest);
    for (int64_t i = 0; i < scores.classes(); ++i)
      result.set<float>(
          (row / inner * scores.classes() + i) * inner + row % inner,
          static_cast<float>(std::exp(scores.score(row, i) - largest) / sum));
  }
  output = std::move(result);
}

void PostRun::rank(const PostStep &step, size_t index) {
  const ClassScores scores = *scoresOf(results.outputs[index]);
  const int64_t most = std::min(step.most, scores.classes());
  std::vector<std::vector<RankedClass>> rows;
  for (int64_t row = 0; row < scores.rows(); ++row) {
    std::vector<RankedClass> all;
    for (int64_t i = 0; i < scores.classes(); ++i)
      if (const double score = scores.score(row, i); !std::isnan(score))
        all.push_back({i, score});
    const auto end =
        all.begin() + std::min<int64_t>(most, static_cast<int64_t>(all.size()));
    std::partial_sort(all.begin(), end, all.end(),
                      [](const RankedClass &a, const RankedClass &b) {
                        return a.score != b.score ? a.score > b.score
                                                  : a.label < b.label;
                      });
    all.erase(end, all.end());
    rows.push_back(std::move(all));
  }
  results.found.push_back({step.kind, names[index], std::move(rows)});
}

Result<void> PostRun::findBoxes(const PostStep &step) {
  auto boxes = decodeBoxes(names, results.outputs, step.boxes, input.width,
                           input.height);
  if (!boxes)
    return boxes.takeError();
  results.found.push_back({step.kind, "", std::move(*boxes)});
  return {};
}

Result<void> PostRun::apply(const PostStep &step) {
  if (step.kind == PostStep::Kind::Boxes && step.output.empty())
    return findBoxes(step);
  Result<size_t> index = outputOf(step);
  if (!index)
    return index.takeError();
  const Tensor &output = results.outputs[*index];
  switch (step.kind) {
  case PostStep::Kind::Softmax:
    softmax(*index);
    return {};
  case PostStep::Kind::TopK:
    rank(step, *index);
    return {};
  case PostStep::Kind::ArgmaxMap: {
    Result<std::vector<Tensor>> maps = classMaps(output, step.areClassesLast);
    if (!maps)
      return maps.takeError();
    results.found.push_back({step.kind, names[*index], std::move(*maps)});
    return {};
  }
  case PostStep::Kind::Ctc: {
    Result<std::vector<DecodedText>> texts = decodeCtc(output, step.ctc);
    if (!texts)
      return texts.takeError();
    results.found.push_back({step.kind, names[*index], std::move(*texts)});
    return {};
  }
  case PostStep::Kind::Boxes: {
    auto boxes = decodeBoxes({names[*index]}, {output}, step.boxes, input.width,
                             input.height);
    if (!boxes)
      return boxes.takeError();
    results.found.push_back({step.kind, names[*index], std::move(*boxes)});
    return {};
  }
  }
  return {};
}

Result<PostProcessing>
PostProcessing::parse(const std::vector<std::string> &texts,
                      const std::string &what) {
  PostProcessing all;
  for (const std::string &text : texts) {
    Result<PostStep> step = parsePostStep(text);
    if (!step)
      return inside(what, step.takeError());
    all.steps.push_back(std::move(*step));
  }
  return all;
}

Result<PostProcessing> PostProcessing::fromMetadata(const std::string &text) {
  const nlohmann::json json =
      nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_array())
    return invalidModel("the post-processing in the model's metadata is no "
                        "list of steps");
  PostProcessing all;
  for (const nlohmann::json &each : json) {
    Result<PostStep> step = postStepFromJson(each);
    // Nobody wrote it on a command line.
    if (!step)
      return inside("the model's metadata", invalidModel(step.error().what));
    all.steps.push_back(std::move(*step));
  }
  return all;
}

Result<PostProcessing> PostProcessing::keptBy(const ModelDescription &model) {
  for (const auto &[key, text] : model.metadata.entries)
    if (key == postprocessingKey)
      return fromMetadata(text);
  return PostProcessing();
}

std::string PostProcessing::toMetadata() const {
  nlohmann::json json = nlohmann::json::array();
  for (const PostStep &step : steps)
    json.push_back(toJson(step));
  return jsonText(json);
}

PostInput imageAmong(std::span<const Shape> inputs, ImageLayout layout) {
  for (const Shape &each : inputs)
    if (each.size() == 3 || each.size() == 4) {
      const size_t end = each.size() - (layout == ImageLayout::Nhwc ? 1 : 0);
      return each[end - 1] > 0 && each[end - 2] > 0
                 ? PostInput{each[end - 1], each[end - 2]}
                 : PostInput();
    }
  return {};
}

PostProcessing PostProcessing::withBoxes(bool wanted, double score) const {
  PostProcessing all = *this;
  const auto isBoxes = [](const PostStep &step) {
    return step.kind == PostStep::Kind::Boxes;
  };
  if (wanted && std::ranges::none_of(all.steps, isBoxes))
    all.steps.emplace_back().kind = PostStep::Kind::Boxes;
  for (PostStep &step : all.steps)
    if (isBoxes(step) && !step.boxes.score)
      step.boxes.score = score;
  return all;
}

std::string PostProcessing::text() const {
  std::string list;
  for (const PostStep &step : steps)
    list += (list.empty() ? "" : ", ") + textOf(step);
  return list;
}

Result<PostResults> PostProcessing::apply(const std::vector<std::string> &names,
                                          std::vector<Tensor> outputs,
                                          const PostInput &input) const {
  PostRun run(names, std::move(outputs), input);
  for (const PostStep &step : steps)
    if (Result<void> done = run.apply(step); !done)
      return done.takeError();
  return run.take();
}

} // namespace sinter
