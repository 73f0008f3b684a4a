//===- PostSteps.cpp - steps as text and as metadata ----------------------===//

#include "post/PostSteps.h"

#include "data/Labels.h"
#include "runtime/Text.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace sinter {

using StepKind = PostStep::Kind;
using StepJson = nlohmann::json;

static constexpr std::pair<StepKind, const char *> namedSteps[] = {
    {StepKind::Softmax, "softmax"},      {StepKind::TopK, "top-k"},
    {StepKind::ArgmaxMap, "argmax-map"}, {StepKind::Ctc, "ctc"},
    {StepKind::Boxes, "boxes"},
};

std::string nameOf(StepKind kind) {
  for (const auto &[each, name] : namedSteps)
    if (each == kind)
      return name;
  return "";
}

static std::optional<StepKind> kindNamed(const std::string &name) {
  for (const auto &[kind, each] : namedSteps)
    if (name == each)
      return kind;
  return std::nullopt;
}

static std::optional<double> numberIn(const std::string &text) {
  double number = 0;
  const char *end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end && std::isfinite(number)
             ? std::optional(number)
             : std::nullopt;
}

static std::optional<int64_t> wholeIn(const std::string &text) {
  int64_t number = 0;
  const char *end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number)
                                             : std::nullopt;
}

namespace {

/// Reads the settings of a step, name by name.
class StepReader {
public:
  StepReader(PostStep &step, const std::string &text)
      : step(step), text(text) {}

  Result<void> value(const std::string &given);
  Result<void> setting(const std::string &name, const std::string &given);

private:
  Error wrong(const std::string &what) const {
    return usageError("'" + text + "': " + what);
  }
  Result<void> part(const std::string &name, const std::string &given,
                    double &to);
  Result<void> boxSetting(const std::string &name, const std::string &given);
  Result<void> ctcSetting(const std::string &name, const std::string &given);

  PostStep &step;
  const std::string &text;
};

} // namespace

/// A number from 0 to 1.
Result<void> StepReader::part(const std::string &name, const std::string &given,
                              double &to) {
  const auto number = numberIn(given);
  if (!number || *number < 0 || *number > 1)
    return wrong(name + " is a number from 0 to 1, not '" + given + "'");
  to = *number;
  return {};
}

Result<void> StepReader::value(const std::string &given) {
  if (step.kind == StepKind::TopK) {
    const auto number = wholeIn(given);
    if (!number || *number < 1)
      return wrong("a number of classes from 1 on is expected, not '" + given +
                   "'");
    step.most = *number;
    return {};
  }
  if (step.kind != StepKind::Ctc)
    return wrong(nameOf(step.kind) + " has no value");
  Result<std::vector<std::string>> lines = readLabels(given, "ctc");
  if (!lines)
    return lines.takeError();
  step.ctc.characters = std::move(*lines);
  return {};
}

Result<void> StepReader::ctcSetting(const std::string &name,
                                    const std::string &given) {
  if (name == "space" && given.empty()) {
    step.ctc.characters.emplace_back(" ");
    return {};
  }
  if (name == "time-first" && given.empty()) {
    step.ctc.isTimeFirst = true;
    return {};
  }
  if (name != "blank")
    return wrong("ctc has no setting '" + name +
                 "'; there are blank=INDEX, space, time-first and output=NAME");
  const auto number =
      given == "last" ? std::optional<int64_t>(-1) : wholeIn(given);
  if (!number)
    return wrong("the blank is the index of a class, or 'last', not '" + given +
                 "'");
  step.ctc.blank = *number;
  return {};
}

Result<void> StepReader::boxSetting(const std::string &name,
                                    const std::string &given) {
  BoxOptions &boxes = step.boxes;
  if (name == "iou")
    return part(name, given, boxes.overlap.emplace());
  if (name == "score")
    return part(name, given, boxes.score.emplace());
  if (name == "relative" && given.empty()) {
    boxes.areRelative = true;
    return {};
  }
  if (name == "max") {
    const auto number = wholeIn(given);
    if (!number || *number < 1)
      return wrong("max is a number of boxes from 1 on, not '" + given + "'");
    boxes.most = static_cast<size_t>(*number);
    return {};
  }
  if (name == "head") {
    const auto head = boxHeadNamed(given);
    if (!head)
      return wrong("there is no head '" + given +
                   "'; there are auto, yolov8, yolov5, end2end and list");
    boxes.head = *head;
    return {};
  }
  if (name == "form") {
    boxes.form = boxFormNamed(given);
    if (!boxes.form)
      return wrong("there is no form '" + given +
                   "'; there are xyxy, yxyx, xywh and cxcywh");
    return {};
  }
  return wrong("boxes has no setting '" + name +
               "'; there are head, form, iou, score, max, relative and "
               "output=NAME");
}

