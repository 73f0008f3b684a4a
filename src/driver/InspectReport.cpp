//===- InspectReport.cpp - what sinter inspect prints ---------------------===//

#include "driver/InspectReport.h"

#include "driver/ProgramPlan.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "interface/ModelFigures.h"
#include "runtime/Result.h"
#include "runtime/Utf8.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace sinter::driver {

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// One line of a table: the role, the name and the type.
static void printRow(const char *what, const std::string &name,
                     const std::string &rest) {
  printTo(stdout, "%-7s %-28s %s\n", what, oneLine(name).c_str(), rest.c_str());
}

/// A line of what the file says of itself, if it says anything.
static void printSaid(const char *what, const std::string &text) {
  if (!text.empty())
    printTo(stdout, "%-11s %s\n", what, oneLine(text).c_str());
}

/// The most bytes of a text that the file has; --json has all of it.
static constexpr size_t longestText = 100;

/// The name of ONNX's own operator set is empty in files.
static std::string operatorSetText(const ModelMetadata &metadata) {
  std::string text;
  for (const auto &[name, version] : metadata.operatorSets)
    text += (text.empty() ? "" : ", ") + (name.empty() ? "ai.onnx" : name) +
            " " + std::to_string(version);
  return text;
}

static void printMetadata(const ModelMetadata &metadata) {
  const auto both = [](const std::string &name, const std::string &version) {
    return name + (name.empty() || version.empty() ? "" : " ") + version;
  };
  printSaid("format", both(metadata.format, metadata.formatVersion));
  printSaid("opset", operatorSetText(metadata));
  printSaid("producer", both(metadata.producer, metadata.producerVersion));
  printSaid("domain", metadata.domain);
  printSaid("graph", metadata.graph);
  printSaid("version",
            metadata.version ? std::to_string(metadata.version) : "");
  printSaid("about", shortened(metadata.description, longestText));
  for (const auto &[key, value] : metadata.entries)
    printSaid("metadata", key + " = " + shortened(oneLine(value), longestText));
}

static void printSignature(const ModelDescription &model) {
  for (const ModelInput &input : model.inputs) {
    std::string also;
    for (const std::string &other : input.otherNames)
      also += (also.empty() ? "  also " : ", ") + oneLine(other);
    printRow("input", input.spec.name, input.text() + also);
  }
  for (const ModelInput &input : model.defaults)
    printRow("input", input.spec.name,
             input.text() + "  has a default, which --input or --bind "
                            "replaces");
  for (const ModelOutput &output : model.outputs)
    printRow("output", output.name, output.text());
}

/// The number of tensors of each role, and their bytes: "3 temporary (12.0
/// kB)".
/// Tensors with dynamic dimensions count without bytes.
static std::string rolesText(const std::vector<TensorFacts> &tensors) {
  std::string line;
  for (const Role role : {Role::Constant, Role::Input, Role::Output,
                          Role::State, Role::Temporary}) {
    size_t count = 0;
    double bytes = 0;
    bool isDynamic = false;
    for (const TensorFacts &tensor : tensors)
      if (tensor.role == role) {
        ++count;
        bytes += static_cast<double>(tensor.bytes.value_or(0));
        isDynamic |= !tensor.bytes;
      }
    if (count)
      line += (line.empty() ? "" : ", ") + std::to_string(count) + " " +
              std::string(name(role)) + " (" + (isDynamic ? "at least " : "") +
              bytesText(bytes) + ")";
  }
  return line;
}

static void printTensors(const std::vector<TensorFacts> &tensors) {
  for (const TensorFacts &tensor : tensors)
    printTo(stdout, "  %-9s  %-28s %-20s %10s  %s\n",
            std::string(name(tensor.role)).c_str(),
            oneLine(tensor.name).c_str(), tensor.type.c_str(),
            tensor.bytes ? std::to_string(*tensor.bytes).c_str() : "?",
            tensor.op.c_str());
}

/// A table of names, with how many there are of each.
template <typename Named>
static void printCounts(const char *title, const Named &counts) {
  int64_t all = 0;
  for (const auto &[name, count] : counts)
    all += count;
  printTo(stdout, "%-11s %lld\n", title, static_cast<long long>(all));
  for (const auto &[name, count] : counts)
    printTo(stdout, "%8lld  %s\n", static_cast<long long>(count),
            oneLine(name).c_str());
}

