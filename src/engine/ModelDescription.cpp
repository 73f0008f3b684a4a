//===- ModelDescription.cpp - inputs, outputs and files of a model --------===//

#include "engine/ModelDescription.h"

#include "runtime/Json.h"

#include <algorithm>

namespace sinter {

using nlohmann::json;

TensorSpec ModelInput::specFor(const Shape &given) const {
  TensorSpec wanted = spec;
  if (!ranked || (sizesAreHints && given.size() == spec.shape.size()))
    wanted.shape = given;
  return wanted;
}

std::string ModelInput::text() const {
  std::string text(name(spec.type));
  if (!ranked)
    return text + " of any shape";
  text += " [";
  for (size_t axis = 0; axis < spec.shape.size(); ++axis) {
    text += axis ? ", " : "";
    const bool named = axis < symbols.size() && !symbols[axis].empty();
    if (spec.shape[axis] >= 0)
      text += std::to_string(spec.shape[axis]);
    else
      text += named ? symbols[axis] : "?";
  }
  return text + "]";
}

std::string ModelOutput::text() const {
  ModelInput same;
  same.spec = *this;
  same.ranked = ranked;
  same.symbols = symbols;
  return same.text();
}

std::optional<size_t>
ModelDescription::inputNamed(std::string_view name) const {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].spec.name == name)
      return i;
  if (name.starts_with("%"))
    name.remove_prefix(1);
  std::optional<size_t> found;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].spec.name != name &&
        std::ranges::find(inputs[i].otherNames, name) ==
            inputs[i].otherNames.end())
      continue;
    if (found)
      return std::nullopt;
    found = i;
  }
  return found;
}

std::vector<std::string> ModelDescription::inputNames() const {
  std::vector<std::string> names;
  for (const ModelInput &input : inputs)
    names.push_back(input.spec.name);
  return names;
}

std::vector<std::string> ModelDescription::outputNames() const {
  std::vector<std::string> names;
  for (const ModelOutput &output : outputs)
    names.push_back(output.name);
  return names;
}

bool mayFeedShapes(const TensorSpec &spec) {
  constexpr int64_t longest = 64;
  return spec.shape.size() <= 1 &&
         (spec.shape.empty() || spec.shape[0] <= longest);
}

static json specJson(const TensorSpec &spec) {
  return {
      {"name", spec.name}, {"type", name(spec.type)}, {"shape", spec.shape}};
}

/// Nothing for an unknown type.
static std::optional<TensorSpec> specFrom(const json &value) {
  TensorSpec spec;
  spec.name = value.at("name").get<std::string>();
  const auto type = parseElementType(value.at("type").get<std::string>());
  if (!type)
    return std::nullopt;
  spec.type = *type;
  spec.shape = value.at("shape").get<Shape>();
  return spec;
}

static json inputJson(const ModelInput &input) {
  json value = specJson(input.spec);
  value["symbols"] = input.symbols;
  value["ranked"] = input.ranked;
  value["sizes_are_hints"] = input.sizesAreHints;
  value["feeds_shapes"] = input.feedsShapes;
  value["other_names"] = input.otherNames;
  return value;
}

static json metadataJson(const ModelMetadata &metadata) {
  return {{"format", metadata.format},
          {"format_version", metadata.formatVersion},
          {"producer", metadata.producer},
          {"producer_version", metadata.producerVersion},
          {"domain", metadata.domain},
          {"graph", metadata.graph},
          {"description", metadata.description},
          {"version", metadata.version},
          {"operator_sets", metadata.operatorSets},
          {"entries", metadata.entries},
          {"note", metadata.note}};
}

static ModelMetadata metadataFrom(const json &value) {
  ModelMetadata metadata;
  for (auto [key, text] :
       {std::pair("format", &metadata.format),
        std::pair("format_version", &metadata.formatVersion),
        std::pair("producer", &metadata.producer),
        std::pair("producer_version", &metadata.producerVersion),
        std::pair("domain", &metadata.domain),
        std::pair("graph", &metadata.graph),
        std::pair("description", &metadata.description),
        std::pair("note", &metadata.note)})
    *text = value.at(key).get<std::string>();
  value.at("version").get_to(metadata.version);
  value.at("operator_sets").get_to(metadata.operatorSets);
  value.at("entries").get_to(metadata.entries);
  return metadata;
}

/// Nothing for an unknown type.
static std::optional<ModelInput> inputFrom(const json &value) {
  ModelInput input;
  std::optional<TensorSpec> spec = specFrom(value);
  if (!spec)
    return std::nullopt;
  input.spec = std::move(*spec);
  input.symbols = value.at("symbols").get<std::vector<std::string>>();
  input.ranked = value.at("ranked").get<bool>();
  input.sizesAreHints = value.at("sizes_are_hints").get<bool>();
  input.feedsShapes = value.at("feeds_shapes").get<bool>();
  input.otherNames = value.at("other_names").get<std::vector<std::string>>();
  return input;
}

std::string toJson(const ModelDescription &model) {
  json inputs = json::array(), defaults = json::array(),
       outputs = json::array(), states = json::array();
  for (const ModelInput &input : model.inputs)
    inputs.push_back(inputJson(input));
  for (const ModelInput &input : model.defaults)
    defaults.push_back(inputJson(input));
  for (const ModelOutput &output : model.outputs) {
    outputs.push_back(specJson(output));
    outputs.back()["ranked"] = output.ranked;
    outputs.back()["symbols"] = output.symbols;
  }
  for (const TensorSpec &state : model.states)
    states.push_back(specJson(state));
  const json all = {{"inputs", inputs},
                    {"defaults", defaults},
                    {"outputs", outputs},
                    {"states", states},
                    {"metadata", metadataJson(model.metadata)},
                    {"data_files", model.dataFiles},
                    {"takes_branches", model.takesBranches}};
  return jsonText(all);
}

std::optional<ModelDescription> descriptionFromJson(std::string_view text) {
  try {
    const json all = json::parse(text);
    ModelDescription model;
    for (auto [key, inputs] : {std::pair("inputs", &model.inputs),
                               std::pair("defaults", &model.defaults)})
      for (const json &value : all.at(key)) {
        std::optional<ModelInput> input = inputFrom(value);
        if (!input)
          return std::nullopt;
        inputs->push_back(std::move(*input));
      }
    for (const json &value : all.at("outputs")) {
      std::optional<TensorSpec> spec = specFrom(value);
      if (!spec)
        return std::nullopt;
      model.outputs.emplace_back(std::move(*spec),
                                 value.at("ranked").get<bool>());
      value.at("symbols").get_to(model.outputs.back().symbols);
    }
    for (const json &value : all.at("states")) {
      std::optional<TensorSpec> spec = specFrom(value);
      if (!spec)
        return std::nullopt;
      model.states.push_back(std::move(*spec));
    }
    model.metadata = metadataFrom(all.at("metadata"));
    model.dataFiles = all.at("data_files").get<std::vector<std::string>>();
    model.takesBranches = all.at("takes_branches").get<bool>();
    return model;
  } catch (const json::exception &) {
    return std::nullopt;
  }
}

} // namespace sinter