Result<void> StepReader::setting(const std::string &name,
                                 const std::string &given) {
  if (name == "output") {
    step.output = given;
    return given.empty() ? wrong("output=NAME names an output")
                         : Result<void>();
  }
  if (step.kind == StepKind::Ctc)
    return ctcSetting(name, given);
  if (step.kind == StepKind::Boxes)
    return boxSetting(name, given);
  if (step.kind == StepKind::ArgmaxMap && name == "layout" &&
      (given == "nchw" || given == "nhwc")) {
    step.areClassesLast = given == "nhwc";
    return {};
  }
  return wrong(nameOf(step.kind) + " has no setting '" + name + "'" +
               (step.kind == StepKind::ArgmaxMap
                    ? "; there are layout=nchw|nhwc and output=NAME"
                    : "; there is output=NAME"));
}

/// "name=value" in two; without a value the second is empty.
static std::pair<std::string, std::string>
splitSetting(const std::string &text) {
  const size_t sign = text.find('=');
  return sign == std::string::npos
             ? std::pair(text, std::string())
             : std::pair(text.substr(0, sign), text.substr(sign + 1));
}

Result<PostStep> parsePostStep(const std::string &text) {
  const std::vector<std::string> parts = partsOf(text, ':');
  const auto [name, given] = splitSetting(parts.front());
  PostStep step;
  const std::optional<StepKind> kind = kindNamed(name);
  if (!kind)
    return usageError("'" + text + "': there is no step '" + name +
                      "'; there are softmax, top-k=N, argmax-map, "
                      "ctc=CHARACTERS and boxes");
  step.kind = *kind;
  StepReader reader(step, text);
  if (!given.empty())
    if (Result<void> done = reader.value(given); !done)
      return done.takeError();
  if (step.kind == StepKind::Ctc && given.empty())
    return usageError("'" + text +
                      "': a file of characters is expected, a "
                      "line each: ctc=chars.txt");
  for (size_t i = 1; i < parts.size(); ++i) {
    const auto [setting, value] = splitSetting(parts[i]);
    if (Result<void> done = reader.setting(setting, value); !done)
      return done.takeError();
  }
  return step;
}

std::string textOf(const PostStep &step) {
  switch (step.kind) {
  case StepKind::TopK:
    return "top-k=" + std::to_string(step.most);
  case StepKind::Ctc:
    return text("ctc of %zu characters", step.ctc.characters.size());
  case StepKind::Boxes:
    return "boxes" +
           (step.boxes.score ? text(":score=%g", *step.boxes.score) : "") +
           (step.boxes.overlap ? text(":iou=%g", *step.boxes.overlap) : "");
  case StepKind::Softmax:
  case StepKind::ArgmaxMap:
    break;
  }
  return nameOf(step.kind);
}

StepJson toJson(const PostStep &step) {
  StepJson json = {{"step", nameOf(step.kind)}};
  if (!step.output.empty())
    json["output"] = step.output;
  if (step.kind == StepKind::TopK)
    json["k"] = step.most;
  if (step.kind == StepKind::ArgmaxMap && step.areClassesLast)
    json["layout"] = "nhwc";
  if (step.kind == StepKind::Ctc) {
    json["characters"] = step.ctc.characters;
    json["blank"] = step.ctc.blank;
    if (step.ctc.isTimeFirst)
      json["time_first"] = *step.ctc.isTimeFirst;
  }
  if (step.kind == StepKind::Boxes) {
    if (step.boxes.score)
      json["score"] = *step.boxes.score;
    json["max"] = step.boxes.most;
    if (step.boxes.head != BoxHead::Auto)
      json["head"] = nameOf(step.boxes.head);
    if (step.boxes.form)
      json["form"] = nameOf(*step.boxes.form);
    if (step.boxes.overlap)
      json["iou"] = *step.boxes.overlap;
    if (step.boxes.areRelative)
      json["relative"] = true;
  }
  return json;
}

/// A member as it stands in a step's text.
static std::string settingText(const StepJson &value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

Result<PostStep> postStepFromJson(const StepJson &json) {
  const auto wrong = [&](const char *what) {
    return usageError(std::string("a step of post-processing: ") + what);
  };
  if (!json.is_object() || !json.contains("step") || !json["step"].is_string())
    return wrong("it has no name");
  const std::string name = json["step"].get<std::string>();
  PostStep step;
  const std::optional<StepKind> kind = kindNamed(name);
  if (!kind)
    return wrong("it is not known");
  step.kind = *kind;
  StepReader reader(step, name);
  for (const auto &[key, value] : json.items()) {
    if (key == "step")
      continue;
    if (key == "characters" && step.kind == StepKind::Ctc) {
      if (!value.is_array() ||
          !std::ranges::all_of(
              value, [](const StepJson &each) { return each.is_string(); }))
        return wrong("characters are texts");
      step.ctc.characters = value.get<std::vector<std::string>>();
      continue;
    }
    if (key == "time_first" && step.kind == StepKind::Ctc &&
        value.is_boolean()) {
      step.ctc.isTimeFirst = value.get<bool>();
      continue;
    }
    const bool isFlag = value == true;
    Result<void> done =
        key == "k" ? reader.value(settingText(value))
                   : reader.setting(key, isFlag ? "" : settingText(value));
    if (!done)
      return done.takeError();
  }
  return step;
}

} // namespace sinter
