//===- EncodeOperator.cpp - one operator, to protobuf ---------------------===//

#include "formats/WireReader.h"
#include "formats/paddle/file/AttributeKinds.h"
#include "formats/paddle/file/OperatorDesc.h"
#include "formats/paddle/file/framework.pb.h"

#include <algorithm>

namespace sinter::paddle {

using schema::OpDesc;

namespace {

//===----------------------------------------------------------------------===//
// New operators
//===----------------------------------------------------------------------===//

void setSlot(OpDesc::Var &message, const Slot &slot) {
  message.set_parameter(slot.name);
  for (const std::string &argument : slot.arguments)
    message.add_arguments(argument);
}

double realOf(const AttributeValue &value) {
  const int64_t *integer = std::get_if<int64_t>(&value);
  return integer ? static_cast<double>(*integer) : std::get<double>(value);
}

void setFloats(OpDesc::Attr &message, const AttributeValue &value) {
  if (const auto *integers = std::get_if<std::vector<int64_t>>(&value))
    for (int64_t each : *integers)
      message.add_floats(static_cast<float>(each));
  else
    for (double each : std::get<std::vector<double>>(value))
      message.add_floats(static_cast<float>(each));
}

void setLongs(OpDesc::Attr &message, const AttributeValue &value) {
  // An empty list may be a list of floats.
  if (const auto *integers = std::get_if<std::vector<int64_t>>(&value))
    for (int64_t each : *integers)
      message.add_longs(each);
}

void setValue(OpDesc::Attr &message, const AttributeValue &value) {
  switch (message.type()) {
  case OpDesc::INT:
    return message.set_i(static_cast<int32_t>(std::get<int64_t>(value)));
  case OpDesc::FLOAT:
    return message.set_f(static_cast<float>(realOf(value)));
  case OpDesc::STRING:
    return message.set_s(std::get<std::string>(value));
  case OpDesc::INTS:
    for (int64_t each : std::get<std::vector<int64_t>>(value))
      message.add_ints(static_cast<int32_t>(each));
    return;
  case OpDesc::FLOATS:
    return setFloats(message, value);
  case OpDesc::STRINGS:
    for (const std::string &each : std::get<std::vector<std::string>>(value))
      message.add_strings(each);
    return;
  case OpDesc::BOOLEAN:
    return message.set_b(std::get<bool>(value));
  case OpDesc::BOOLEANS:
    for (bool each : std::get<std::vector<bool>>(value))
      message.add_bools(each);
    return;
  case OpDesc::BLOCK:
    return message.set_block_idx(
        static_cast<int32_t>(std::get<BlockIndex>(value).index));
  case OpDesc::LONG:
    return message.set_l(std::get<int64_t>(value));
  case OpDesc::BLOCKS:
    for (const BlockIndex &each : std::get<std::vector<BlockIndex>>(value))
      message.add_blocks_idx(static_cast<int32_t>(each.index));
    return;
  case OpDesc::LONGS:
    return setLongs(message, value);
  case OpDesc::VAR:
    return message.set_var_name(std::get<VariableNames>(value).names.front());
  case OpDesc::VARS:
    for (const std::string &each : std::get<VariableNames>(value).names)
      message.add_vars_name(each);
    return;
  default:
    return;
  }
}

Result<std::string> encodeNew(const Operator &op) {
  OpDesc message;
  for (const Slot &each : op.inputs)
    setSlot(*message.add_inputs(), each);
  for (const Slot &each : op.outputs)
    setSlot(*message.add_outputs(), each);
  message.set_type(op.type);
  for (const Attribute &each : op.attributes) {
    const std::optional<int> kind =
        attributeKind(op.type, each.name, each.value);
    if (!kind)
      return unsupported("operator '" + op.type + "': attribute '" + each.name +
                         "' is of a kind that a program in protobuf lacks");
    OpDesc::Attr &attribute = *message.add_attrs();
    attribute.set_name(each.name);
    attribute.set_type(*kind);
    setValue(attribute, each.value);
  }
  if (!op.scope.empty()) {
    OpDesc::Attr &attribute = *message.add_attrs();
    attribute.set_name("op_namescope");
    attribute.set_type(OpDesc::STRING);
    attribute.set_s(op.scope);
  }
  return message.SerializePartialAsString();
}

//===----------------------------------------------------------------------===//
// Operators from a file
//===----------------------------------------------------------------------===//

void appendBytes(std::string &out, std::span<const std::byte> bytes) {
  out.append(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}

void appendSlot(std::string &out, uint32_t number, const Slot &slot) {
  OpDesc::Var message;
  setSlot(message, slot);
  const std::string content = message.SerializePartialAsString();
  appendTag(out, number, WireType::Bytes);
  appendVarint(out, content.size());
  out += content;
}

/// The input or output slots in an operator's original bytes.
class OriginalSlots {
public:
  OriginalSlots(std::span<const std::byte> bytes, uint32_t number)
      : number(number) {
    WireReader reader(bytes);
    for (WireField field; reader.next(field);)
      if (field.number == number && field.type == WireType::Bytes) {
        OpDesc::Var message;
        message.ParsePartialFromArray(field.content.data(),
                                      static_cast<int>(field.content.size()));
        slots.push_back(
            {message.parameter(),
             {message.arguments().begin(), message.arguments().end()}});
      }
  }

  /// Whether \p now are the same slots, except for the arguments.
  bool match(const std::vector<Slot> &now) const {
    return std::ranges::equal(slots, now, {}, &Slot::name, &Slot::name);
  }

  /// Appends the next slot: the bytes \p field if \p now has the same
  /// arguments.
  void appendNext(std::string &out, const WireField &field, const Slot &now) {
    if (slots[next++].arguments == now.arguments)
      appendBytes(out, field.whole);
    else
      appendSlot(out, number, now);
  }

  size_t position() const { return next; }

private:
  uint32_t number;
  std::vector<Slot> slots;
  size_t next = 0;
};

std::string encodeStanding(const Operator &op) {
  const auto bytes = std::as_bytes(std::span(op.encoded));
  OriginalSlots inputs(bytes, OpDesc::kInputsFieldNumber);
  OriginalSlots outputs(bytes, OpDesc::kOutputsFieldNumber);
  const bool sameInputs = inputs.match(op.inputs);
  const bool sameOutputs = outputs.match(op.outputs);
  std::string out;
  out.reserve(op.encoded.size());
  if (!sameInputs)
    for (const Slot &each : op.inputs)
      appendSlot(out, OpDesc::kInputsFieldNumber, each);
  if (!sameOutputs)
    for (const Slot &each : op.outputs)
      appendSlot(out, OpDesc::kOutputsFieldNumber, each);
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    const bool isMessage = field.type == WireType::Bytes;
    if (isMessage && field.number == OpDesc::kInputsFieldNumber) {
      if (sameInputs)
        inputs.appendNext(out, field, op.inputs[inputs.position()]);
    } else if (isMessage && field.number == OpDesc::kOutputsFieldNumber) {
      if (sameOutputs)
        outputs.appendNext(out, field, op.outputs[outputs.position()]);
    } else {
      appendBytes(out, field.whole);
    }
  }
  return out;
}

} // namespace

Result<std::string> encodeOperator(const Operator &op) {
  const bool stands = !op.encoded.empty() && op.encodedEra == Era::Protobuf;
  return stands ? Result<std::string>(encodeStanding(op)) : encodeNew(op);
}

} // namespace sinter::paddle
