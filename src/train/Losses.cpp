//===- Losses.cpp - loss functions ----------------------------------------===//

#include "train/Losses.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

namespace sinter {

using autodiff::Loss;

static const std::map<std::string, Loss> &kinds() {
  static const std::map<std::string, Loss> all = {
      {"cross-entropy", Loss::CrossEntropy},
      {"binary-cross-entropy", Loss::BinaryCrossEntropy},
      {"mean-squared", Loss::MeanSquared},
      {"mean-absolute", Loss::MeanAbsolute},
      {"huber", Loss::Huber}};
  return all;
}

std::vector<std::string> lossNames() {
  std::vector<std::string> names;
  for (const auto &[name, kind] : kinds())
    names.push_back(name);
  return names;
}

/// Splits off a number after the last colon of \p text.
static std::optional<double> takeWeight(std::string &text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos)
    return std::nullopt;
  double weight = 0;
  const char *end = text.data() + text.size();
  auto [behind, error] = std::from_chars(text.data() + colon + 1, end, weight);
  if (error != std::errc() || behind != end)
    return std::nullopt;
  text.resize(colon);
  return weight;
}

static bool isFile(const std::string &text) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(text, ignored);
}

Result<GivenLoss> parseLoss(const std::string &text) {
  GivenLoss loss;
  std::string rest = text;
  if (!isFile(rest)) {
    if (std::optional<double> weight = takeWeight(rest))
      loss.weight = *weight;
    if (const size_t equal = rest.find('=');
        equal != std::string::npos && !isFile(rest)) {
      loss.output = rest.substr(0, equal);
      rest = rest.substr(equal + 1);
      if (loss.output.empty())
        return usageError("'" + text +
                          "': an output is expected in "
                          "front of '='");
    }
  }
  if (!std::isfinite(loss.weight))
    return usageError("'" + text + "': the weight is no finite number");
  if (auto kind = kinds().find(rest); kind != kinds().end()) {
    loss.kind = kind->second;
    return loss;
  }
  if (!isFile(rest) && !rest.ends_with(".mlir")) {
    std::string names;
    for (const std::string &name : lossNames())
      names += name + ", ";
    return usageError("'" + text + "': " + names +
                      "or a file with a function of an output and a target is "
                      "expected, such as 'huber', 'OUTPUT=huber:0.3' or "
                      "'loss.mlir'");
  }
  loss.kind = Loss::Function;
  loss.file = rest;
  return loss;
}

/// The index of the output \p text, which is a name or an index.
static Result<unsigned> outputNamed(const ModelDescription &model,
                                    const std::string &text) {
  std::string names;
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    if (model.outputs[i].name == text)
      return static_cast<unsigned>(i);
    names += (names.empty() ? "" : ", ") + model.outputs[i].name;
  }
  unsigned number = 0;
  const char *end = text.data() + text.size();
  auto [behind, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && behind == end && number < model.outputs.size())
    return number;
  return usageError("the loss: the model has no output '" + text +
                    "'; its outputs are " + names);
}

namespace {

/// The index of each target, by name.
class Targets {
public:
  unsigned numberOf(const TargetArray &array) {
    for (size_t i = 0; i < all.size(); ++i)
      if (all[i].name == array.name)
        return static_cast<unsigned>(i);
    all.push_back(array);
    return static_cast<unsigned>(all.size() - 1);
  }

  std::vector<TargetArray> all;
};

} // namespace

/// The inputs of the function in \p file besides the output and the target: by
/// its arguments' names.
static Result<std::vector<autodiff::LossArgument>>
moreArguments(const std::string &file, const ModelDescription &model,
              Targets &targets, const std::string &what) {
  using Kind = autodiff::LossArgument::Kind;
  auto function = Session::open(file, {});
  if (!function)
    return function.takeError();
  std::vector<autodiff::LossArgument> more;
  const std::vector<ModelInput> &inputs = (*function)->model().inputs;
  for (size_t i = 2; i < inputs.size(); ++i) {
    const std::string &name = inputs[i].spec.name;
    if (name == "random" || name == "learning_rate" || name == "update")
      return usageError(what + " '" + file + "': the argument '" + name +
                        "' has the name of an input that each step has");
    if (const std::optional<size_t> input = model.inputNamed(name)) {
      more.push_back({Kind::Input, static_cast<unsigned>(*input)});
      continue;
    }
    const auto output =
        std::ranges::find_if(model.outputs, [&](const TensorSpec &each) {
          return each.name == name;
        });
    if (output != model.outputs.end())
      more.push_back({Kind::Output,
                      static_cast<unsigned>(output - model.outputs.begin())});
    else
      more.push_back({Kind::Target, targets.numberOf({name, name})});
  }
  return more;
}

Result<std::vector<TargetArray>>
resolveLosses(const Session &session, const std::vector<GivenLoss> &given,
              const std::string &output, const autodiff::LossOptions &how,
              autodiff::TrainingOptions &training, const std::string &what) {
  const ModelDescription &model = session.model();
  if (model.outputs.empty())
    return usageError("the loss: the model has no output");
  const std::vector<GivenLoss> plain(given.empty() ? 1 : 0);
  std::vector<std::pair<const GivenLoss *, unsigned>> found;
  std::set<unsigned> compared;
  for (const auto *list : {&given, &plain})
    for (const GivenLoss &each : *list) {
      const std::string &name = each.output.empty() ? output : each.output;
      Result<unsigned> number =
          name.empty() ? Result<unsigned>(0u) : outputNamed(model, name);
      if (!number)
        return number.takeError();
      found.push_back({&each, *number});
      compared.insert(*number);
    }
  Targets targets;
  training.losses.clear();
  for (auto [each, number] : found) {
    autodiff::LossOptions loss = how;
    loss.kind = each->kind;
    loss.file = each->file;
    loss.weight = each->weight;
    loss.output = number;
    const std::string own = "target_" + model.outputs[number].name;
    loss.target = targets.numberOf(compared.size() == 1
                                       ? TargetArray{"target", own, number}
                                       : TargetArray{own, own, number});
    if (!loss.file.empty()) {
      auto more = moreArguments(loss.file, model, targets, what);
      if (!more)
        return more.takeError();
      loss.more = std::move(*more);
    }
    training.losses.push_back(std::move(loss));
  }
  training.targets.clear();
  for (const TargetArray &array : targets.all)
    training.targets.push_back(array.name);
  return std::move(targets.all);
}

} // namespace sinter
