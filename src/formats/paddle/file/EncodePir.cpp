//===- EncodePir.cpp - programs to PIR's JSON -----------------------------===//
//
// PIR is in SSA form: each variable is, at each place, the value that was
// written last. The operators of a program that was read from PIR have their
// text; where they take and give what they took and gave, it is written as it
// was, and so is what Program has no operators for (PirSkeleton.h) where it
// still belongs. Everything has a place: the number it had in the file, or one
// behind that of what is before it.
//
//===----------------------------------------------------------------------===//

#include "formats/paddle/file/PirEncoder.h"
#include "formats/paddle/file/PirProgram.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace sinter::paddle {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The number of a value's name ("%7"); 0 of another name.
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

const Variable *PirEncoder::declarationOf(const std::string &name) const {
  for (int64_t block = current; block >= 0;
       block = program.blocks[block].parent) {
    const auto found = declared[block].find(name);
    if (found != declared[block].end())
      return found->second;
  }
  return nullptr;
}

int64_t PirEncoder::freshId() { return ++largestId; }

void PirEncoder::setName(const std::string &name, int64_t id, bool isAlias) {
  std::vector<int64_t> &ids = idsOfNames[name];
  undo.emplace_back(name, ids);
  if (!isAlias)
    ids.clear();
  ids.push_back(id);
  nameOfIds[id] = name;
}

int64_t PirEncoder::define(const std::string &name, int64_t wanted,
                           bool isAlias) {
  const int64_t id =
      wanted != 0 && definedIds.insert(wanted).second ? wanted : freshId();
  definedIds.insert(id);
  if (!name.empty())
    setName(name, id, isAlias);
  return id;
}

int64_t PirEncoder::idOf(const std::string &name, int64_t original) {
  const auto found = idsOfNames.find(name);
  if (found != idsOfNames.end() && !found->second.empty()) {
    if (std::ranges::count(found->second, original) > 0)
      return original;
    return found->second.back();
  }
  if (const auto list = listOfParts.find(name); list != listOfParts.end()) {
    splitList(list->second);
    if (const auto again = idsOfNames.find(name); again != idsOfNames.end())
      return again->second.back();
  }
  fail("variable '" + name + "' is read before it is written");
  return 0;
}

/// Gives the elements of a list ids of their own.
void PirEncoder::splitList(int64_t id) {
  const std::vector<std::string> names = listNames[id];
  std::string results;
  std::vector<int64_t> ids;
  for (const std::string &name : names) {
    listOfParts.erase(name);
    ids.push_back(define(name, 0));
    appendResult(results, ids.back(), declarationOf(name), name);
  }
  addNew("{\"#\":\"0.split\",\"A\":[],\"I\":[{\"%\":" + std::to_string(id) +
             "}],\"O\":[" + results + "],\"OA\":[" +
             stopsGradient(names.size()) + "]}",
         std::array{id}, ids);
}

