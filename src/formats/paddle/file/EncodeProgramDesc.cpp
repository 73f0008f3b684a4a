//===- EncodeProgramDesc.cpp - programs to protobuf -----------------------===//

#include "formats/WireReader.h"
#include "formats/import/Unsupported.h"
#include "formats/paddle/file/DataTypes.h"
#include "formats/paddle/file/OlderForm.h"
#include "formats/paddle/file/OperatorDesc.h"
#include "formats/paddle/file/ProgramDesc.h"
#include "formats/paddle/file/ProgramSkeleton.h"
#include "formats/paddle/file/framework.pb.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace sinter::paddle {

using schema::BlockDesc;
using schema::ProgramDesc;
using schema::VarType;

namespace {

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

int32_t typeNumber(VariableKind kind) {
  switch (kind) {
  case VariableKind::Feed:
    return VarType::FEED_MINIBATCH;
  case VariableKind::Fetch:
    return VarType::FETCH_LIST;
  case VariableKind::TensorArray:
    return VarType::LOD_TENSOR_ARRAY;
  case VariableKind::StepScopes:
    return VarType::STEP_SCOPES;
  case VariableKind::Raw:
    return VarType::RAW;
  default:
    return VarType::LOD_TENSOR;
  }
}

/// The bytes of a new variable. \p isFed: whether it is an input of the
/// program.
Result<std::string> encodeVariable(const Variable &variable, bool isFed) {
  auto refuse = [&](const std::string &why) {
    return unsupported("variable '" + variable.name + "' " + why +
                       ", for which a program in protobuf has no form");
  };
  if (variable.kind == VariableKind::Other)
    return refuse("is of kind " + variable.kindName);
  schema::VarDesc message;
  message.set_name(variable.name);
  VarType &type = *message.mutable_type();
  type.set_type(typeNumber(variable.kind));
  if (variable.kind == VariableKind::Tensor ||
      variable.kind == VariableKind::TensorArray) {
    const std::optional<int32_t> number =
        variable.type ? numberOfElementType(*variable.type) : std::nullopt;
    if (!number)
      return refuse(variable.type
                        ? "has elements " + std::string(name(*variable.type))
                        : "has elements of no known type");
    VarType::LoDTensorDesc &described = variable.kind == VariableKind::Tensor
                                            ? *type.mutable_lod_tensor()
                                            : *type.mutable_tensor_array();
    described.mutable_tensor()->set_data_type(*number);
    for (int64_t size : variable.dims)
      described.mutable_tensor()->add_dims(size);
    described.set_lod_level(variable.lodLevel);
  }
  message.set_persistable(variable.isPersistable);
  if (isFed)
    message.set_need_check_feed(true);
  if (variable.stopsGradient)
    message.set_stop_gradient(true);
  return message.SerializePartialAsString();
}

//===----------------------------------------------------------------------===//
// feed and fetch
//===----------------------------------------------------------------------===//

Operator newFeed(const Port &port, int64_t column) {
  Operator op;
  op.type = "feed";
  op.inputs = {{"X", {"feed"}}};
  op.outputs = {{"Out", {port.variable}}};
  op.attributes = {{"col", column}};
  return op;
}

Operator newFetch(const Port &port, int64_t column) {
  Operator op;
  op.type = "fetch";
  op.inputs = {{"X", {port.variable}}};
  op.outputs = {{"Out", {"fetch"}}};
  op.attributes = {{"col", column}};
  return op;
}

/// The operators feed (or fetch) of a program: those of its file if the number
/// of ports is unchanged, else new ones.
class PortOperators {
public:
  explicit PortOperators(const std::vector<Port> &ports) : ports(ports) {}

  void addPresent(Operator op) { present.push_back(std::move(op)); }

  /// Sets \p slots of each existing one (the feed's outputs, the fetch's
  /// inputs) to the current variable of its port; false if their number differs
  /// from that of the ports.
  bool adapt(std::vector<Slot> Operator::*slots) {
    if (present.size() != ports.size())
      return false;
    std::map<int64_t, Operator *> byColumn;
    for (Operator &op : present) {
      const AttributeValue *column = op.attribute("col");
      byColumn[column ? std::get<int64_t>(*column) : 0] = &op;
    }
    size_t i = 0;
    for (auto [column, op] : byColumn) {
      // It has exactly one variable there, which the decoder checks.
      for (Slot &slot : op->*slots)
        if (slot.arguments.size() == 1)
          slot.arguments.front() = ports[i].variable;
      ++i;
    }
    return true;
  }

  void renew(Operator (*make)(const Port &, int64_t)) {
    present.clear();
    for (size_t i = 0; i < ports.size(); ++i)
      present.push_back(make(ports[i], static_cast<int64_t>(i)));
  }

