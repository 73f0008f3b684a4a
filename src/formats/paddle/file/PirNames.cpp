#include "formats/paddle/file/PirNames.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <unordered_map>

namespace sinter::paddle {

//===----------------------------------------------------------------------===//
// Parsing rows
//===----------------------------------------------------------------------===//

namespace {

/// Takes the text before \p end; the rest after \p end stays.
std::string_view takeUntil(std::string_view &text, char end) {
  const size_t length = text.find(end);
  const std::string_view taken = text.substr(0, length);
  text = length == text.npos ? std::string_view() : text.substr(length + 1);
  return taken;
}

/// Takes \p last off the end of \p text, if it is there.
bool takeLast(std::string_view &text, char last) {
  if (!text.ends_with(last))
    return false;
  text.remove_suffix(1);
  return true;
}

PirKind kindNamed(std::string_view name) {
  static constexpr std::pair<std::string_view, PirKind> kinds[] = {
      {"b", PirKind::Bool},
      {"i32", PirKind::Int32},
      {"i64", PirKind::Int64},
      {"f32", PirKind::Float32},
      {"f64", PirKind::Float64},
      {"s", PirKind::String},
      {"i32s", PirKind::Int32s},
      {"i64s", PirKind::Int64s},
      {"f32s", PirKind::Float32s},
      {"ints", PirKind::Integers},
      {"intarray", PirKind::Integers},
      {"dtype", PirKind::DataType},
      {"place", PirKind::Place},
      {"scalars", PirKind::Scalars},
  };
  for (const auto &[text, kind] : kinds)
    if (text == name)
      return kind;
  return PirKind::String;
}

PirOperand parseOperand(std::string_view text) {
  PirOperand operand;
  if (text == "-") {
    operand.form = PirOperand::Nothing;
  } else if (text.starts_with('=')) {
    operand.form = PirOperand::Overwritten;
    operand.slot = text.substr(1);
  } else if (text.find(':') == text.npos) {
    operand.isOptional = takeLast(text, '?');
    operand.form = takeLast(text, '*') ? PirOperand::List : PirOperand::Tensor;
    operand.slot = text;
  } else {
    operand.form = PirOperand::Attribute;
    std::string_view names = takeUntil(text, ':');
    operand.name = takeUntil(names, '=');
    operand.legacy = names.empty() ? operand.name : names;
    std::string_view kind = takeUntil(text, '@');
    operand.kind = kindNamed(takeUntil(kind, '='));
    if (!kind.empty())
      operand.otherwise = kind;
    operand.slot = takeUntil(text, '/');
    operand.listSlot = text;
  }
  return operand;
}

PirResult parseResult(std::string_view text) {
  PirResult result;
  result.isOptional = takeLast(text, '?');
  result.isList = takeLast(text, '*');
  result.slot = takeUntil(text, '~');
  result.sameAs = text;
  return result;
}

PirAttribute parseAttribute(std::string_view text) {
  PirAttribute attribute;
  std::string_view names = takeUntil(text, ':');
  attribute.name = takeUntil(names, '=');
  attribute.legacy = names.empty() ? attribute.name : names;
  const size_t length = text.find('=');
  attribute.kind = kindNamed(text.substr(0, length));
  if (length != text.npos)
    attribute.otherwise = text.substr(length + 1);
  return attribute;
}

PirOperator parseRow(const PirRow &row) {
  PirOperator parsed{row.name, row.legacy, {}, {}, {}, {}};
  for (std::string_view rest = row.operands; !rest.empty();)
    parsed.operands.push_back(parseOperand(takeUntil(rest, ' ')));
  for (std::string_view rest = row.results; !rest.empty();)
    parsed.results.push_back(parseResult(takeUntil(rest, ' ')));
  for (std::string_view rest = row.attributes; !rest.empty();) {
    std::string_view each = takeUntil(rest, ' ');
    const bool selects = each.starts_with('+');
    if (!selects && !each.starts_with('!')) {
      parsed.attributes.push_back(parseAttribute(each));
      continue;
    }
    each.remove_prefix(1);
    const std::string_view name = takeUntil(each, '=');
    parsed.fixed.push_back({name, each, selects});
  }
  return parsed;
}

/// The table indexed by both names.
struct Index {
  std::vector<PirOperator> operators;
  std::unordered_map<std::string_view, const PirOperator *> byName;
  std::unordered_multimap<std::string_view, const PirOperator *> byLegacy;

