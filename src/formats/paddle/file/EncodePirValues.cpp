//===- EncodePirValues.cpp - attributes and types to PIR's JSON -----------===//

#include "formats/paddle/file/DataTypes.h"
#include "formats/paddle/file/PirValues.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace sinter::paddle {

void appendJsonString(std::string &out, std::string_view text) {
  static constexpr std::string_view from = "\"\\\b\f\n\r\t", to = "\"\\bfnrt";
  static constexpr std::string_view digits = "0123456789abcdef";
  out += '"';
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    if (const size_t known = from.find(each); known != from.npos) {
      out += '\\';
      out += to[known];
    } else if (byte < 0x20) {
      out += "\\u00";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      out += each;
    }
  }
  out += '"';
}

static void appendType(std::string &out, ElementType type) {
  out += R"({"#":"0.t_)";
  out += pirTypeOf(type)->pirTag;
  out += "\"}";
}

static void appendSizes(std::string &out, const std::vector<int64_t> &sizes) {
  out += '[';
  for (const int64_t size : sizes)
    out += std::to_string(size) + ",";
  if (!sizes.empty())
    out.pop_back();
  out += ']';
}

bool appendTensorType(std::string &out, const Variable &variable) {
  if (!variable.type || !pirTypeOf(*variable.type))
    return false;
  const bool isArray = variable.kind == VariableKind::TensorArray;
  out += isArray ? R"({"#":"1.t_dense_tensor_array","D":[)"
                 : R"({"#":"0.t_dtensor","D":[)";
  appendType(out, *variable.type);
  out += ',';
  appendSizes(out, variable.dims);
  out += isArray ? ",\"NCHW\"]}" : ",\"NCHW\",[],0]}";
  return true;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static std::optional<double> realIfNumber(const AttributeValue &value) {
  if (const auto *real = std::get_if<double>(&value))
    return *real;
  if (const auto *integer = std::get_if<int64_t>(&value))
    return static_cast<double>(*integer);
  return std::nullopt;
}

static std::optional<int64_t> integerOf(const AttributeValue &value) {
  if (const auto *integer = std::get_if<int64_t>(&value))
    return *integer;
  if (const auto *flag = std::get_if<bool>(&value))
    return *flag;
  if (const auto *real = std::get_if<double>(&value);
      real && std::trunc(*real) == *real && std::abs(*real) < 0x1p53)
    return static_cast<int64_t>(*real);
  return std::nullopt;
}

static void appendData(std::string &out, std::string_view kind,
                       std::string_view data) {
  out += R"({"#":")";
  out += kind;
  out += R"(","D":)";
  out += data;
  out += '}';
}

/// Prints a float like Paddle's writer; non-finite ones have a separate member.
static void appendReal(std::string &out, std::string_view kind, double number) {
  if (std::isfinite(number))
    return appendData(out, kind, nlohmann::json(number).dump());
  out += R"({"#":")";
  out += kind;
  out += R"(","VD":")";
  out += std::isnan(number) ? "NaN" : number > 0 ? "INF" : "-INF";
  out += "\"}";
}

static bool appendInteger(std::string &out, const AttributeValue &value,
                          PirKind kind) {
  const std::optional<int64_t> number = integerOf(value);
  const bool isShort = kind == PirKind::Int32;
  if (!number || (isShort && *number != static_cast<int32_t>(*number)))
    return false;
  appendData(out, isShort ? "0.a_i32" : "0.a_i64", std::to_string(*number));
  return true;
}

/// The list's elements as values; a scalar is a list of one.
static std::vector<AttributeValue> elementsOf(const AttributeValue &value) {
  std::vector<AttributeValue> list;
  const auto take = [&](const auto *elements) {
    if (elements)
      list.assign(elements->begin(), elements->end());
    return elements != nullptr;
  };
  if (!take(std::get_if<std::vector<int64_t>>(&value)) &&
      !take(std::get_if<std::vector<double>>(&value)) &&
      !take(std::get_if<std::vector<std::string>>(&value))) {
    if (const auto *flags = std::get_if<std::vector<bool>>(&value))
      for (const bool flag : *flags)
        list.emplace_back(flag);
    else
      list.push_back(value);
  }
  return list;
}