  std::vector<Operator> present;

private:
  const std::vector<Port> &ports;
};

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

class BlockEncoder {
public:
  BlockEncoder(const Program &program, size_t index,
               std::span<const std::byte> skeleton)
      : program(program), index(index), block(program.blocks[index]),
        skeleton(skeleton), feeds(program.inputs), fetches(program.outputs) {}

  Result<std::string> encode() {
    countKept();
    arrange();
    size_t variable = 0;
    WireReader reader(skeleton);
    for (WireField field; reader.next(field) && !problem;) {
      const bool isMessage = field.type == WireType::Bytes;
      if (isMessage && field.number == BlockDesc::kVarsFieldNumber) {
        if (kept.contains(static_cast<int64_t>(variable)))
          out += viewOf(field.whole);
        if (++variable == keptVariables)
          appendNewVariables();
        continue;
      }
      const bool isOperator =
          isMessage && field.number == BlockDesc::kOpsFieldNumber;
      if (isOperator || isRun(field)) {
        if (keptVariables == 0)
          appendNewVariables();
        appendOperators(field);
        continue;
      }
      out += viewOf(field.whole);
    }
    // A block that had no variables or no operators.
    if (keptVariables == 0)
      appendNewVariables();
    appendSequence();
    if (problem)
      return *problem;
    return std::move(out);
  }

private:
  /// Counts the skeleton's variables and operators, and those that stay.
  void countKept() {
    for (const Variable &each : block.variables)
      if (each.index >= 0)
        kept.insert(each.index);
    WireReader reader(skeleton);
    for (WireField field; reader.next(field);) {
      const bool isMessage = field.type == WireType::Bytes;
      if (isMessage && field.number == BlockDesc::kVarsFieldNumber)
        ++keptVariables;
      if (isRun(field)) {
        keptOperators += field.value;
        ++runs;
      }
      if (!isMessage || field.number != BlockDesc::kOpsFieldNumber)
        continue;
      Result<Operator> op = decodeOperator(field.content);
      if (!op) {
        problem = op.takeError();
        return;
      }
      (op->type == "feed" ? feeds : fetches).addPresent(std::move(*op));
    }
  }

  /// Decides whether operators keep their positions, or are written in the
  /// order feed, others, fetch.
  void arrange() {
    bool untouched = keptOperators == block.operators.size();
    // A fetch between operators takes the value at that point.
    if (runs > 1)
      for (const Operator &op : block.operators)
        untouched &= !op.encoded.empty() && op.encodedEra == Era::Protobuf;
    if (index == 0) {
      if (!feeds.adapt(&Operator::outputs)) {
        feeds.renew(newFeed);
        hasNewFeeds = true;
        untouched = false;
      }
      if (!fetches.adapt(&Operator::inputs)) {
        fetches.renew(newFetch);
        hasNewFetches = true;
        untouched = false;
      }
    }
    inPlace = untouched;
  }

  void appendOperators(const WireField &field) {
    if (!inPlace)
      return appendSequence();
    if (isRun(field)) {
      for (uint64_t i = 0; i < field.value; ++i)
        appendOperator(block.operators[nextOperator++]);
      return;
    }
    const Result<Operator> op = decodeOperator(field.content);
    if (op && op->type == "feed")
      appendOperator(feeds.present[nextFeed++]);
    else
      appendOperator(fetches.present[nextFetch++]);
  }

  /// Appends the remaining operators.
  void appendSequence() {
    if (index == 0)
      while (nextFeed < feeds.present.size())
        appendOperator(feeds.present[nextFeed++]);
    while (nextOperator < block.operators.size())
      appendOperator(block.operators[nextOperator++]);
    if (index == 0)
      while (nextFetch < fetches.present.size())
        appendOperator(fetches.present[nextFetch++]);
  }

  void appendOperator(const Operator &op) {
    if (problem)
      return;
    Result<std::string> bytes = encodeOperator(op);
    if (bytes)
      appendField(out, BlockDesc::kOpsFieldNumber, *bytes);
    else
      problem = bytes.takeError();
  }

  void appendNewVariables() {
    if (std::exchange(hasNewVariables, true))
      return;
    std::unordered_set<std::string_view> fed;
    if (index == 0)
      for (const Port &port : program.inputs)
        fed.insert(port.variable);
    bool hasFeed = false, hasFetch = false;
    for (const Variable &each : block.variables) {
      hasFeed |= each.kind == VariableKind::Feed;
      hasFetch |= each.kind == VariableKind::Fetch;
      if (each.index < 0 || keptVariables == 0)
        appendVariable(each, fed.contains(each.name));
    }
    if (index != 0)
      return;
    // The variables of new feed and fetch operators.
    if (hasNewFeeds && !hasFeed)
      appendVariable(listVariable("feed", VariableKind::Feed), false);
    if (hasNewFetches && !hasFetch)
      appendVariable(listVariable("fetch", VariableKind::Fetch), false);
  }