  Index() {
    for (const PirRow &row : pirRows())
      operators.push_back(parseRow(row));
    for (const PirOperator &each : operators) {
      byName.emplace(each.name, &each);
      byLegacy.emplace(each.legacy, &each);
    }
  }
};

const Index &index() {
  static const Index made;
  return made;
}

} // namespace

std::span<const PirOperator> pirOperators() { return index().operators; }

const PirOperator *findPirOperator(std::string_view name) {
  if (!name.starts_with("pd_op."))
    return nullptr;
  name.remove_prefix(6);
  auto found = index().byName.find(name);
  if (found == index().byName.end() && name.ends_with('_')) {
    name.remove_suffix(1);
    found = index().byName.find(name);
  }
  return found == index().byName.end() ? nullptr : found->second;
}

//===----------------------------------------------------------------------===//
// The row of an older operator
//===----------------------------------------------------------------------===//

/// Older generations of an operator that differ only in results for training.
static constexpr std::pair<std::string_view, std::string_view> sameOperators[] =
    {
        {"reshape", "reshape2"},
        {"squeeze", "squeeze2"},
        {"transpose", "transpose2"},
        {"unsqueeze", "unsqueeze2"},
};

/// Whether \p op has an argument in \p slot.
static bool hasInput(const Operator &op, std::string_view slot) {
  const auto *arguments = op.input(slot);
  return arguments && !arguments->empty();
}

/// Whether \p row, among those with the same older name, is the one for \p op.
static bool selects(const PirOperator &row, const Operator &op) {
  for (const FixedAttribute &each : row.fixed) {
    const AttributeValue *value = op.attribute(each.name);
    if (each.selects && (!value || !equalsTableValue(*value, each.value)))
      return false;
  }
  // Tensors in place of constants.
  const bool takesValue =
      std::ranges::count(row.operands, "ValueTensor", &PirOperand::slot) > 0;
  bool hasValue = hasInput(op, "ValueTensor");
  if (row.legacy == "fill_constant")
    hasValue |= hasInput(op, "ShapeTensor") || hasInput(op, "ShapeTensorList");
  if (takesValue != hasValue)
    return false;
  const AttributeValue *parts = op.attribute("num");
  const int64_t *count = parts ? std::get_if<int64_t>(parts) : nullptr;
  if (row.legacy == "split")
    return (row.name == "split_with_num") == (count && *count > 0);
  if (row.name == "full_int_array" || row.name == "assign_value") {
    const AttributeValue *shape = op.attribute("shape");
    const auto *sizes =
        shape ? std::get_if<std::vector<int64_t>>(shape) : nullptr;
    const AttributeValue *type = op.attribute("dtype");
    const bool isList =
        sizes && sizes->size() == 1 && type && equalsTableValue(*type, "3");
    return (row.name == "full_int_array") == isList;
  }
  return row.name != "assign_out_";
}

const PirOperator *findLegacyOperator(const Operator &op) {
  std::string_view type = op.type;
  for (const auto &[older, newer] : sameOperators)
    if (type == older)
      type = newer;
  const auto [begin, end] = index().byLegacy.equal_range(type);
  for (auto each = begin; each != end; ++each)
    if (selects(*each->second, op))
      return each->second;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Values in the table
//===----------------------------------------------------------------------===//

static double numberOf(std::string_view text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

AttributeValue parseTableValue(PirKind kind, std::string_view text) {
  switch (kind) {
  case PirKind::Bool:
    return text == "true";
  case PirKind::Int32:
  case PirKind::Int64:
  case PirKind::DataType:
    return static_cast<int64_t>(numberOf(text));
  case PirKind::Float32:
    return static_cast<double>(static_cast<float>(numberOf(text)));
  case PirKind::Float64:
    return numberOf(text);
  case PirKind::String:
    return std::string(text);
  case PirKind::Float32s: {
    std::vector<double> list;
    while (!text.empty())
      list.push_back(static_cast<float>(numberOf(takeUntil(text, ','))));
    return list;
  }
  case PirKind::Int32s:
  case PirKind::Int64s:
  case PirKind::Integers: {
    std::vector<int64_t> list;
    while (!text.empty())
      list.push_back(static_cast<int64_t>(numberOf(takeUntil(text, ','))));
    return list;
  }
  case PirKind::Place:
  case PirKind::Scalars:
    break;
  }
  return std::monostate();
}

bool equalsTableValue(const AttributeValue &value, std::string_view text) {
  if (const auto *flag = std::get_if<bool>(&value))
    return *flag == (text == "true" || text == "1");
  if (const auto *string = std::get_if<std::string>(&value))
    return *string == text;
  if (text == "true" || text == "false") {
    const auto *number = std::get_if<int64_t>(&value);
    return number && (*number != 0) == (text == "true");
  }
  if (const auto *number = std::get_if<int64_t>(&value))
    return static_cast<double>(*number) == numberOf(text);
  if (const auto *number = std::get_if<double>(&value))
    return *number == numberOf(text) ||
           *number == static_cast<float>(numberOf(text));
  const auto *list = std::get_if<std::vector<int64_t>>(&value);
  return list && list->empty() && text.empty();
}

} // namespace sinter::paddle
