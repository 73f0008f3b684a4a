//===- DecodeOperator.cpp - one operator, from protobuf -------------------===//

#include "formats/WireReader.h"
#include "formats/paddle/file/OperatorDesc.h"
#include "formats/paddle/file/framework.pb.h"

#include <climits>

namespace sinter::paddle {

using schema::OpDesc;

namespace {

std::string_view textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// The name of an OpDesc.Attr; empty if it has none.
std::string_view attributeName(std::span<const std::byte> attribute) {
  WireReader reader(attribute);
  std::string_view name;
  for (WireField field; reader.next(field);)
    if (field.number == OpDesc::Attr::kNameFieldNumber &&
        field.type == WireType::Bytes) {
      name = textOf(field.content);
      break;
    }
  return name;
}

/// Whether an attribute does not affect the computation.
bool isRemark(std::string_view name) {
  return name == "op_callstack" || name == "op_role" || name == "op_role_var" ||
         name == "op_namescope" || name == "op_device" ||
         name == "with_quant_attr";
}

template <typename To, typename From> std::vector<To> listOf(const From &from) {
  return std::vector<To>(from.begin(), from.end());
}

AttributeValue scalarValue(const schema::Scalar &scalar) {
  switch (scalar.type()) {
  case schema::Scalar::BOOLEAN:
    return scalar.b();
  case schema::Scalar::LONG:
    return int64_t(scalar.i());
  case schema::Scalar::FLOAT64:
    return scalar.r();
  default:
    return std::monostate();
  }
}

/// A list of the kind of its first element, or of floats if there are any among
/// integers.
AttributeValue scalarValues(const OpDesc::Attr &attribute) {
  std::vector<bool> bools;
  std::vector<int64_t> integers;
  std::vector<double> reals;
  for (const schema::Scalar &each : attribute.scalars()) {
    const AttributeValue value = scalarValue(each);
    if (const bool *truth = std::get_if<bool>(&value)) {
      bools.push_back(*truth);
    } else if (const int64_t *integer = std::get_if<int64_t>(&value)) {
      integers.push_back(*integer);
      reals.push_back(static_cast<double>(*integer));
    } else if (const double *real = std::get_if<double>(&value)) {
      reals.push_back(*real);
    }
  }
  const auto count = static_cast<size_t>(attribute.scalars_size());
  if (integers.size() == count)
    return integers;
  if (reals.size() == count)
    return reals;
  return bools.size() == count ? AttributeValue(bools)
                               : AttributeValue(std::monostate());
}

std::vector<BlockIndex> blockList(const OpDesc::Attr &attribute) {
  std::vector<BlockIndex> blocks;
  for (int32_t index : attribute.blocks_idx())
    blocks.push_back({index});
  return blocks;
}

AttributeValue valueOf(const OpDesc::Attr &attribute) {
  switch (attribute.type()) {
  case OpDesc::INT:
    return int64_t(attribute.i());
  case OpDesc::FLOAT:
    return double(attribute.f());
  case OpDesc::STRING:
    return attribute.s();
  case OpDesc::INTS:
    return listOf<int64_t>(attribute.ints());
  case OpDesc::FLOATS:
    return listOf<double>(attribute.floats());
  case OpDesc::STRINGS:
    return listOf<std::string>(attribute.strings());
  case OpDesc::BOOLEAN:
    return attribute.b();
  case OpDesc::BOOLEANS:
    return listOf<bool>(attribute.bools());
  case OpDesc::BLOCK:
    return BlockIndex{attribute.block_idx()};
  case OpDesc::LONG:
    return int64_t(attribute.l());
  case OpDesc::BLOCKS:
    return blockList(attribute);
  case OpDesc::LONGS:
    return listOf<int64_t>(attribute.longs());
  case OpDesc::FLOAT64S:
    return listOf<double>(attribute.float64s());
  case OpDesc::VAR:
    return VariableNames{{attribute.var_name()}};
  case OpDesc::VARS:
    return VariableNames{listOf<std::string>(attribute.vars_name())};
  case OpDesc::FLOAT64:
    return attribute.float64();
  case OpDesc::SCALAR:
    return scalarValue(attribute.scalar());
  case OpDesc::SCALARS:
    return scalarValues(attribute);
  default:
    return std::monostate();
  }
}

template <typename Slots>
Result<std::vector<Slot>> slotsOf(const Slots &messages) {
  std::vector<Slot> slots;
  slots.reserve(messages.size());
  for (const OpDesc::Var &each : messages) {
    if (!each.has_parameter())
      return invalidModel("a slot has no name");
    slots.push_back({each.parameter(), listOf<std::string>(each.arguments())});
  }
  return slots;
}

} // namespace

OperatorDecoder::OperatorDecoder() : message(std::make_unique<OpDesc>()) {}
OperatorDecoder::~OperatorDecoder() = default;

/// Leaves out the attribute with the operator's Python call stack, which takes
/// most of a file.
Result<void> OperatorDecoder::keep(std::span<const std::byte> bytes) {
  kept.clear();
  WireReader reader(bytes);
  for (WireField field; reader.next(field);)
    if (field.number != OpDesc::kAttrsFieldNumber ||
        field.type != WireType::Bytes ||
        attributeName(field.content) != "op_callstack")
      kept += textOf(field.whole);
  if (reader.error())
    return invalidModel(std::string("an operator is no message: ") +
                        reader.error());
  if (kept.size() > INT_MAX)
    return invalidModel("an operator takes more than 2 GiB");
  return {};
}

Result<Operator> OperatorDecoder::decode(std::span<const std::byte> bytes) {
  if (Result<void> done = keep(bytes); !done)
    return done.takeError();
  const OpDesc &message = *this->message;
  if (!this->message->ParsePartialFromArray(kept.data(),
                                            static_cast<int>(kept.size())))
    return invalidModel("an operator is no well-formed message");
  if (!message.has_type())
    return invalidModel("an operator has no type");
  auto inOperator = [&](std::string_view problem) {
    return atNode("operator '" + message.type() + "'", /*node=*/"",
                  message.type(), invalidModel(problem));
  };
  Operator op;
  op.type = message.type();
  Result<std::vector<Slot>> inputs = slotsOf(message.inputs());
  if (!inputs)
    return inOperator(inputs.error().message());
  Result<std::vector<Slot>> outputs = slotsOf(message.outputs());
  if (!outputs)
    return inOperator(outputs.error().message());
  op.inputs = std::move(*inputs);
  op.outputs = std::move(*outputs);
  op.attributes.reserve(message.attrs_size());
  for (const OpDesc::Attr &each : message.attrs()) {
    if (!each.has_name())
      return inOperator("an attribute has no name");
    if (!each.has_type())
      return inOperator("attribute '" + each.name() + "' has no type");
    if (each.name() == "op_namescope" && each.s() != "/")
      op.scope = each.s();
    if (!isRemark(each.name()))
      op.attributes.push_back({each.name(), valueOf(each)});
  }
  op.encoded = kept;
  return op;
}

} // namespace sinter::paddle
