//===- DecodePirPorts.cpp - parameters, ports and lists of PIR ------------===//

#include "formats/paddle/file/PirDecoder.h"

#include <algorithm>

namespace sinter::paddle {

bool PirDecoder::addParameter(const RawPirOperator &raw, int64_t block) {
  if (raw.results.size() != 1 || raw.results[0].type.isList)
    return stopAt(raw, "a parameter has not one result");
  const std::string name =
      raw.isShort ? raw.parameterName : raw.string("parameter_name");
  if (name.empty())
    return stopAt(raw, "a parameter without a name");
  if (block != 0)
    return stopAt(raw, "parameter '" + name + "' in a region");
  if (name.starts_with('%') || !names.insert(name).second)
    return stopAt(raw, "the name of parameter '" + name +
                           "' is that of another value");
  Variable variable = raw.results[0].type.variable;
  variable.isPersistable = true;
  variable.stopsGradient = raw.isFrozen;
  PirValue *value = define(raw.results[0].id, name);
  if (!value)
    return false;
  value->type = variable.type;
  declare(block, std::move(variable), name);
  return true;
}

bool PirDecoder::addInput(const RawPirOperator &raw, int64_t block) {
  if (raw.results.size() != 1 || raw.results[0].type.isList || block != 0)
    return stopAt(raw, "an input is a result of the main block");
  const int64_t id = raw.results[0].id;
  const std::string port = raw.string("name");
  std::string name = port;
  if (name.empty() || name.starts_with('%') || !names.insert(name).second)
    name = "%" + std::to_string(id);
  PirValue *value = define(id, name);
  if (!value)
    return false;
  value->type = raw.results[0].type.variable.type;
  declare(block, raw.results[0].type.variable, name);
  program.inputs.push_back({name, port.empty() ? name : port});
  return true;
}

bool PirDecoder::addOutput(const RawPirOperator &raw, int64_t block) {
  const PirValue *value = operand(raw, 0);
  if (problem)
    return false;
  if (!value || value->isList || block != 0)
    return stopAt(raw, "an output is a value of the main block");
  std::string name = raw.string("name");
  if (name.empty())
    name = raw.string("output_name");
  program.outputs.push_back({value->name, name.empty() ? value->name : name});
  columns.push_back(raw.integer("col", static_cast<int64_t>(columns.size())));
  for (const RawPirOperator::Result &result : raw.results)
    if (!define(result.id, value->name))
      return false;
  return true;
}

/// builtin.combine.
bool PirDecoder::addList(const RawPirOperator &raw) {
  std::vector<std::string> elements;
  for (size_t i = 0; i < raw.operands.size(); ++i)
    if (!operandNames(raw, i, elements))
      return false;
  if (raw.results.size() != 1)
    return stopAt(raw, "a list is one result");
  PirValue *value = define(raw.results[0].id, "");
  if (!value)
    return false;
  value->isList = true;
  value->elements = std::move(elements);
  return true;
}

/// builtin.split, builtin.slice: elements of a list.
bool PirDecoder::addParts(const RawPirOperator &raw) {
  const PirValue *list = operand(raw, 0);
  if (problem)
    return false;
  if (!list || !list->isList)
    return stopAt(raw, "its operand is no list");
  // A copy, since defining values invalidates references to others.
  const std::vector<std::string> elements = list->elements;
  const bool isSlice = raw.name == "builtin.slice";
  const int64_t first = isSlice ? raw.integer("index", 0) : 0;
  const auto count = static_cast<int64_t>(elements.size());
  if (first < 0 || first >= std::max<int64_t>(count, 1) ||
      raw.results.size() != (isSlice ? 1 : elements.size()))
    return stopAt(raw, "the list has " + std::to_string(count) + " elements");
  for (size_t i = 0; i < raw.results.size(); ++i) {
    if (first + static_cast<int64_t>(i) >= count)
      return stopAt(raw, "the list is empty");
    PirValue *value = define(raw.results[i].id, elements[first + i]);
    if (!value)
      return false;
    value->type = raw.results[i].type.variable.type;
  }
  return true;
}

bool PirDecoder::addHidden(const RawPirOperator &raw, int64_t block,
                           bool &isHidden) {
  isHidden = true;
  if (raw.name == "builtin.parameter")
    return addParameter(raw, block);
  if (raw.name == "pd_op.data" || raw.name == "pd_op.feed")
    return addInput(raw, block);
  if (raw.name == "pd_op.fetch" || raw.name == "builtin.shadow_output")
    return addOutput(raw, block);
  if (raw.name == "builtin.combine")
    return addList(raw);
  if (raw.name == "builtin.split" || raw.name == "builtin.slice")
    return addParts(raw);
  if (raw.name == "pd_op.create_array" && raw.results.size() == 1)
    return declare(raw, 0, block) != nullptr;
  isHidden = false;
  return true;
}

} // namespace sinter::paddle
