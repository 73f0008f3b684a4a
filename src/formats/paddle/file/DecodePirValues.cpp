//===- DecodePirValues.cpp - attributes and types from PIR's JSON ---------===//

#include "formats/paddle/file/DataTypes.h"
#include "formats/paddle/file/PirValues.h"

#include <limits>

namespace sinter::paddle {

/// Moves to member \p wanted of the next object; leaveObject() ends it.
static bool enterMember(JsonReader &in, std::string_view wanted) {
  if (!in.enterObject())
    return false;
  for (std::string_view key; in.nextKey(key);) {
    if (key == wanted)
      return true;
    in.skip();
  }
  return false;
}

static bool leaveObject(JsonReader &in) {
  for (std::string_view key; in.nextKey(key);)
    in.skip();
  return !in.failed();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Reads an element type: `{"#":"0.t_f32"}`; one that no tensor has leaves the
/// variable's type empty.
static bool readElementType(JsonReader &in, Variable &variable) {
  std::string name;
  if (!in.lookAhead("#", name))
    return false;
  if (name.starts_with("0.t_"))
    if (const DataType *found = pirTypeTagged(std::string_view(name).substr(4)))
      variable.type = found->type;
  if (!variable.type)
    variable.kindName = name;
  return in.skip();
}

/// `[type, sizes, …]`.
static bool readTensorType(JsonReader &in, Variable &variable) {
  if (!in.enterArray())
    return false;
  if (!in.nextElement() || !readElementType(in, variable))
    return in.fail("a tensor's type has no type of elements");
  if (!in.nextElement() || !in.enterArray())
    return in.fail("a tensor's type has no sizes");
  while (in.nextElement()) {
    int64_t size = 0;
    if (!in.readInteger(size))
      return false;
    if (size < -1)
      return in.fail("a size is negative");
    variable.dims.push_back(size);
  }
  while (in.nextElement())
    in.skip();
  return !in.failed();
}

static bool readListType(JsonReader &in, PirValueType &type) {
  if (!in.enterArray())
    return false;
  while (in.nextElement()) {
    PirValueType element;
    if (!readValueType(in, element))
      return false;
    if (element.isList)
      return in.fail("a list of lists");
    type.elements.push_back(std::move(element.variable));
  }
  return !in.failed();
}

bool readValueType(JsonReader &in, PirValueType &type) {
  std::string name;
  if (!in.lookAhead("#", name))
    return false;
  if (name.empty())
    return in.fail("a value without a type");
  type.isNull = name == "NULL";
  type.isList = name == "0.t_vec";
  const bool isArray = name == "1.t_dense_tensor_array";
  if (type.isList || isArray || name == "0.t_dtensor") {
    if (!enterMember(in, "D"))
      return in.fail("a type without content");
    if (isArray)
      type.variable.kind = VariableKind::TensorArray;
    return (type.isList ? readListType(in, type)
                        : readTensorType(in, type.variable)) &&
           leaveObject(in);
  }
  if (!type.isNull) {
    type.variable.kind = VariableKind::Other;
    type.variable.kindName = name;
  }
  return in.skip();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// Reads a non-finite value, for which JSON has no number.
static bool readVoidData(JsonReader &in, AttributeValue &value) {
  std::string text;
  if (!in.readString(text))
    return false;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (text == "NaN")
    value = std::numeric_limits<double>::quiet_NaN();
  else if (text == "INF" || text == "-INF")
    value = text == "INF" ? infinity : -infinity;
  else
    return in.fail("a number that is none");
  return true;
}

static bool readInteger(JsonReader &in, AttributeValue &value) {
  int64_t number = 0;
  if (!in.readInteger(number))
    return false;
  value = number;
  return true;
}

static bool readReal(JsonReader &in, AttributeValue &value) {
  JsonReader::Number number;
  if (!in.readNumber(number))
    return false;
  value = number.real;
  return true;
}

static bool readFlag(JsonReader &in, AttributeValue &value) {
  bool flag = false;
  if (!in.readBool(flag))
    return false;
  value = flag;
  return true;
}

static bool readText(JsonReader &in, AttributeValue &value) {
  std::string text;
  if (!in.readString(text))
    return false;
  value = std::move(text);
  return true;
}

static bool readIntegers(JsonReader &in, AttributeValue &value) {
  std::vector<int64_t> list;
  if (!in.enterArray())
    return false;
  while (in.nextElement())
    if (int64_t number = 0; in.readInteger(number))
      list.push_back(number);
  value = std::move(list);
  return !in.failed();
}

/// Reads a type by name, as its VarType.Type.
static bool readDataType(JsonReader &in, AttributeValue &value) {
  std::string name;
  if (!in.readString(name))
    return false;
  if (name == undefinedType)
    value = int64_t(-1);
  else if (const DataType *type = pirTypeNamed(name))
    value = int64_t(type->number);
  else
    value = std::move(name);
  return true;
}

/// `["float32", 1.5]`.
static bool readScalar(JsonReader &in, AttributeValue &value) {
  std::string type;
  if (!in.enterArray() || !in.nextElement() || !in.readString(type) ||
      !in.nextElement())
    return in.fail("a scalar has no type and number");
  if (in.peek() == JsonReader::Kind::Bool) {
    if (!readFlag(in, value))
      return false;
  } else {
    JsonReader::Number number;
    if (!in.readNumber(number))
      return false;
    if (number.isInteger && type.find("float") == type.npos)
      value = number.integer;
    else
      value = number.real;
  }
  while (in.nextElement()) {
    // The imaginary part.
    value = std::monostate();
    in.skip();
  }
  return !in.failed();
}

/// Appends \p element to the list \p value, which takes the kind of its first
/// element; mixed kinds become monostate.
static void append(AttributeValue &value, bool isFirst,
                   const AttributeValue &element) {
  const auto add = [&]<typename T>(const T *each) {
    if (!each)
      return;
    if (isFirst)
      value = std::vector<T>();
    if (auto *list = std::get_if<std::vector<T>>(&value))
      list->push_back(*each);
    else
      value = std::monostate();
  };
  const auto *integer = std::get_if<int64_t>(&element);
  if (auto *reals = std::get_if<std::vector<double>>(&value);
      reals && integer && !isFirst)
    return reals->push_back(static_cast<double>(*integer));
  add(std::get_if<bool>(&element));
  add(integer);
  add(std::get_if<double>(&element));
  add(std::get_if<std::string>(&element));
  if (!std::holds_alternative<bool>(element) && !integer &&
      !std::holds_alternative<double>(element) &&
      !std::holds_alternative<std::string>(element))
    value = std::monostate();
}

static bool readArray(JsonReader &in, AttributeValue &value) {
  if (!in.enterArray())
    return false;
  value = std::vector<int64_t>();
  for (bool isFirst = true; in.nextElement(); isFirst = false) {
    AttributeValue element;
    if (!readAttributeValue(in, element))
      return false;
    append(value, isFirst, element);
  }
  return !in.failed();
}

bool readAttributeValue(JsonReader &in, AttributeValue &value) {
  struct Kind {
    std::string_view name;
    bool (*read)(JsonReader &in, AttributeValue &value);
  };
  static constexpr Kind kinds[] = {
      {"0.a_array", readArray},       {"0.a_bool", readFlag},
      {"0.a_f32", readReal},          {"0.a_f64", readReal},
      {"0.a_i32", readInteger},       {"0.a_i64", readInteger},
      {"0.a_index", readInteger},     {"0.a_str", readText},
      {"0.a_tensorname", readText},   {"1.a_dtype", readDataType},
      {"1.a_intarray", readIntegers}, {"1.a_layout", readText},
      {"1.a_scalar", readScalar},
  };
  value = std::monostate();
  std::string name;
  if (!in.lookAhead("#", name))
    return false;
  if (name.empty())
    return in.fail("an attribute without a kind");
  for (const Kind &kind : kinds) {
    if (kind.name != name)
      continue;
    if (!in.enterObject())
      return false;
    for (std::string_view key; in.nextKey(key);)
      if (key == "D")
        kind.read(in, value);
      else if (key == "VD")
        readVoidData(in, value);
      else
        in.skip();
    return !in.failed();
  }
  return in.skip();
}

} // namespace sinter::paddle