int64_t PirEncoder::listOf(const std::vector<std::string> &names,
                           int64_t original) {
  if (const auto list = listNames.find(original);
      list != listNames.end() && list->second == names)
    return original;
  if (const auto hidden = combines.find(original); hidden != combines.end()) {
    PirSkeleton::Item &item = *hidden->second;
    bool isSame = item.raw.operands.size() == names.size();
    for (size_t i = 0; isSame && i < names.size(); ++i)
      isSame = definedIds.contains(item.raw.operands[i]) &&
               idOf(names[i], item.raw.operands[i]) == item.raw.operands[i];
    if (isSame) {
      if (definedIds.insert(original).second)
        addHidden(item);
      return original;
    }
  }
  std::string operands, types;
  std::vector<int64_t> parts;
  for (const std::string &name : names) {
    parts.push_back(idOf(name, 0));
    operands += "{\"%\":" + std::to_string(parts.back()) + "},";
    const Variable *variable = declarationOf(name);
    if (!variable || !appendTensorType(types, *variable))
      fail("variable '" + name + "' has no type that PIR knows");
    types += ',';
  }
  if (!names.empty()) {
    operands.pop_back();
    types.pop_back();
  }
  const int64_t id = define("", 0);
  addNew("{\"#\":\"0.combine\",\"A\":[],\"I\":[" + operands +
             "],\"O\":[{\"%\":" + std::to_string(id) +
             ",\"TT\":{\"#\":\"0.t_vec\",\"D\":[" + types + "]}}],\"OA\":[" +
             stopsGradient(1) + "]}",
         parts, std::array{id});
  return id;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

void PirEncoder::add(int64_t ordinal, std::string text,
                     std::span<const int64_t> operands,
                     std::span<const int64_t> results) {
  for (const int64_t id : operands)
    if (const auto made = placeOfIds.find(id); made != placeOfIds.end())
      place = std::max(place, made->second);
  place = ordinal > place.first ? Place{ordinal, 0}
                                : Place{place.first, place.second + 1};
  chunks->push_back({place, std::move(text)});
  for (const int64_t id : results)
    placeOfIds[id] = place;
}

/// At the place that it had: what it takes is defined before that, unless it
/// was moved; then here.
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

/// \p text with other operands and results.
static std::string patched(std::string_view text,
                           const std::vector<int64_t> &operands,
                           const std::vector<int64_t> &results) {
  std::string out;
  size_t copied = 0, result = 0;
  JsonReader in(text);
  const auto replace = [&](const std::string &with) {
    const size_t begin = in.position();
    out.append(text.substr(copied, begin - copied));
    out += with;
    in.skip();
    copied = begin + in.since(begin).size();
  };
  in.enterObject();
  for (std::string_view key; in.nextKey(key);) {
    if (key == "I") {
      std::string list = "[";
      for (const int64_t id : operands)
        list += (list.size() > 1 ? ",{\"%\":" : "{\"%\":") +
                std::to_string(id) + "}";
      replace(list + "]");
    } else if (key == "O" && in.peek() == JsonReader::Kind::Array) {
      in.enterArray();
      while (in.nextElement()) {
        in.enterObject();
        for (std::string_view member; in.nextKey(member);)
          if (member == "%" && result < results.size())
            replace(std::to_string(results[result++]));
          else
            in.skip();
      }
    } else {
      in.skip();
    }
  }
  return out.append(text.substr(copied));
}

//===----------------------------------------------------------------------===//
// Operators that were read
//===----------------------------------------------------------------------===//

int64_t PirEncoder::readOperand(const Operator &op, const RawPirOperator &raw,
                                const PirOperand *described, size_t i) {
  const int64_t original = i < raw.operands.size() ? raw.operands[i] : 0;
  static const std::vector<std::string> none;
  const auto argumentsOf =
      [&](std::string_view slot,
          bool isOutput) -> const std::vector<std::string> & {
    const auto *found = isOutput ? op.output(slot) : op.input(slot);
    return found ? *found : none;
  };
  const bool wasList =
      listNames.contains(original) || combines.contains(original);
  const auto take = [&](const std::vector<std::string> &names) {
    // A value without a type has no name.
    if (names.empty())
      return definedIds.contains(original) && !nameOfIds.contains(original)
                 ? original
                 : int64_t(0);
    return wasList || names.size() > 1 ? listOf(names, original)
                                       : idOf(names.front(), original);
  };
  if (!described)
    return take(argumentsOf("#" + std::to_string(i), false));
  switch (described->form) {
  case PirOperand::Tensor:
    return take(argumentsOf(described->slot, false));
  case PirOperand::List: {
    const auto &names = argumentsOf(described->slot, false);
    // A list that is none in the file.
    if (!wasList && original != 0 && names.size() <= 1)
      return take(names);
    return names.empty() && !wasList ? 0 : listOf(names, original);
  }
  case PirOperand::Overwritten:
    return take(argumentsOf(described->slot, true));
  case PirOperand::Nothing:
    return definedIds.contains(original) ? original : 0;
  case PirOperand::Attribute:
    break;
  }
  if (original == 0)
    return 0;
  if (const auto &names = argumentsOf(described->slot, false); !names.empty())
    return idOf(names.front(), original);
  if (const auto &names = argumentsOf(described->listSlot, false);
      !names.empty())
    return listOf(names, original);
  const AttributeValue *value = op.attribute(described->legacy);
  if (const auto *variables =
          value ? std::get_if<VariableNames>(value) : nullptr)
    return take(variables->names);
  if (definedIds.contains(original))
    return original;
  return constantOperand(op, *described);
}

void PirEncoder::encodeRead(const Operator &op, const RawPirOperator &raw) {
  const PirOperator *row = findPirOperator(raw.name);
  std::vector<int64_t> operands, results, oldResults;
  for (size_t i = 0; i < raw.operands.size(); ++i)
    operands.push_back(readOperand(
        op, raw, row && i < row->operands.size() ? &row->operands[i] : nullptr,
        i));
  for (size_t i = 0; i < raw.results.size(); ++i) {
    const RawPirOperator::Result &result = raw.results[i];
    const PirResult *described =
        row && i < row->results.size() ? &row->results[i] : nullptr;
    const auto *names = op.output(described ? std::string(described->slot)
                                            : "#" + std::to_string(i));
    oldResults.push_back(result.id);
    const bool isAlias = described && !described->sameAs.empty();
    const bool isNamed = names && !names->empty() && !result.type.isList;
    results.push_back(
        define(isNamed ? names->front() : std::string(), result.id, isAlias));
    if (result.type.isList && names)
      defineList(results.back(), *names);
  }
  const bool isSame = operands == raw.operands && results == oldResults;
  add(static_cast<int64_t>(raw.ordinal),
      isSame ? std::string(raw.text) : patched(raw.text, operands, results),
      operands, results);
  addParts(results);
}

/// The names of what a list holds, until they are taken out of it.
void PirEncoder::defineList(int64_t id, const std::vector<std::string> &names) {
  listNames[id] = names;
  for (const std::string &name : names) {
    idsOfNames.erase(name);
    listOfParts[name] = id;
  }
}

/// The operators that took lists apart go with them.
void PirEncoder::addParts(const std::vector<int64_t> &results) {
  for (const int64_t id : results) {
    const auto [begin, end] = parts.equal_range(id);
    for (auto each = begin; each != end; ++each) {
      PirSkeleton::Item &item = *each->second;
      const std::vector<std::string> &names = listNames[id];
      const bool isSlice = item.raw.name == "builtin.slice";
      const auto first = static_cast<size_t>(
          isSlice ? std::max<int64_t>(item.raw.integer("index", 0), 0) : 0);
      if (first + item.raw.results.size() > names.size())
        continue;
      for (size_t i = 0; i < item.raw.results.size(); ++i) {
        listOfParts.erase(names[first + i]);
        const int64_t part = item.raw.results[i].id;
        if (definedIds.insert(part).second)
          setName(names[first + i], part, true);
      }
      addHidden(item);
    }
  }
}

//===----------------------------------------------------------------------===//
// Branches and loops that were read
//===----------------------------------------------------------------------===//

/// The names of what a region ends with.
std::vector<std::string> PirEncoder::namesOf(const RawPirOperator &raw) {
  std::vector<std::string> names;
  for (const int64_t id : raw.operands)
    names.push_back(nameOfIds[id]);
  return names;
}

/// Whether \p expected stands at \p begin of \p list.
static bool standsAt(std::span<const Operator> list,
                     const std::vector<Operator> &expected) {
  return list.size() >= expected.size() &&
         std::equal(expected.begin(), expected.end(), list.begin(), areSame);
}

std::string PirEncoder::encodeRegions(const PirSkeleton::Item &item,
                                      const std::vector<int64_t> &blocks,
                                      const PirEnding &ending) {
  std::string text;
  const char *copied = item.raw.text.data();
  for (size_t i = 0; i < item.blocks.size() && i < blocks.size(); ++i) {
    PirSkeleton &block = const_cast<PirSkeleton &>(item.blocks[i]);
    text.append(copied, block.operators.data() - copied);
    PirEnding own = ending;
    own.isThen = i == 0;
    text += encodeBlock(blocks[i], &block, own);
    copied = block.operators.data() + block.operators.size();
  }
  return text.append(copied,
                     item.raw.text.data() + item.raw.text.size() - copied);
}

size_t PirEncoder::encodeGroup(std::span<const Operator> list,
                               PirSkeleton::Item &item) {
  const RawPirOperator &raw = item.raw;
  const auto changed = [&] {
    refuse(list.front(), "of a branch or loop that was changed");
    return size_t(1);
  };
  const auto blockOf = [](const Operator &op) {
    const AttributeValue *value = op.attribute("sub_block");
    const auto *index = value ? std::get_if<BlockIndex>(value) : nullptr;
    return index ? index->index : 0;
  };
  PirEnding ending;
  std::vector<int64_t> blocks, operands;
  size_t count = 0;
  if (raw.name == "pd_op.if" && list.size() >= 3) {
    PirBranch branch;
    const auto *condition = list[0].input("Cond");
    if (!condition || condition->size() != 1)
      return changed();
    branch.condition = condition->front();
    for (const RawPirOperator::Result &result : raw.results)
      branch.results.push_back("%" + std::to_string(result.id));
    branch.thenBlock = blockOf(list[0]);
    branch.elseBlock = blockOf(list[2]);
    const std::vector<Operator> expected = makeBranch(branch);
    if (!standsAt(list, expected))
      return changed();
    count = expected.size();
    blocks = {branch.thenBlock, branch.elseBlock};
    ending = {PirEnding::Branch, true, branch.results, {}};
    operands = {idOf(branch.condition, raw.operands.at(0))};
  } else if (raw.name == "pd_op.while") {
    const auto found = std::ranges::find(list, "while", &Operator::type);
    if (found == list.end() || raw.operands.empty())
      return changed();
    PirLoop loop;
    loop.block = blockOf(*found);
    loop.conditionVariable =
        "%block" + std::to_string(loop.block) + ".condition";
    if (const auto *carried = found->input("X"))
      loop.carried = *carried;
    loop.initial = namesOf(raw);
    loop.condition = loop.initial.front();
    loop.initial.erase(loop.initial.begin());
    if (loop.initial.size() != loop.carried.size() ||
        !standsAt(list, makeLoop(loop)))
      return changed();
    count = makeLoop(loop).size();
    blocks = {loop.block};
    operands.push_back(idOf(loop.condition, raw.operands[0]));
    for (size_t i = 0; i < loop.initial.size(); ++i)
      operands.push_back(idOf(loop.initial[i], raw.operands[i + 1]));
    ending = {PirEnding::Loop, false, loop.carried, loop};
  } else {
    return changed();
  }
  for (const int64_t block : blocks)
    if (block <= 0 || block >= static_cast<int64_t>(program.blocks.size()) ||
        item.blocks.size() != blocks.size())
      return changed();
  const Place outside = place;
  std::string text = encodeRegions(item, blocks, ending);
  place = outside;
  std::vector<int64_t> results, oldResults;
  for (size_t i = 0; i < raw.results.size(); ++i) {
    oldResults.push_back(raw.results[i].id);
    results.push_back(define(ending.results.at(i), raw.results[i].id));
  }
  if (operands != raw.operands || results != oldResults)
    text = patched(text, operands, results);
  add(static_cast<int64_t>(raw.ordinal), std::move(text), operands, results);
  return count;
}

/// What ends a region; how many operators stand for it.
size_t PirEncoder::encodeEnd(std::span<const Operator> list,
                             PirSkeleton::Item &item, const PirEnding &ending) {
  std::vector<Operator> expected;
  const std::vector<std::string> names = namesOf(item.raw);
  if (ending.form == PirEnding::Branch)
    expected = makeBranchYield(ending.results, names, ending.isThen);
  else if (ending.form == PirEnding::Loop)
    expected = makeLoopYield(ending.loop, names);
  if (list.size() != expected.size() || !standsAt(list, expected)) {
    Operator end;
    end.type = "assign";
    refuse(list.empty() ? end : list.front(),
           "of a branch or loop that was changed");
    return list.size();
  }
  std::vector<int64_t> operands;
  for (size_t i = 0; i < names.size(); ++i)
    operands.push_back(idOf(names[i], item.raw.operands[i]));
  add(static_cast<int64_t>(item.raw.ordinal),
      operands == item.raw.operands ? std::string(item.raw.text)
                                    : patched(item.raw.text, operands, {}),
      operands, {});
  return list.size();
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// The number in front of an operator's text; -1 for one that is new.
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
  endOperators = {};
  if (skeleton)
    addUnreadLists(*skeleton);
  std::ranges::sort(own, {}, &Chunk::place);
  std::string text;
  for (const Chunk &each : own)
    text += (text.empty() ? "" : ",") + each.text;
  // What a region writes is not known outside.
  for (; undo.size() > outerUndo; undo.pop_back())
    idsOfNames[undo.back().first] = undo.back().second;
  chunks = outerChunks;
  current = outer;
  return text;
}

/// Encodes what stands first in \p rest; how many operators that were.
size_t PirEncoder::encodeNext(std::span<const Operator> rest,
                              PirSkeleton *skeleton, PirSkeleton::Item *end) {
  const Operator &op = rest.front();
  std::string_view text;
  const int64_t ordinal = ordinalOf(op, text);
  if (ordinal < 0 || (text.empty() && !skeleton)) {
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
  for (PirSkeleton::Item &item : skeleton->items)
    if (static_cast<int64_t>(item.raw.ordinal) == ordinal &&
        !item.blocks.empty())
      return encodeGroup(rest.first(count), item);
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
      // Results without a name have ids too.
      RawPirOperator raw;
      JsonReader in(text);
      if (readPirOperator(in, raw))
        noteIds(raw);
    }
  }
}

/// Lists that nobody read in the file either.
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
  // What is not known is why other things are missing.
  if (!unsupportedOperators.empty()) {
    std::string list;
    for (const auto &[name, count] : unsupportedOperators)
      list += (list.empty() ? "" : ", ") + std::to_string(count) + " x " + name;
    return unsupported("operators that PIR has no name for: " + list);
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
