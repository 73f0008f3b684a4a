//===- DecodePirOperators.cpp - values and operators of PIR ---------------===//

#include "formats/paddle/file/DataTypes.h"
#include "formats/paddle/file/PirDecoder.h"

namespace sinter::paddle {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

PirValue *PirDecoder::define(int64_t id, std::string name) {
  auto [place, isNew] = values.try_emplace(id);
  if (!isNew) {
    stop(broken("value %" + std::to_string(id) + " is defined twice"));
    return nullptr;
  }
  place->second.name = std::move(name);
  place->second.depth = scopes.size();
  scopes.back().push_back(id);
  return &place->second;
}

void PirDecoder::declare(int64_t block, Variable variable, std::string name) {
  std::vector<Variable> &list = program.blocks[block].variables;
  variable.name = std::move(name);
  variable.index = static_cast<int64_t>(list.size());
  list.push_back(std::move(variable));
}

PirValue *PirDecoder::declare(const RawPirOperator &raw, size_t i,
                              int64_t block) {
  const RawPirOperator::Result &result = raw.results[i];
  const std::string name =
      result.type.isNull ? "" : "%" + std::to_string(result.id);
  PirValue *value = define(result.id, name);
  if (!value || result.type.isNull)
    return value;
  value->isList = result.type.isList;
  value->type = result.type.variable.type;
  value->isArray = result.type.variable.kind == VariableKind::TensorArray;
  if (!value->isList) {
    declare(block, result.type.variable, name);
    return value;
  }
  for (const Variable &element : result.type.elements) {
    value->elements.push_back(name + "." +
                              std::to_string(value->elements.size()));
    declare(block, element, value->elements.back());
  }
  return value;
}

const PirValue *PirDecoder::lookup(int64_t id) {
  const auto found = values.find(id);
  if (found != values.end() && found->second.isVisible)
    return &found->second;
  stop(
      broken("value %" + std::to_string(id) + " is used before it is defined"));
  return nullptr;
}

/// The operand's value; null for an absent one, and for an invalid one, with an
/// error.
const PirValue *PirDecoder::operand(const RawPirOperator &raw, size_t i) {
  if (i >= raw.operands.size() || raw.operands[i] == 0)
    return nullptr;
  const PirValue *value = lookup(raw.operands[i]);
  return value && (value->isList || !value->name.empty()) ? value : nullptr;
}

bool PirDecoder::operandNames(const RawPirOperator &raw, size_t i,
                              std::vector<std::string> &list) {
  const PirValue *value = operand(raw, i);
  if (!value)
    return problem ? false : stopAt(raw, "an operand is missing");
  if (value->isList)
    return stopAt(raw, "an operand is a list");
  list.push_back(value->name);
  return true;
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// Binds an operand that is an attribute in the older vocabulary, unless that
/// has a slot for a tensor.
bool PirDecoder::bindAttributeOperand(const PirOperand &operand,
                                      const PirValue &value, Operator &op) {
  if (value.isList) {
    if (!operand.listSlot.empty())
      op.inputs.push_back({std::string(operand.listSlot), value.elements});
    else
      op.attributes.push_back(
          {std::string(operand.legacy), VariableNames{value.elements}});
  } else if (!operand.slot.empty()) {
    op.inputs.push_back({std::string(operand.slot), {value.name}});
  } else if (value.constant.index() != 0) {
    op.attributes.push_back({std::string(operand.legacy), value.constant});
  } else {
    op.attributes.push_back(
        {std::string(operand.legacy), VariableNames{{value.name}}});
  }
  return true;
}

bool PirDecoder::bindOperands(const RawPirOperator &raw, const PirOperator *row,
                              Operator &op, std::string &overwritten) {
  for (size_t i = 0; i < raw.operands.size(); ++i) {
    const PirValue *value = operand(raw, i);
    if (problem)
      return false;
    const PirOperand *described =
        row && i < row->operands.size() ? &row->operands[i] : nullptr;
    if (!described && row)
      return stopAt(
          raw, std::to_string(raw.operands.size()) + " operands, of which " +
                   std::to_string(row->operands.size()) + " are known");
    if (!value || (described && described->form == PirOperand::Nothing))
      continue;
    if (described && described->form == PirOperand::Overwritten)
      overwritten = value->name;
    else if (described && described->form == PirOperand::Attribute)
      bindAttributeOperand(*described, *value, op);
    else if (described && described->form == PirOperand::Tensor &&
             value->isList)
      return stopAt(raw, "operand " + std::to_string(i) + " is a list");
    else
      op.inputs.push_back(
          {described ? std::string(described->slot) : "#" + std::to_string(i),
           value->isList ? value->elements
                         : std::vector<std::string>{value->name}});
  }
  return true;
}

bool PirDecoder::bindResults(const RawPirOperator &raw, const PirOperator *row,
                             int64_t block, Operator &op,
                             const std::string &overwritten) {
  for (size_t i = 0; i < raw.results.size(); ++i) {
    const PirResult *described =
        row && i < row->results.size() ? &row->results[i] : nullptr;
    const std::string slot =
        described ? std::string(described->slot) : "#" + std::to_string(i);
    const std::string *same =
        overwritten.empty() || i > 0 ? nullptr : &overwritten;
    if (described && !described->sameAs.empty())
      if (const auto *list = op.input(described->sameAs);
          list && list->size() == 1)
        same = &list->front();
    if (same) {
      op.outputs.push_back({slot, {*same}});
      const PirValue *before = nullptr;
      for (const int64_t id : raw.operands)
        if (const auto found = values.find(id);
            found != values.end() && found->second.name == *same)
          before = &found->second;
      const bool isArray = before && before->isArray;
      const auto type = before ? before->type : std::nullopt;
      PirValue *value = define(raw.results[i].id, *same);
      if (!value)
        return false;
      value->isArray = isArray;
      value->type = type;
      continue;
    }
    const PirValue *value = declare(raw, i, block);
    if (!value)
      return false;
    if (value->isList)
      op.outputs.push_back({slot, value->elements});
    else if (!value->name.empty())
      op.outputs.push_back({slot, {value->name}});
  }
  return true;
}

/// Adds the attribute of the older cast for its operand's type.
void PirDecoder::addCastType(const RawPirOperator &raw, Operator &op) {
  const PirValue *value = operand(raw, 0);
  const DataType *type =
      value && value->type ? pirTypeOf(*value->type) : nullptr;
  if (type)
    op.attributes.push_back({"in_dtype", int64_t(type->number)});
}

void PirDecoder::append(int64_t block, std::vector<Operator> operators,
                        size_t ordinal) {
  for (Operator &op : operators) {
    op.encoded = std::to_string(ordinal) + ":";
    op.encodedEra = Era::Pir;
    program.blocks[block].operators.push_back(std::move(op));
  }
}

bool PirDecoder::addOther(const RawPirOperator &raw, int64_t block) {
  Operator op;
  const PirOperator *row = findPirOperator(raw.name);
  op.type = row ? std::string(row->legacy) : raw.name;
  op.encoded = std::to_string(raw.ordinal) + ":";
  op.encoded += raw.text;
  op.encodedEra = Era::Pir;
  std::string overwritten;
  if (!bindOperands(raw, row, op, overwritten))
    return false;
  bindPirAttributes(raw, row, op);
  if (op.type == "cast")
    addCastType(raw, op);
  if (!bindResults(raw, row, block, op, overwritten))
    return false;
  if (raw.results.size() == 1)
    values.find(raw.results[0].id)->second.constant = constantOf(raw);
  // An unknown operator with regions: keep its blocks for listing their
  // operators.
  if (!raw.regions.empty()) {
    op.encoded = std::to_string(raw.ordinal) + ":";
    JsonReader in = readerOf(raw.regions);
    std::vector<int64_t> indices;
    if (!decodeRegions(in, {}, &indices))
      return false;
    std::vector<BlockIndex> blocks;
    for (const int64_t index : indices)
      blocks.push_back({index});
    op.attributes.push_back({"blocks", std::move(blocks)});
  }
  program.blocks[block].operators.push_back(std::move(op));
  return true;
}

} // namespace sinter::paddle
