//===- DecodeProgramDesc.cpp - programs from protobuf ---------------------===//

#include "formats/WireReader.h"
#include "formats/paddle/file/DataTypes.h"
#include "formats/paddle/file/OperatorDesc.h"
#include "formats/paddle/file/ProgramDesc.h"
#include "formats/paddle/file/ProgramSkeleton.h"
#include "formats/paddle/file/framework.pb.h"

#include <algorithm>
#include <climits>
#include <map>

namespace sinter::paddle {

using schema::BlockDesc;
using schema::ProgramDesc;
using schema::VarType;

namespace {

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

VariableKind variableKind(int32_t number) {
  switch (number) {
  case VarType::LOD_TENSOR:
    return VariableKind::Tensor;
  case VarType::FEED_MINIBATCH:
  case VarType::FEED_LIST:
    return VariableKind::Feed;
  case VarType::FETCH_LIST:
    return VariableKind::Fetch;
  case VarType::LOD_TENSOR_ARRAY:
    return VariableKind::TensorArray;
  case VarType::STEP_SCOPES:
    return VariableKind::StepScopes;
  case VarType::RAW:
    return VariableKind::Raw;
  default:
    return VariableKind::Other;
  }
}

Result<Variable> decodeVariable(std::span<const std::byte> bytes) {
  schema::VarDesc message;
  if (bytes.size() > INT_MAX ||
      !message.ParsePartialFromArray(bytes.data(),
                                     static_cast<int>(bytes.size())))
    return invalidModel("a variable is no well-formed message");
  if (!message.has_name())
    return invalidModel("a variable has no name");
  if (!message.has_type() || !message.type().has_type())
    return invalidModel("variable '" + message.name() + "' has no type");
  const VarType &type = message.type();
  Variable variable;
  variable.name = message.name();
  variable.kind = variableKind(type.type());
  variable.kindName = nameOfTypeNumber(type.type());
  variable.isPersistable = message.persistable();
  variable.stopsGradient = message.stop_gradient();
  const VarType::LoDTensorDesc &described =
      variable.kind == VariableKind::TensorArray ? type.tensor_array()
                                                 : type.lod_tensor();
  if (described.tensor().has_data_type())
    variable.type = elementTypeOfNumber(described.tensor().data_type());
  variable.dims.assign(described.tensor().dims().begin(),
                       described.tensor().dims().end());
  variable.lodLevel = described.lod_level();
  return variable;
}

//===----------------------------------------------------------------------===//
// Ports
//===----------------------------------------------------------------------===//

/// The variable of each feed or fetch, by column.
using Columns = std::map<int64_t, std::string>;

Result<void> addColumn(Columns &columns, const Operator &op,
                       const std::vector<std::string> *arguments) {
  if (!arguments || arguments->size() != 1)
    return invalidModel("operator '" + op.type +
                        "' does not name its one variable");
  const AttributeValue *value = op.attribute("col");
  const int64_t *column = value ? std::get_if<int64_t>(value) : nullptr;
  if (value && !column)
    return invalidModel("attribute 'col' of operator '" + op.type + "' of '" +
                        arguments->front() + "' is no integer");
  if (!columns.emplace(column ? *column : 0, arguments->front()).second)
    return invalidModel("operators '" + op.type + "' of '" +
                        columns[column ? *column : 0] + "' and '" +
                        arguments->front() + "' have the same column");
  return {};
}

std::vector<Port> portsOf(const Columns &columns) {
  std::vector<Port> ports;
  for (const auto &[column, variable] : columns)
    ports.push_back({variable, variable});
  return ports;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Decodes one BlockDesc, and makes its section of the skeleton.
class BlockDecoder {
public:
  BlockDecoder(Program &program, Columns &feeds, Columns &fetches)
      : program(program), feeds(feeds), fetches(fetches),
        index(static_cast<int64_t>(program.blocks.size())) {}

  Result<void> decode(std::span<const std::byte> bytes) {
    WireReader reader(bytes);
    for (WireField field; reader.next(field);)
      if (Result<void> done = decodeField(field); !done)
        return done;
    endRun();
    if (reader.error())
      return invalidModel(reader.error());
    if (!ownIndex || !parentIndex)
      return invalidModel(!ownIndex ? "it has no index"
                                    : "it does not name its parent");
    if (*ownIndex != index)
      return invalidModel("it says that it is block " +
                          std::to_string(*ownIndex));
    if (index == 0 ? *parentIndex != -1
                   : *parentIndex < 0 || *parentIndex >= index)
      return invalidModel("block " + std::to_string(*parentIndex) +
                          " cannot be its parent");
    if (Result<void> good = checkNames(); !good)
      return good;
    block.parent = *parentIndex;
    program.blocks.push_back(std::move(block));
    return {};
  }

  std::string skeleton;

private:
  Result<void> decodeField(const WireField &field) {
    if (isRun(field))
      return invalidModel("an operator is no message");
    if (field.number == BlockDesc::kOpsFieldNumber &&
        field.type == WireType::Bytes)
      return decodeOperatorField(field);
    endRun();
    if (field.type == WireType::Varint) {
      if (field.number == BlockDesc::kIdxFieldNumber)
        ownIndex = static_cast<int32_t>(field.value);
      if (field.number == BlockDesc::kParentIdxFieldNumber)
        parentIndex = static_cast<int32_t>(field.value);
    }
    if (field.number == BlockDesc::kVarsFieldNumber &&
        field.type == WireType::Bytes)
      if (Result<void> done = decodeVariableField(field); !done)
        return done;
    skeleton += viewOf(field.whole);
    return {};
  }

  Result<void> decodeVariableField(const WireField &field) {
    Result<Variable> variable = decodeVariable(field.content);
    if (!variable)
      return variable.takeError();
    variable->index = static_cast<int64_t>(block.variables.size());
    block.variables.push_back(std::move(*variable));
    return {};
  }

  Result<void> checkNames() const {
    // Only names with the same hash are compared.
    std::vector<std::pair<size_t, std::string_view>> names;
    names.reserve(block.variables.size());
    for (const Variable &each : block.variables)
      names.push_back({std::hash<std::string_view>()(each.name), each.name});
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    if (twice != names.end())
      return invalidModel("variable '" + std::string(twice->second) +
                          "' is declared twice");
    return {};
  }

  Result<void> decodeOperatorField(const WireField &field) {
    Result<Operator> op = decoder.decode(field.content);
    if (!op)
      return op.takeError();
    const bool isFeed = op->type == "feed", isFetch = op->type == "fetch";
    if (index != 0 || (!isFeed && !isFetch)) {
      ++run;
      block.operators.push_back(std::move(*op));
      return {};
    }
    endRun();
    appendField(skeleton, BlockDesc::kOpsFieldNumber, op->encoded);
    return isFeed ? addColumn(feeds, *op, op->output("Out"))
                  : addColumn(fetches, *op, op->input("X"));
  }

  void endRun() {
    if (run > 0)
      appendRun(skeleton, run);
    run = 0;
  }

  Program &program;
  Columns &feeds, &fetches;
  int64_t index;
  Block block;
  std::optional<int32_t> ownIndex, parentIndex;
  OperatorDecoder decoder;
  uint64_t run = 0;
};

/// Checks that \p block may be an attribute of an operator in block \p around:
/// its parent must be that block, so that no block nests in itself.
Result<void> checkInside(const Program &program, const BlockIndex &block,
                         int64_t around, const std::string &type) {
  const auto count = static_cast<int64_t>(program.blocks.size());
  if (block.index <= 0 || block.index >= count ||
      program.blocks[block.index].parent != around)
    return invalidModel("operator '" + type + "' in block " +
                        std::to_string(around) + ": block " +
                        std::to_string(block.index) + " is not inside of it");
  return {};
}

Result<void> checkBlocks(const Program &program) {
  for (size_t around = 0; around < program.blocks.size(); ++around)
    for (const Operator &op : program.blocks[around].operators)
      for (const Attribute &attribute : op.attributes) {
        std::vector<BlockIndex> named;
        if (const auto *one = std::get_if<BlockIndex>(&attribute.value))
          named = {*one};
        if (const auto *list =
                std::get_if<std::vector<BlockIndex>>(&attribute.value))
          named = *list;
        for (const BlockIndex &each : named)
          if (Result<void> good = checkInside(
                  program, each, static_cast<int64_t>(around), op.type);
              !good)
            return good;
      }
  return {};
}

int64_t versionOf(std::span<const std::byte> bytes) {
  schema::Version message;
  return message.ParsePartialFromArray(bytes.data(),
                                       static_cast<int>(bytes.size()))
             ? message.version()
             : 0;
}

} // namespace

Result<Program> decodeProgramDesc(std::string_view bytes) {
  Program program;
  Columns feeds, fetches;
  WireReader reader(bytesOf(bytes));
  for (WireField field; reader.next(field);) {
    const bool isMessage = field.type == WireType::Bytes;
    if (!isMessage || field.number != ProgramDesc::kBlocksFieldNumber) {
      program.encoded += viewOf(field.whole);
      if (isMessage && field.number == ProgramDesc::kVersionFieldNumber &&
          field.content.size() <= INT_MAX)
        program.version = versionOf(field.content);
      continue;
    }
    BlockDecoder decoder(program, feeds, fetches);
    if (Result<void> done = decoder.decode(field.content); !done)
      return inside("block " + std::to_string(program.blocks.size()),
                    done.takeError());
    appendField(program.encoded, ProgramDesc::kBlocksFieldNumber,
                decoder.skeleton);
  }
  if (reader.error())
    return invalidModel(reader.error());
  if (program.blocks.empty())
    return invalidModel("there is no block in it");
  if (Result<void> good = checkBlocks(program); !good)
    return good.takeError();
  program.inputs = portsOf(feeds);
  program.outputs = portsOf(fetches);
  return program;
}

} // namespace sinter::paddle