static void printFacts(const GraphFacts &facts, bool withTensors) {
  for (const StateFacts &state : facts.state)
    printTo(stdout, "state   %-28s %s\n", oneLine(state.spec.name).c_str(),
            summaryText(state.initial).c_str());
  printTo(stdout, "parameters  %lld, %s\n",
          static_cast<long long>(facts.parameters),
          bytesText(static_cast<double>(facts.parameterBytes)).c_str());
  printTo(stdout, "tensors     %s\n", rolesText(facts.tensors).c_str());
  if (withTensors)
    printTensors(facts.tensors);
}

void printInspected(const InspectedModel &model, const InspectTables &tables) {
  printMetadata(model.description.metadata);
  printSignature(model.description);
  if (model.facts)
    printFacts(*model.facts, tables.tensors);
  const std::string &note = model.flops.note;
  printTo(stdout, "FLOPs       %s%s\n", flopsText(model.flops).c_str(),
          note.empty() ? "" : (" (" + oneLine(note) + ")").c_str());
  printCounts("operators", model.counts.operators);
  if (model.facts && tables.operations)
    printCounts("operations", model.facts->operations);
  if (model.program)
    printPlan(*model.program, tables.steps);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static nlohmann::json stateJson(const StateFacts &state) {
  nlohmann::json json = summaryJson(state.initial);
  json["name"] = state.spec.name;
  return json;
}

static nlohmann::json tensorJson(const TensorFacts &tensor) {
  return {{"name", tensor.name},
          {"role", name(tensor.role)},
          {"type", tensor.type},
          {"bytes",
           tensor.bytes ? nlohmann::json(*tensor.bytes) : nlohmann::json()},
          {"op", tensor.op}};
}

static nlohmann::json operationsJson(const Counts &counts) {
  nlohmann::json operations = nlohmann::json::object();
  for (const auto &[name, count] : counts)
    operations[name] = count;
  return operations;
}

void printInspectedJson(const InspectedModel &model) {
  nlohmann::json result = nlohmann::json::parse(toJson(model.description));
  result["model"] = model.path;
  result["notes"] = model.notes;
  result["precision"] = model.precision;
  result["operators"] = operatorsJson(model.counts);
  result["weight_bytes"] = model.counts.weightBytes;
  result["flops"] = flopsJson(model.flops);
  result["flops_note"] = model.flops.note;
  for (const char *key : {"state", "tensors", "operations", "parameters",
                          "parameter_bytes", "plan"})
    result[key] = nlohmann::json();
  if (const std::optional<GraphFacts> &facts = model.facts) {
    result["state"] = result["tensors"] = nlohmann::json::array();
    for (const StateFacts &state : facts->state)
      result["state"].push_back(stateJson(state));
    for (const TensorFacts &tensor : facts->tensors)
      result["tensors"].push_back(tensorJson(tensor));
    result["operations"] = operationsJson(facts->operations);
    result["parameters"] = facts->parameters;
    result["parameter_bytes"] = facts->parameterBytes;
  }
  if (model.program)
    result["plan"] = planJson(*model.program);
  printJsonLine(result);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

void printFunctions(const std::vector<FunctionDescription> &functions) {
  for (const FunctionDescription &function : functions) {
    int64_t operations = 0;
    for (const auto &[name, count] : function.operations)
      operations += count;
    printTo(stdout, "function @%s, %lld operation%s\n",
            oneLine(function.name).c_str(), static_cast<long long>(operations),
            operations == 1 ? "" : "s");
    for (const FunctionDescription::Argument &each : function.inputs)
      printRow("  input", each.name, each.type);
    for (const FunctionDescription::Argument &each : function.outputs)
      printRow("  output", each.name, each.type);
  }
}

void printFunctionsJson(const std::string &model,
                        const std::vector<FunctionDescription> &functions,
                        const std::string &note) {
  const auto arguments =
      [](const std::vector<FunctionDescription::Argument> &all) {
        nlohmann::json list = nlohmann::json::array();
        for (const FunctionDescription::Argument &each : all)
          list.push_back({{"name", each.name}, {"type", each.type}});
        return list;
      };
  nlohmann::json all = nlohmann::json::array();
  for (const FunctionDescription &function : functions)
    all.push_back({{"name", function.name},
                   {"inputs", arguments(function.inputs)},
                   {"outputs", arguments(function.outputs)},
                   {"operations", operationsJson(function.operations)}});
  printJsonLine({{"model", model},
                 {"functions", all},
                 {"notes", nlohmann::json::array({note})}});
}

} // namespace sinter::driver
