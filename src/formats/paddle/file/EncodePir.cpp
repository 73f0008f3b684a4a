//===- EncodePir.cpp - programs to PIR's JSON -----------------------------===//
//
// PIR is in SSA form: a variable is, at each point, the value that was written
// last. Operators of a program that was read from PIR have their original text.
// It is written unchanged if their operands and results are the same, and so is
// what Program has no operators for (PirSkeleton.h) if it is still used.
// Everything has a position: its index in the file, or for new operators one
// after that of the operator before it.
//
//===----------------------------------------------------------------------===//

#include "formats/import/Unsupported.h"
#include "formats/paddle/file/PirEncoder.h"
#include "formats/paddle/file/PirProgram.h"

#include <algorithm>
#include <charconv>

namespace sinter::paddle {
/// The id in a value's name ("%7"); 0 for another name.
static int64_t numberOfName(std::string_view name) {
  int64_t number = 0;
  if (!name.starts_with('%'))
    return 0;
  const char *const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + 1, end, number);
  return error == std::errc() && stop == end && number > 0 ? number : 0;
}

void PirEncoder::fail(const std::string &why) {
  if (!problem)
    problem = invalidModel(why);
}

void PirEncoder::refuse(const Operator &op, const std::string &why) {
  ++unsupportedOperators[why.empty() ? op.type : op.type + " (" + why + ")"];
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

void PirEncoder::add(int64_t ordinal, std::string text,
                     std::span<const int64_t> operands,
                     std::span<const int64_t> results) {
  if (current != 0)
    innerReads.insert(innerReads.end(), operands.begin(), operands.end());
  for (const int64_t id : operands)
    if (const auto made = placeOfIds.find(id); made != placeOfIds.end())
      place = std::max(place, made->second);
  place = ordinal > place.first ? Place{ordinal, 0}
                                : Place{place.first, place.second + 1};
  chunks->push_back({place, std::move(text)});
  for (const int64_t id : results)
    placeOfIds[id] = place;
}

/// Adds an item at its original position: its operands are defined before that,
/// unless an operator was moved; then at the current one.
void PirEncoder::addHidden(PirSkeleton::Item &item) {
  const auto ordinal = static_cast<int64_t>(item.raw.ordinal);
  bool isBefore = true;
  for (const int64_t id : item.raw.operands)
    if (const auto made = placeOfIds.find(id); made != placeOfIds.end())
      isBefore &= made->second < Place{ordinal, 0};
  std::vector<int64_t> results;
  for (const RawPirOperator::Result &result : item.raw.results)
    results.push_back(result.id);
  if (!isBefore)
    return addNew(std::string(item.raw.text), item.raw.operands, results);
  chunks->push_back({{ordinal, 0}, std::string(item.raw.text)});
  for (const int64_t id : results)
    placeOfIds[id] = {ordinal, 0};
}

std::string PirEncoder::stopsGradient(size_t count) {
  std::string text = R"({"AT":{"#":"0.a_array","D":[)";
  for (size_t i = 0; i < count; ++i)
    text += std::string(i > 0 ? "," : "") + R"({"#":"0.a_bool","D":true})";
  return text + R"(]},"N":"stop_gradient"})";
}

void PirEncoder::appendResult(std::string &out, int64_t id,
                              const Variable *variable,
                              const std::string &name) {
  out += out.empty() ? "" : ",";
  out += "{\"%\":" + std::to_string(id) + ",\"TT\":";
  if (!variable)
    out += R"({"#":"NULL"})";
  else if (!appendTensorType(out, *variable))
    fail("variable '" + name + "' has no type that PIR knows");
  out += '}';
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// The index before an operator's text; -1 for a new operator.
static int64_t ordinalOf(const Operator &op, std::string_view &text) {
  int64_t ordinal = -1;
  if (op.encodedEra != Era::Pir || op.encoded.empty())
    return -1;
  const size_t colon = op.encoded.find(':');
  if (colon == op.encoded.npos)
    return -1;
  std::from_chars(op.encoded.data(), op.encoded.data() + colon, ordinal);
  text = std::string_view(op.encoded).substr(colon + 1);
  return ordinal;
}

void PirEncoder::noteIds(const RawPirOperator &raw) {
  for (const RawPirOperator::Result &result : raw.results)
    largestId = std::max(largestId, result.id);
  // An id that an operator uses stays reserved even if its definition is gone.
  for (const int64_t id : raw.operands)
    largestId = std::max(largestId, id);
  readLists.insert(raw.operands.begin(), raw.operands.end());
}

void PirEncoder::noteSkeleton(PirSkeleton &block) {
  for (PirSkeleton::Item &item : block.items) {
    noteIds(item.raw);
    if (item.raw.results.size() == 1 && item.raw.name == "builtin.combine")
      combines[item.raw.results[0].id] = &item;
    if (!item.raw.operands.empty() &&
        (item.raw.name == "builtin.split" || item.raw.name == "builtin.slice"))
      parts.emplace(item.raw.operands[0], &item);
    if (!item.blocks.empty())
      groups[static_cast<int64_t>(item.raw.ordinal)] = &item;
    for (PirSkeleton &nested : item.blocks)
      noteSkeleton(nested);
  }
}

std::string PirEncoder::encodeBlock(int64_t index, PirSkeleton *skeleton,
                                    const PirEnding &ending) {
  const Block &block = program.blocks[index];
  std::vector<Chunk> own;
  std::vector<Chunk> *const outerChunks = chunks;
  const int64_t outer = current;
  const size_t outerUndo = undo.size();
  chunks = &own;
  current = index;
  if (index == 0)
    encodePorts(skeleton);
  if (skeleton) {
    for (size_t i = 0; i < skeleton->arguments.size(); ++i)
      if (i < block.arguments.size()) {
        definedIds.insert(skeleton->arguments[i]);
        setName(block.arguments[i], skeleton->arguments[i], false);
      }
    for (PirSkeleton::Item &item : skeleton->items)
      if (item.raw.name == "pd_op.create_array" &&
          item.raw.results.size() == 1) {
        const int64_t id = item.raw.results[0].id;
        define("%" + std::to_string(id), id);
        addHidden(item);
      }
  }
  if (ending.form == PirEnding::NewLoop)
    for (size_t i = 0; i < ending.arguments.size(); ++i)
      setName(ending.results[i + 1], ending.arguments[i], false);
  std::span<const Operator> rest = block.operators;
  PirSkeleton::Item *end = nullptr;
  if (skeleton && !skeleton->items.empty() &&
      skeleton->items.back().raw.name == "cf.yield")
    end = &skeleton->items.back();
  while (!rest.empty())
    rest = rest.subspan(encodeNext(rest, skeleton, end));
  if (index == 0)
    encodeOutputs(skeleton);
  else if (end)
    encodeEnd(endOperators, *end, ending);
  else if (ending.form >= PirEnding::NewBranch)
    addNew(encodeYield(ending.results), {}, {});
  endOperators = {};
  if (skeleton)
    addUnreadLists(*skeleton);
  std::ranges::sort(own, {}, &Chunk::place);
  std::string text;
  for (const Chunk &each : own)
    text += (text.empty() ? "" : ",") + each.text;
  // Values of a region are not visible outside.
  for (; undo.size() > outerUndo; undo.pop_back()) {
    std::vector<int64_t> &ids = idsOfNames[undo.back().name];
    if (undo.back().isAlias)
      ids.pop_back();
    else
      ids = std::move(undo.back().before);
  }
  chunks = outerChunks;
  current = outer;
  return text;
}

/// Encodes the first operator or group in \p rest; returns the number of
/// operators.
size_t PirEncoder::encodeNext(std::span<const Operator> rest,
                              PirSkeleton *skeleton, PirSkeleton::Item *end) {
  const Operator &op = rest.front();
  std::string_view text;
  const int64_t ordinal = ordinalOf(op, text);
  if (ordinal < 0 || (text.empty() && !skeleton)) {
    if (const size_t count = encodeNewGroup(rest); count > 0)
      return count;
    encodeNew(op);
    return 1;
  }
  if (!text.empty()) {
    RawPirOperator raw;
    raw.ordinal = ordinal;
    JsonReader in(text);
    if (!readPirOperator(in, raw)) {
      fail("operator '" + op.type + "' has a text that is not PIR's");
      return 1;
    }
    encodeRead(op, raw);
    return 1;
  }
  size_t count = 0;
  std::string_view ignored;
  while (count < rest.size() && ordinalOf(rest[count], ignored) == ordinal)
    ++count;
  if (end && static_cast<int64_t>(end->raw.ordinal) == ordinal) {
    endOperators = rest.first(count);
    return count;
  }
  if (const auto group = groups.find(ordinal); group != groups.end())
    return encodeGroup(rest.first(count), *group->second);
  encodeNew(op);
  return 1;
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

void PirEncoder::collect(PirSkeleton &skeleton) {
  noteSkeleton(skeleton);
  declared.resize(program.blocks.size());
  for (size_t i = 0; i < program.blocks.size(); ++i) {
    for (const Variable &variable : program.blocks[i].variables) {
      declared[i].emplace(variable.name, &variable);
      largestId = std::max(largestId, numberOfName(variable.name));
    }
    for (const Operator &op : program.blocks[i].operators) {
      std::string_view text;
      if (ordinalOf(op, text) < 0 || text.empty())
        continue;
      // Results without a name have ids, too.
      RawPirOperator raw;
      JsonReader in(text);
      if (readPirOperator(in, raw))
        noteIds(raw);
    }
  }
}

/// Adds lists that were already unused in the file.
void PirEncoder::addUnreadLists(PirSkeleton &skeleton) {
  for (PirSkeleton::Item &item : skeleton.items) {
    if (item.raw.name != "builtin.combine" || item.raw.results.size() != 1 ||
        readLists.contains(item.raw.results[0].id))
      continue;
    const bool isWhole = std::ranges::all_of(
        item.raw.operands, [&](int64_t id) { return definedIds.contains(id); });
    if (isWhole && definedIds.insert(item.raw.results[0].id).second)
      addHidden(item);
  }
}

Result<std::string> PirEncoder::encode() {
  static constexpr std::string_view emptyProgram =
      R"({"base_code":{"magic":"pir","trainable":true,"version":1},)"
      R"("program":{"regions":[{"#":"region_0","blocks":[{"#":"block_0",)"
      R"("args":[],"ops":[]}]}]}})";
  const bool isRead =
      program.era == Era::Pir && program.encoded.starts_with('{');
  const std::string_view text = isRead ? program.encoded : emptyProgram;
  PirSkeleton skeleton;
  if (program.blocks.empty() || !parsePirSkeleton(text, skeleton))
    return invalidModel("the program has no blocks");
  collect(skeleton);
  const std::string operators = encodeBlock(0, &skeleton, {});
  // Unknown operators are the cause of other missing values.
  if (!unsupportedOperators.empty()) {
    return unsupported("operators that PIR has no name for: " +
                       formats::listOf(unsupportedOperators));
  }
  if (problem)
    return *problem;
  const size_t begin = skeleton.operators.data() - text.data();
  std::string out(text.substr(0, begin));
  out += operators;
  return out.append(text.substr(begin + skeleton.operators.size()));
}

Result<std::string> encodePir(const Program &program) {
  return PirEncoder(program).encode();
}

} // namespace sinter::paddle
