#include "formats/paddle/file/OlderForm.h"

#include "formats/paddle/file/PirNames.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

namespace sinter::paddle {

bool isFromPir(const Program &program) {
  if (program.encoded.starts_with('{'))
    return true;
  return std::ranges::any_of(program.blocks, [](const Block &block) {
    return std::ranges::any_of(block.operators, [](const Operator &op) {
      return op.encodedEra == Era::Pir && !op.encoded.empty();
    });
  });
}

namespace {

class OlderForm {
public:
  explicit OlderForm(const Program &from) : program(from) {}

  Program make() {
    program.encoded.clear();
    for (Block &block : program.blocks) {
      for (Variable &variable : block.variables)
        variable.index = -1;
      for (Operator &op : block.operators)
        op.encoded.clear();
    }
    findConstants();
    for (Block &block : program.blocks)
      for (Operator &op : block.operators)
        fold(op);
    dropUnread();
    for (Block &block : program.blocks)
      replaceShapes(block);
    return std::move(program);
  }

private:
  static bool isConstant(const Operator &op) {
    return op.inputs.empty() &&
           (op.type == "assign_value" || op.type == "fill_constant");
  }

  /// The constant value of \p op, a list or a scalar.
  static AttributeValue constantOf(const Operator &op) {
    for (const char *name : {"int64_values", "int32_values", "value"})
      if (const AttributeValue *value = op.attribute(name);
          value && (op.type == "assign_value") == (name[0] == 'i'))
        return *value;
    return {};
  }

  static int64_t elementCount(const Operator &op) {
    const AttributeValue *shape = op.attribute("shape");
    const auto *sizes =
        shape ? std::get_if<std::vector<int64_t>>(shape) : nullptr;
    if (!sizes || sizes->size() > 1)
      return -1;
    return sizes->empty() ? 1 : sizes->front();
  }

  void findConstants() {
    std::unordered_map<std::string, int> writes;
    for (const Block &block : program.blocks)
      for (const Operator &op : block.operators)
        for (const Slot &slot : op.outputs)
          for (const std::string &name : slot.arguments)
            ++writes[name];
    for (const Block &block : program.blocks)
      for (const Operator &op : block.operators) {
        const auto *names = op.output("Out");
        if (!isConstant(op) || !names || names->size() != 1 ||
            writes[names->front()] != 1 || elementCount(op) < 0 ||
            (op.type == "fill_constant" && elementCount(op) != 1))
          continue;
        AttributeValue value = constantOf(op);
        if (value.index() != 0)
          constants.emplace(names->front(), std::move(value));
      }
  }

  /// \p value converted to an attribute of kind \p kind; monostate if
  /// impossible.
  static AttributeValue converted(const AttributeValue &value, PirKind kind) {
    const auto *list = std::get_if<std::vector<int64_t>>(&value);
    if (kind == PirKind::Integers && list)
      return value;
    double number = 0;
    if (const auto *real = std::get_if<double>(&value))
      number = *real;
    else if (const auto *integer = std::get_if<int64_t>(&value))
      number = static_cast<double>(*integer);
    else if (list && list->size() == 1)
      number = static_cast<double>(list->front());
    else
      return {};
    if (kind == PirKind::Float32 || kind == PirKind::Float64)
      return number;
    if (number != std::trunc(number) || std::abs(number) > 0x1p53)
      return {};
    const auto integer = static_cast<int64_t>(number);
    if (kind == PirKind::Integers)
      return std::vector<int64_t>{integer};
    return integer;
  }

  void fold(Operator &op) const {
    const PirOperator *row = findLegacyOperator(op);
    if (!row)
      return;
    for (const PirOperand &operand : row->operands) {
      if (operand.form != PirOperand::Attribute || operand.slot.empty())
        continue;
      const auto slot = std::ranges::find(op.inputs, operand.slot, &Slot::name);
      if (slot == op.inputs.end() || slot->arguments.size() != 1)
        continue;
      const auto found = constants.find(slot->arguments.front());
      if (found == constants.end())
        continue;
      AttributeValue value = converted(found->second, operand.kind);
      if (value.index() == 0)
        continue;
      op.inputs.erase(slot);
      std::erase_if(op.attributes, [&](const Attribute &each) {
        return each.name == operand.legacy;
      });
      op.attributes.push_back({std::string(operand.legacy), std::move(value)});
    }
  }

  /// Removes unused constants and their variables.
  void dropUnread() {
    std::unordered_set<std::string> read;
    for (const Port &port : program.outputs)
      read.insert(port.variable);
    for (const Block &block : program.blocks)
      for (const Operator &op : block.operators) {
        for (const Slot &slot : op.inputs)
          read.insert(slot.arguments.begin(), slot.arguments.end());
        for (const Attribute &each : op.attributes)
          if (const auto *names = std::get_if<VariableNames>(&each.value))
            read.insert(names->names.begin(), names->names.end());
      }
    std::unordered_set<std::string> dropped;
    for (Block &block : program.blocks)
      std::erase_if(block.operators, [&](const Operator &op) {
        const auto *names = op.output("Out");
        const bool hasNoElementUse = isConstant(op) && names &&
                                     names->size() == 1 &&
                                     constants.contains(names->front()) &&
                                     !read.contains(names->front());
        if (hasNoElementUse)
          dropped.insert(names->front());
        return hasNoElementUse;
      });
    for (Block &block : program.blocks)
      std::erase_if(block.variables, [&](const Variable &each) {
        return dropped.contains(each.name);
      });
  }

  /// Replaces shape64 by the older shape, which is 32-bit, and a cast.
  static void replaceShapes(Block &block) {
    std::vector<Operator> operators;
    for (Operator &op : block.operators) {
      operators.push_back(std::move(op));
      Operator &shape = operators.back();
      if (shape.type != "shape64" || shape.outputs.empty() ||
          shape.outputs[0].arguments.size() != 1)
        continue;
      const std::string name = shape.outputs[0].arguments[0];
      Variable variable;
      for (const Variable &each : block.variables)
        if (each.name == name)
          variable = each;
      variable.name = name + ".short";
      variable.type = ElementType::I32;
      shape.type = "shape";
      shape.outputs[0].arguments = {variable.name};
      Operator cast;
      cast.type = "cast";
      cast.inputs = {{"X", {variable.name}}};
      cast.outputs = {{"Out", {name}}};
      cast.attributes = {{"in_dtype", int64_t(2)}, {"out_dtype", int64_t(3)}};
      block.variables.push_back(std::move(variable));
      operators.push_back(std::move(cast));
    }
    block.operators = std::move(operators);
  }

  Program program;
  std::unordered_map<std::string, AttributeValue> constants;
};

} // namespace

Program inOlderForm(const Program &program) {
  return OlderForm(program).make();
}

} // namespace sinter::paddle