  static Variable listVariable(const char *name, VariableKind kind) {
    Variable variable;
    variable.name = name;
    variable.kind = kind;
    variable.isPersistable = true;
    return variable;
  }

  void appendVariable(const Variable &variable, bool isFed) {
    if (problem)
      return;
    Result<std::string> bytes = encodeVariable(variable, isFed);
    if (bytes)
      appendField(out, BlockDesc::kVarsFieldNumber, *bytes);
    else
      problem = bytes.takeError();
  }

  const Program &program;
  size_t index;
  const Block &block;
  std::span<const std::byte> skeleton;

  std::unordered_set<int64_t> kept;
  size_t keptVariables = 0, keptOperators = 0, runs = 0;
  PortOperators feeds, fetches;
  bool inPlace = true, hasNewVariables = false;
  bool hasNewFeeds = false, hasNewFetches = false;
  size_t nextOperator = 0, nextFeed = 0, nextFetch = 0;
  std::string out;
  std::optional<Error> problem;
};

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// The block's message without variables and operators.
std::string newBlock(const Program &program, size_t index) {
  BlockDesc message;
  message.set_idx(static_cast<int32_t>(index));
  message.set_parent_idx(static_cast<int32_t>(program.blocks[index].parent));
  return message.SerializePartialAsString();
}

/// Whether \p skeleton belongs to a block with another parent, since the
/// program's blocks have changed.
bool isOfAnother(const Program &program, size_t index,
                 std::span<const std::byte> skeleton) {
  uint64_t parent = 0;
  WireReader reader(skeleton);
  for (WireField field; reader.next(field);)
    if (field.number == BlockDesc::kParentIdxFieldNumber)
      parent = field.value;
  return static_cast<int32_t>(parent) !=
         static_cast<int32_t>(program.blocks[index].parent);
}

/// The skeleton for a program that was not read from protobuf.
std::string newSkeleton(const Program &program) {
  // The last version whose programs have no attributes of newer kinds.
  constexpr int64_t widestRead = 2004002;
  std::string skeleton;
  for (size_t i = 0; i < program.blocks.size(); ++i)
    appendField(skeleton, ProgramDesc::kBlocksFieldNumber,
                newBlock(program, i));
  schema::Version version;
  version.set_version(widestRead);
  appendField(skeleton, ProgramDesc::kVersionFieldNumber,
              version.SerializePartialAsString());
  return skeleton;
}

/// Fails for operators of PIR without an older name, which keep that of their
/// dialect ("pd_op.foo").
Result<void> checkNames(const Program &program) {
  std::map<std::string, int64_t> unknown;
  for (const Block &block : program.blocks)
    for (const Operator &op : block.operators)
      if (op.encodedEra != Era::Protobuf &&
          op.type.find('.') != std::string::npos)
        ++unknown[op.type];
  if (unknown.empty())
    return {};
  return unsupported("operators that a program in protobuf has no name for: " +
                     formats::listOf(unknown));
}

} // namespace

Result<std::string> encodeProgramDesc(const Program &program) {
  if (isFromPir(program))
    return encodeProgramDesc(inOlderForm(program));
  if (Result<void> good = checkNames(program); !good)
    return good.takeError();
  const std::string skeleton =
      program.encoded.empty() ? newSkeleton(program) : program.encoded;
  std::string out;
  size_t index = 0;
  std::optional<Error> problem;
  const auto appendBlock = [&](std::span<const std::byte> bytes) {
    Result<std::string> block = BlockEncoder(program, index++, bytes).encode();
    if (block)
      appendField(out, ProgramDesc::kBlocksFieldNumber, *block);
    else
      problem = block.takeError();
  };
  const auto isBlock = [](const WireField &field) {
    return field.number == ProgramDesc::kBlocksFieldNumber &&
           field.type == WireType::Bytes;
  };
  size_t oldBlocks = 0;
  WireReader counter(bytesOf(skeleton));
  for (WireField field; counter.next(field);)
    oldBlocks += isBlock(field);
  WireReader reader(bytesOf(skeleton));
  for (WireField field; reader.next(field) && !problem;) {
    if (!isBlock(field)) {
      out += viewOf(field.whole);
      continue;
    }
    if (index < program.blocks.size() && index > 0 &&
        isOfAnother(program, index, field.content))
      appendBlock(bytesOf(newBlock(program, index)));
    else if (index < program.blocks.size())
      appendBlock(field.content);
    while (index >= oldBlocks && index < program.blocks.size() && !problem)
      appendBlock(bytesOf(newBlock(program, index)));
  }
  if (problem)
    return *problem;
  return out;
}

} // namespace sinter::paddle
