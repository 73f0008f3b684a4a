#include "formats/paddle/file/PirOperator.h"

#include <algorithm>

namespace sinter::paddle {

const AttributeValue *
RawPirOperator::attribute(std::string_view attributeName) const {
  for (const Attribute &each : attributes)
    if (each.name == attributeName)
      return &each.value;
  return nullptr;
}

std::string RawPirOperator::string(std::string_view attributeName) const {
  const AttributeValue *value = attribute(attributeName);
  const auto *found = value ? std::get_if<std::string>(value) : nullptr;
  return found ? *found : std::string();
}

int64_t RawPirOperator::integer(std::string_view attributeName,
                                int64_t otherwise) const {
  const AttributeValue *value = attribute(attributeName);
  const auto *found = value ? std::get_if<int64_t>(value) : nullptr;
  return found ? *found : otherwise;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// "1.add" is "pd_op.add".
static std::string fullName(std::string name) {
  static constexpr std::pair<std::string_view, std::string_view> dialects[] = {
      {"0.", "builtin."},   {"1.", "pd_op."}, {"2.", "cf."},
      {"3.", "custom_op."}, {"4.", "dist."},
  };
  if (name == "p")
    return "builtin.parameter";
  for (const auto &[id, dialect] : dialects)
    if (name.starts_with(id))
      return std::string(dialect) + name.substr(id.size());
  return name;
}

/// `[is_distributed, is_parameter, need_clip, name]`.
static void readShortAttributes(JsonReader &in, RawPirOperator &raw) {
  if (!in.enterArray())
    return;
  while (in.nextElement())
    if (in.peek() == JsonReader::Kind::String)
      in.readString(raw.parameterName);
    else
      in.skip();
}

/// The short form's attributes of its result: `[persistable, stop_gradient,
/// trainable]`, as 0 or 1. Other forms are ignored.
static void readShortResultAttributes(JsonReader &in, RawPirOperator &raw) {
  if (in.peek() != JsonReader::Kind::Array) {
    in.skip();
    return;
  }
  in.enterArray();
  for (int i = 0; in.nextElement(); ++i) {
    int64_t flag = 1;
    if (i != 2 || in.peek() != JsonReader::Kind::Number)
      in.skip();
    else if (in.readInteger(flag))
      raw.isFrozen = flag == 0;
  }
}

/// `[{"N":name,"AT":value}, …]`.
static void readAttributes(JsonReader &in, RawPirOperator &raw) {
  if (!in.enterArray())
    return;
  while (in.nextElement()) {
    Attribute attribute;
    if (!in.enterObject())
      return;
    for (std::string_view key; in.nextKey(key);)
      if (key == "N")
        in.readString(attribute.name);
      else if (key == "AT")
        readAttributeValue(in, attribute.value);
      else
        in.skip();
    raw.attributes.push_back(std::move(attribute));
  }
}

/// `[{"%":id}, …]`.
static void readOperands(JsonReader &in, RawPirOperator &raw) {
  if (!in.enterArray())
    return;
  while (in.nextElement()) {
    int64_t id = 0;
    if (!in.readIntegerOf("%", id))
      return;
    raw.operands.push_back(id);
  }
}

/// `{"%":id,"TT":type}`.
static void readResult(JsonReader &in, RawPirOperator &raw) {
  if (!in.enterObject())
    return;
  RawPirOperator::Result result;
  bool hasType = false;
  for (std::string_view key; in.nextKey(key);)
    if (key == "%")
      in.readInteger(result.id);
    else if (key == "TT")
      hasType = readValueType(in, result.type);
    else
      in.skip();
  if (!in.failed() && (result.id == 0) != result.type.isNull && !hasType)
    in.fail("a result without a type");
  // Absent results share the id 0.
  if (result.id != 0)
    raw.results.push_back(std::move(result));
}

static void readResults(JsonReader &in, RawPirOperator &raw) {
  if (in.peek() == JsonReader::Kind::Object)
    return readResult(in, raw);
  if (!in.enterArray())
    return;
  while (in.nextElement())
    readResult(in, raw);
}

bool readPirOperator(JsonReader &in, RawPirOperator &raw) {
  const size_t begin = in.position();
  std::string name;
  if (!in.lookAhead("#", name))
    return false;
  raw.isShort = name == "p";
  raw.name = fullName(std::move(name));
  if (!in.enterObject())
    return false;
  for (std::string_view key; in.nextKey(key);) {
    if (key == "A") {
      raw.isShort ? readShortAttributes(in, raw) : readAttributes(in, raw);
    } else if (key == "I") {
      readOperands(in, raw);
    } else if (key == "O") {
      readResults(in, raw);
    } else if (key == "OA" && raw.isShort) {
      readShortResultAttributes(in, raw);
    } else if (key == "regions") {
      const size_t start = in.position();
      in.skip();
      raw.regions = in.since(start);
    } else {
      raw.isPrerelease |= key == "id" && raw.name.empty();
      in.skip();
    }
  }
  raw.text = in.since(begin);
  if (raw.isPrerelease)
    return false;
  if (!in.failed() && raw.name.empty())
    return in.fail("an operator without a name");
  return !in.failed();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// Whether an attribute does not affect the computation.
static bool isIgnored(std::string_view name) {
  static constexpr std::string_view list[] = {
      "op_callstack", "op_dist_attr",  "op_role",
      "persistable",  "stop_gradient", "struct_name",
  };
  return std::ranges::count(list, name) > 0;
}

/// assign_value has its elements in an attribute for their type.
static void bindConstant(const RawPirOperator &raw, Operator &op) {
  const AttributeValue *type = raw.attribute("dtype");
  const auto *number = type ? std::get_if<int64_t>(type) : nullptr;
  const bool isList = raw.name == "pd_op.full_int_array";
  const AttributeValue *values = raw.attribute(isList ? "value" : "values");
  if (!number || !values)
    return;
  static constexpr std::pair<int64_t, std::string_view> names[] = {
      {0, "bool_values"}, {2, "int32_values"}, {3, "int64_values"},
      {5, "fp32_values"}, {6, "fp64_values"},
  };
  AttributeValue list = *values;
  if (const auto *flags = std::get_if<std::vector<bool>>(&list))
    list = std::vector<int64_t>(flags->begin(), flags->end());
  if (const auto *integers = std::get_if<std::vector<int64_t>>(&list)) {
    if (isList)
      op.attributes.push_back(
          {"shape",
           std::vector<int64_t>{static_cast<int64_t>(integers->size())}});
    if (*number == 5 || *number == 6)
      list = std::vector<double>(integers->begin(), integers->end());
  }
  for (const auto &[each, name] : names)
    if (each == *number)
      op.attributes.push_back({std::string(name), std::move(list)});
}

static std::string olderName(const PirOperator *row, std::string_view name,
                             PirKind &kind) {
  if (row) {
    for (const PirAttribute &each : row->attributes)
      if (each.name == name) {
        kind = each.kind;
        return std::string(each.legacy);
      }
    // An attribute that is an operand in later versions.
    for (const PirOperand &each : row->operands)
      if (each.form == PirOperand::Attribute && each.name == name)
        return std::string(each.legacy);
  }
  return std::string(name);
}

void bindPirAttributes(const RawPirOperator &raw, const PirOperator *row,
                       Operator &op) {
  op.scope = raw.string("struct_name");
  const bool isConstant = op.type == "assign_value";
  for (const Attribute &each : raw.attributes) {
    PirKind kind = PirKind::String;
    std::string name = olderName(row, each.name, kind);
    if (isIgnored(each.name) || kind == PirKind::Place ||
        (isConstant && (name == "value" || name == "values")))
      continue;
    op.attributes.push_back({std::move(name), each.value});
  }
  if (isConstant)
    bindConstant(raw, op);
  if (!row)
    return;
  for (const FixedAttribute &each : row->fixed)
    if (each.selects)
      op.attributes.push_back(
          {std::string(each.name), parseTableValue(PirKind::Bool, each.value)});
  if (!row->legacy.starts_with("reduce_"))
    return;
  const AttributeValue *dims = op.attribute("dim");
  const auto *list = dims ? std::get_if<std::vector<int64_t>>(dims) : nullptr;
  if (list && !op.attribute("reduce_all"))
    op.attributes.push_back({"reduce_all", list->empty()});
}

AttributeValue constantOf(const RawPirOperator &raw) {
  const AttributeValue *value = nullptr;
  if (raw.name == "pd_op.full_int_array")
    value = raw.attribute("value");
  if (raw.name == "pd_op.full")
    value = raw.attribute("value");
  if (!value)
    return {};
  // The operator's type determines the scalar's type.
  const auto *real = std::get_if<double>(value);
  const int64_t type = raw.integer("dtype", 5);
  const bool isInteger = type >= 0 && type <= 3;
  if (real && isInteger && *real >= -0x1p53 && *real <= 0x1p53)
    return static_cast<int64_t>(*real);
  return *value;
}

} // namespace sinter::paddle