static bool appendList(std::string &out, const AttributeValue &value,
                       PirKind element) {
  std::string data = "[";
  for (const AttributeValue &each : elementsOf(value)) {
    if (!appendAttributeValue(data, each, element))
      return false;
    data += ',';
  }
  if (data.size() > 1)
    data.pop_back();
  appendData(out, "0.a_array", data + "]");
  return true;
}

static bool appendIntegers(std::string &out, const AttributeValue &value) {
  std::vector<int64_t> list;
  for (const AttributeValue &each : elementsOf(value)) {
    const std::optional<int64_t> number = integerOf(each);
    if (!number)
      return false;
    list.push_back(*number);
  }
  std::string data;
  appendSizes(data, list);
  appendData(out, "1.a_intarray", data);
  return true;
}

static bool appendDataType(std::string &out, const AttributeValue &value) {
  const std::optional<int64_t> number = integerOf(value);
  const DataType *type = number ? pirTypeNumbered(*number) : nullptr;
  if (!type && number != -1)
    return false;
  std::string data;
  appendJsonString(data, type ? type->pirName : undefinedType);
  appendData(out, "1.a_dtype", data);
  return true;
}

/// The list of an assign_value, whose elements have the operator's own type.
static bool appendScalars(std::string &out, const AttributeValue &value) {
  std::string data = "[";
  for (const AttributeValue &each : elementsOf(value)) {
    std::string content;
    if (const auto *flag = std::get_if<bool>(&each))
      content = *flag ? R"(["bool",true])" : R"(["bool",false])";
    else if (const auto *integer = std::get_if<int64_t>(&each))
      content = R"(["int64",)" + std::to_string(*integer) + "]";
    else if (const auto *real = std::get_if<double>(&each);
             real && std::isfinite(*real))
      content = R"(["float64",)" + nlohmann::json(*real).dump() + "]";
    else
      return false;
    appendData(data, "1.a_scalar", content);
    data += ',';
  }
  if (data.size() > 1)
    data.pop_back();
  appendData(out, "0.a_array", data + "]");
  return true;
}

bool appendAttributeValue(std::string &out, const AttributeValue &value,
                          PirKind kind) {
  switch (kind) {
  case PirKind::Bool: {
    const std::optional<int64_t> flag = integerOf(value);
    if (flag)
      appendData(out, "0.a_bool", *flag ? "true" : "false");
    return flag.has_value();
  }
  case PirKind::Int32:
  case PirKind::Int64:
    return appendInteger(out, value, kind);
  case PirKind::Float32:
  case PirKind::Float64: {
    const std::optional<double> real = realIfNumber(value);
    const bool isShort = kind == PirKind::Float32;
    if (real)
      appendReal(out, isShort ? "0.a_f32" : "0.a_f64",
                 isShort ? static_cast<float>(*real) : *real);
    return real.has_value();
  }
  case PirKind::String: {
    const auto *text = std::get_if<std::string>(&value);
    std::string data;
    if (text) {
      appendJsonString(data, *text);
      appendData(out, "0.a_str", data);
    }
    return text != nullptr;
  }
  case PirKind::Int32s:
    return appendList(out, value, PirKind::Int32);
  case PirKind::Int64s:
    return appendList(out, value, PirKind::Int64);
  case PirKind::Float32s:
    return appendList(out, value, PirKind::Float32);
  case PirKind::Integers:
    return appendIntegers(out, value);
  case PirKind::DataType:
    return appendDataType(out, value);
  case PirKind::Place:
    appendData(out, "1.a_place", R"([1,0,""])");
    return true;
  case PirKind::Scalars:
    return appendScalars(out, value);
  }
  return false;
}

} // namespace sinter::paddle
