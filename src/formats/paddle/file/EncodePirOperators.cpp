//===- EncodePirOperators.cpp - encodes new operators for PIR -------------===//

#include "formats/paddle/file/DataTypes.h"
#include "formats/paddle/file/PirEncoder.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace sinter::paddle {

/// The arguments of a slot; none if there is no such slot.
static const std::vector<std::string> &
argumentsOf(const Operator &op, std::string_view slot, bool isOutput = false) {
  static const std::vector<std::string> none;
  const auto *found = isOutput ? op.output(slot) : op.input(slot);
  return found ? *found : none;
}

static bool isSet(const Operator &op, std::string_view attribute) {
  const AttributeValue *value = op.attribute(attribute);
  return value && equalsTableValue(*value, "true");
}

/// Appends `{"AT":value,"N":name}` to \p out.
static bool appendNamed(std::string &out, std::string_view name,
                        const AttributeValue &value, PirKind kind) {
  out += out.empty() ? "{\"AT\":" : ",{\"AT\":";
  const bool done = appendAttributeValue(out, value, kind);
  out += ",\"N\":";
  appendJsonString(out, name);
  out += '}';
  return done;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

int64_t PirEncoder::addConstant(const AttributeValue &value, PirKind kind,
                                int64_t type, int64_t wanted) {
  const bool isList = kind == PirKind::Integers;
  std::string attributes;
  Variable variable;
  variable.dims = {1};
  variable.type = pirTypeNumbered(type)->type;
  bool done = true;
  if (isList) {
    const auto *list = std::get_if<std::vector<int64_t>>(&value);
    variable.dims = {list ? static_cast<int64_t>(list->size()) : 1};
    done = appendNamed(attributes, "value", value, PirKind::Int64s);
  } else {
    done = appendNamed(attributes, "shape", std::vector<int64_t>{1},
                       PirKind::Integers) &&
           appendNamed(attributes, "value", value, PirKind::Float64);
  }
  appendNamed(attributes, "dtype", type, PirKind::DataType);
  appendNamed(attributes, "place", {}, PirKind::Place);
  if (!done)
    return 0;
  const int64_t id = define("", wanted);
  std::string result;
  appendResult(result, id, &variable, "");
  addNew(std::string(isList ? R"({"#":"1.full_int_array","A":[)"
                            : R"({"#":"1.full","A":[)") +
             attributes + R"(],"I":[],"O":[)" + result + R"(],"OA":[)" +
             stopsGradient(1) + "]}",
         {}, std::array{id});
  return id;
}

int64_t PirEncoder::constantOperand(const Operator &op,
                                    const PirOperand &operand, int64_t wanted) {
  const AttributeValue *given = op.attribute(operand.legacy);
  AttributeValue value;
  if (given)
    value = *given;
  else if (operand.otherwise)
    value = parseTableValue(operand.kind, *operand.otherwise);
  else if (operand.kind == PirKind::Integers)
    value = std::vector<int64_t>();
  if (operand.legacy == "dim" && isSet(op, "reduce_all"))
    value = std::vector<int64_t>();
  // A scalar is a list of one.
  if (const auto *number = std::get_if<int64_t>(&value);
      number && operand.kind == PirKind::Integers)
    value = std::vector<int64_t>{*number};
  const int64_t type = operand.kind == PirKind::Integers  ? 3
                       : operand.kind == PirKind::Int64   ? 3
                       : operand.kind == PirKind::Int32   ? 2
                       : operand.kind == PirKind::Float64 ? 6
                                                          : 5;
  const int64_t id = addConstant(value, operand.kind, type, wanted);
  if (id == 0)
    refuse(op, "attribute " + std::string(operand.legacy));
  return id;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Whether the older operator has an attribute axis: the dimension of X at
/// which Y's dimensions begin.
static bool alignsOperands(const PirOperator &row) {
  static constexpr std::string_view comparisons[] = {
      "equal",      "not_equal",    "less_than",
      "less_equal", "greater_than", "greater_equal"};
  return row.legacy.starts_with("elementwise_") ||
         std::ranges::count(comparisons, row.legacy) > 0;
}

/// Y of an elementwise operator, whose dimensions begin at dimension axis of X:
/// PIR aligns the last ones, so trailing dimensions of size 1 are added.
int64_t PirEncoder::alignedOperand(const Operator &op) {
  const std::string &name = argumentsOf(op, "Y").front();
  const int64_t id = idOf(name, 0);
  const AttributeValue *axis = op.attribute("axis");
  const auto *first = axis ? std::get_if<int64_t>(axis) : nullptr;
  if (!first || *first == -1 || argumentsOf(op, "X").empty())
    return id;
  const Variable *x = declarationOf(argumentsOf(op, "X").front());
  const Variable *y = declarationOf(name);
  if (!x || !y) {
    refuse(op, "axis of operands whose sizes are not declared");
    return id;
  }
  const auto rank = static_cast<int64_t>(x->dims.size());
  std::vector<int64_t> sizes = y->dims;
  if (static_cast<int64_t>(sizes.size()) >= rank ||
      *first + static_cast<int64_t>(sizes.size()) == rank) {
    if (static_cast<int64_t>(sizes.size()) > rank)
      refuse(op, "axis where X is the smaller operand");
    return id;
  }
  // A tensor with several dynamic dimensions cannot be reshaped, only
  // unsqueezed.
  const bool isDynamic = std::ranges::count(sizes, -1) > 1;
  while (!isDynamic && !sizes.empty() && sizes.back() == 1)
    sizes.pop_back();
  if (*first < 0 || *first + static_cast<int64_t>(sizes.size()) > rank) {
    refuse(op, "axis " + std::to_string(*first) + " of these sizes");
    return id;
  }
  std::vector<int64_t> added;
  for (auto dim = static_cast<int64_t>(sizes.size()); dim < rank - *first;
       ++dim)
    added.push_back(dim);
  sizes.resize(rank - *first, 1);
  Variable aligned = *y;
  aligned.dims = sizes;
  const int64_t operand =
      addConstant(isDynamic ? added : sizes, PirKind::Integers, 3);
  const int64_t made = define("", 0);
  std::string result;
  appendResult(result, made, &aligned, name);
  addNew(std::string(R"({"#":"1.)") + (isDynamic ? "unsqueeze" : "reshape") +
             R"(","A":[],"I":[{"%":)" + std::to_string(id) + R"(},{"%":)" +
             std::to_string(operand) + R"(}],"O":[)" + result + R"(],"OA":[)" +
             stopsGradient(1) + "]}",
         std::array{id, operand}, std::array{made});
  return made;
}

int64_t PirEncoder::newOperand(const Operator &op, const PirOperator &row,
                               size_t i) {
  const PirOperand &operand = row.operands[i];
  const auto &arguments = argumentsOf(op, operand.slot);
  switch (operand.form) {
  case PirOperand::Nothing:
    return 0;
  case PirOperand::List:
    return arguments.empty() ? 0 : listOf(arguments, 0);
  case PirOperand::Overwritten: {
    const auto &written = argumentsOf(op, operand.slot, true);
    if (written.size() == 1 && idsOfNames.contains(written.front()))
      return idOf(written.front(), 0);
    refuse(op, "an array that is made where it is written");
    return 0;
  }
  case PirOperand::Tensor:
    if (arguments.size() > 1)
      refuse(op, "a list in " + std::string(operand.slot));
    if (!arguments.empty() && operand.slot == "Y" && alignsOperands(row))
      return alignedOperand(op);
    if (!arguments.empty())
      return idOf(arguments.front(), 0);
    if (row.name == "full_with_tensor")
      return constantOperand(op, {PirOperand::Attribute, false, "", "", "value",
                                  "value", PirKind::Float32, "0"});
    if (!operand.isOptional)
      fail("operator '" + op.type + "' has nothing in " +
           std::string(operand.slot));
    return 0;
  case PirOperand::Attribute:
    break;
  }
  if (!operand.slot.empty() && arguments.size() == 1)
    return idOf(arguments.front(), 0);
  if (const auto &list = argumentsOf(op, operand.listSlot);
      !operand.listSlot.empty() && !list.empty())
    return listOf(list, 0);
  const AttributeValue *value = op.attribute(operand.legacy);
  if (const auto *names = value ? std::get_if<VariableNames>(value) : nullptr)
    return names->names.size() == 1 ? idOf(names->names.front(), 0)
                                    : listOf(names->names, 0);
  return constantOperand(op, operand);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// The elements of an assign_value, which are in an attribute for their type.
static AttributeValue valuesOf(const Operator &op) {
  for (const char *name : {"values", "int64_values", "int32_values",
                           "fp32_values", "fp64_values"}) {
    const AttributeValue *list = op.attribute(name);
    const bool isEmpty = !list ||
                         *list == AttributeValue(std::vector<int64_t>()) ||
                         *list == AttributeValue(std::vector<double>());
    if (!isEmpty)
      return *list;
  }
  const AttributeValue *flags = op.attribute("bool_values");
  if (const auto *numbers =
          flags ? std::get_if<std::vector<int64_t>>(flags) : nullptr)
    return std::vector<bool>(numbers->begin(), numbers->end());
  return flags ? *flags : AttributeValue(std::vector<int64_t>());
}

AttributeValue PirEncoder::newAttribute(const Operator &op,
                                        const PirAttribute &attribute,
                                        bool &isThere) {
  isThere = true;
  if (op.type == "assign_value" &&
      (attribute.name == "value" || attribute.name == "values"))
    return valuesOf(op);
  if (attribute.legacy == "dim" && isSet(op, "reduce_all"))
    return std::vector<int64_t>();
  if (op.type.starts_with("fill_constant") && attribute.name == "value")
    if (const AttributeValue *text = op.attribute("str_value"))
      if (const auto *digits = std::get_if<std::string>(text);
          digits && !digits->empty()) {
        double number = 0;
        std::from_chars(digits->data(), digits->data() + digits->size(),
                        number);
        return number;
      }
  const AttributeValue *given = op.attribute(attribute.legacy);
  if (given && given->index() != 0)
    return *given;
  if (attribute.otherwise)
    return parseTableValue(attribute.kind, *attribute.otherwise);
  isThere = attribute.kind == PirKind::Place;
  return {};
}

std::string PirEncoder::newAttributes(const Operator &op,
                                      const PirOperator &row) {
  std::string text;
  for (const PirAttribute &each : row.attributes) {
    bool isThere = false;
    const AttributeValue value = newAttribute(op, each, isThere);
    if (!isThere)
      fail("operator '" + op.type + "' has no attribute '" +
           std::string(each.legacy) + "'");
    else if (!appendNamed(text, each.name, value, each.kind))
      refuse(op, "attribute " + std::string(each.legacy));
  }
  if (!op.scope.empty())
    appendNamed(text, "struct_name", op.scope, PirKind::String);
  return text;
}

bool PirEncoder::checkFixed(const Operator &op, const PirOperator &row) {
  for (const FixedAttribute &each : row.fixed) {
    const AttributeValue *value = op.attribute(each.name);
    if (value && value->index() != 0 && !equalsTableValue(*value, each.value)) {
      refuse(op, "attribute " + std::string(each.name));
      return false;
    }
  }
  return true;
}

/// Whether a value enables nothing: false, 0, an empty string or list.
static bool isNothing(const AttributeValue &value) {
  return std::visit(
      [](const auto &held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_arithmetic_v<Held>)
          return held == Held();
        else if constexpr (requires { held.empty(); })
          return held.empty();
        else
          return std::is_same_v<Held, std::monostate>;
      },
      value);
}

/// Whether an attribute of the older form only selects a kernel, device or
/// purpose and does not affect results.
static bool isOfNoEffect(const Attribute &attribute) {
  static constexpr std::string_view names[] = {"name",
                                               "is_test",
                                               "op_callstack",
                                               "op_device",
                                               "op_role",
                                               "op_role_var",
                                               "with_quant_attr",
                                               "op_namescope",
                                               "infer_flags",
                                               "force_cpu",
                                               "in_dtype",
                                               "workspace_size_MB",
                                               "use_addto",
                                               "fuse_brelu_threshold",
                                               "exhaustive_search"};
  // Attributes of oneDNN's kernels; scales are those of its int8 kernels.
  static constexpr std::string_view beginnings[] = {
      "use_cudnn", "use_mkldnn", "use_onednn", "mkldnn_",
      "onednn_",   "Scale_",     "scale_in",   "scale_out"};
  return isNothing(attribute.value) ||
         attribute.value == AttributeValue(std::string("AnyLayout")) ||
         std::ranges::count(names, attribute.name) > 0 ||
         std::ranges::any_of(beginnings, [&](std::string_view each) {
           return attribute.name.starts_with(each);
         });
}

/// Whether an attribute that is not in the row is written otherwise: as an
/// operand, or as the value of another attribute.
static bool isWrittenOtherwise(const std::string &attribute,
                               const PirOperator &row) {
  if (row.legacy == "assign_value")
    return attribute.ends_with("values") || attribute == "shape";
  if (row.legacy.starts_with("fill_constant"))
    return attribute == "str_value" ||
           (attribute == "value" && row.name == "full_with_tensor");
  if (attribute == "axis")
    return alignsOperands(row);
  return attribute == "reduce_all" &&
         (std::ranges::count(row.operands, "dim", &PirOperand::legacy) > 0 ||
          std::ranges::count(row.attributes, "dim", &PirAttribute::legacy) > 0);
}

bool PirEncoder::checkKnown(const Operator &op, const PirOperator &row) {
  for (const Attribute &each : op.attributes)
    if (!isOfNoEffect(each) && !isWrittenOtherwise(each.name, row) &&
        std::ranges::count(row.attributes, each.name, &PirAttribute::legacy) ==
            0 &&
        std::ranges::count(row.operands, each.name, &PirOperand::legacy) == 0 &&
        std::ranges::count(row.fixed, each.name, &FixedAttribute::name) == 0) {
      refuse(op, "attribute " + each.name);
      return false;
    }
  return true;
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

std::string PirEncoder::newResults(const Operator &op, const PirOperator &row,
                                   std::vector<int64_t> &ids) {
  std::string text;
  for (const PirResult &result : row.results) {
    const auto &names = argumentsOf(op, result.slot, true);
    if (names.empty() || !result.isList) {
      const std::string name = names.empty() ? "" : names.front();
      const Variable *variable = name.empty() ? nullptr : declarationOf(name);
      if (!name.empty() && !variable)
        fail("variable '" + name + "' is not declared");
      int64_t wanted = 0;
      if (name.starts_with('%'))
        std::from_chars(name.data() + 1, name.data() + name.size(), wanted);
      if (name != "%" + std::to_string(wanted))
        wanted = 0;
      ids.push_back(define(name, wanted, !result.sameAs.empty()));
      appendResult(text, ids.back(), variable, name);
      continue;
    }
    ids.push_back(define("", 0));
    std::string types;
    for (const std::string &name : names) {
      const Variable *variable = declarationOf(name);
      types += types.empty() ? "" : ",";
      if (!variable || !appendTensorType(types, *variable))
        fail("variable '" + name + "' has no type that PIR knows");
    }
    text += (text.empty() ? "{\"%\":" : ",{\"%\":") +
            std::to_string(ids.back()) + R"(,"TT":{"#":"0.t_vec","D":[)" +
            types + "]}}";
    defineList(ids.back(), names);
  }
  return text;
}

void PirEncoder::encodeNew(const Operator &op) {
  const PirOperator *row = findLegacyOperator(op);
  if (!row || !checkFixed(op, *row) || !checkKnown(op, *row)) {
    if (!row)
      refuse(op);
    for (const Slot &slot : op.outputs)
      for (const std::string &name : slot.arguments)
        define(name, 0);
    return;
  }
  std::string operands;
  std::vector<int64_t> operandIds;
  for (size_t i = 0; i < row->operands.size(); ++i) {
    operandIds.push_back(newOperand(op, *row, i));
    operands += (i > 0 ? ",{\"%\":" : "{\"%\":") +
                std::to_string(operandIds.back()) + "}";
  }
  const std::string attributes = newAttributes(op, *row);
  std::vector<int64_t> ids;
  const std::string results = newResults(op, *row, ids);
  addNew("{\"#\":\"1." + std::string(row->name) + "\",\"A\":[" + attributes +
             "],\"I\":[" + operands + "],\"O\":[" + results + "],\"OA\":[" +
             stopsGradient(ids.size()) + "]}",
         operandIds, ids);
}

//===----------------------------------------------------------------------===//
// Parameters, inputs and outputs
//===----------------------------------------------------------------------===//

static bool sameType(const Variable &one, const Variable &other) {
  return one.type == other.type && one.dims == other.dims;
}

void PirEncoder::encodeParameters(PirSkeleton *skeleton) {
  std::unordered_map<std::string, PirSkeleton::Item *> items;
  for (PirSkeleton::Item &item : skeleton->items)
    if (item.raw.name == "builtin.parameter" && item.raw.results.size() == 1)
      items[item.raw.isShort ? item.raw.parameterName
                             : item.raw.string("parameter_name")] = &item;
  for (const Variable *variable : program.parameters()) {
    const auto found = items.find(variable->name);
    if (found != items.end() &&
        sameType(found->second->raw.results[0].type.variable, *variable)) {
      define(variable->name, found->second->raw.results[0].id);
      addHidden(*found->second);
      continue;
    }
    std::string name, result;
    appendJsonString(name, variable->name);
    const int64_t id = define(variable->name, 0);
    appendResult(result, id, variable, variable->name);
    addNew(R"({"#":"p","A":[0,1,1,)" + name + R"(],"DA":[],"O":)" + result +
               (variable->stopsGradient ? R"(,"OA":[1,1,0],"QA":[]})"
                                        : R"(,"OA":[1,0,1],"QA":[]})"),
           {}, std::array{id});
  }
}

void PirEncoder::encodeInputs(PirSkeleton *skeleton) {
  std::vector<PirSkeleton::Item *> items;
  for (PirSkeleton::Item &item : skeleton->items)
    if (item.raw.name == "pd_op.data" || item.raw.name == "pd_op.feed")
      items.push_back(&item);
  const auto isOf = [&](const PirSkeleton::Item &item, const Port &port) {
    const Variable *variable = declarationOf(port.variable);
    const std::string name = item.raw.string("name");
    const std::string number = "%" + std::to_string(item.raw.results.at(0).id);
    return (name.empty() ? number : name) == port.name &&
           (port.variable == name || port.variable == number) && variable &&
           sameType(item.raw.results[0].type.variable, *variable);
  };
  bool isSame = items.size() == program.inputs.size();
  for (size_t i = 0; isSame && i < items.size(); ++i)
    isSame = isOf(*items[i], program.inputs[i]);
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const Port &port = program.inputs[i];
    if (isSame) {
      define(port.variable, items[i]->raw.results[0].id);
      addHidden(*items[i]);
      continue;
    }
    const Variable *variable = declarationOf(port.variable);
    const DataType *type =
        variable && variable->type ? pirTypeOf(*variable->type) : nullptr;
    if (!type)
      return fail("input '" + port.name + "' has no type that PIR knows");
    std::string attributes, result;
    appendNamed(attributes, "name", port.name, PirKind::String);
    appendNamed(attributes, "shape", variable->dims, PirKind::Integers);
    appendNamed(attributes, "dtype", int64_t(type->number), PirKind::DataType);
    attributes += R"(,{"AT":{"#":"1.a_place","D":[0,0,""]},"N":"place"})";
    const int64_t value = define(port.variable, 0);
    appendResult(result, value, variable, port.variable);
    addNew(R"({"#":"1.data","A":[)" + attributes + R"(],"I":[],"O":[)" +
               result + R"(],"OA":[)" + stopsGradient(1) + "]}",
           {}, std::array{value});
  }
}

void PirEncoder::encodePorts(PirSkeleton *skeleton) {
  encodeParameters(skeleton);
  encodeInputs(skeleton);
}

void PirEncoder::encodeOutputs(PirSkeleton *skeleton) {
  std::vector<std::pair<int64_t, PirSkeleton::Item *>> items;
  for (PirSkeleton::Item &item : skeleton->items)
    if (item.raw.name == "pd_op.fetch" ||
        item.raw.name == "builtin.shadow_output")
      items.push_back(
          {item.raw.integer("col", static_cast<int64_t>(items.size())), &item});
  std::ranges::sort(items, {}, [](const auto &each) {
    return std::pair(each.first, each.second->raw.ordinal);
  });
  const auto isOf = [&](const RawPirOperator &raw, const Port &port) {
    std::string name = raw.string("name");
    if (name.empty())
      name = raw.string("output_name");
    return (name.empty() ? port.variable : name) == port.name &&
           raw.operands.size() == 1 &&
           idOf(port.variable, raw.operands[0]) == raw.operands[0];
  };
  bool isSame = items.size() == program.outputs.size();
  for (size_t i = 0; isSame && i < items.size(); ++i)
    isSame = isOf(items[i].second->raw, program.outputs[i]);
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const Port &port = program.outputs[i];
    if (isSame) {
      for (const RawPirOperator::Result &result : items[i].second->raw.results)
        define("", result.id);
      addHidden(*items[i].second);
      continue;
    }
    std::string attributes, result;
    appendNamed(attributes, "name", port.name, PirKind::String);
    appendNamed(attributes, "col", static_cast<int64_t>(i), PirKind::Int32);
    const int64_t id = idOf(port.variable, 0);
    appendResult(result, define("", 0), declarationOf(port.variable),
                 port.variable);
    addNew(
        R"({"#":"1.fetch","A":[)" + attributes + R"(],"I":[{"%":)" +
            std::to_string(id) + R"(}],"O":[)" + result +
            R"(],"OA":[{"AT":{"#":"0.a_array","D":[{"#":"0.a_bool","D":true}]},)"
            R"("N":"persistable"},)" +
            stopsGradient(1) + "]}",
        std::array{id}, {});
  }
}

} // namespace sinter::paddle
