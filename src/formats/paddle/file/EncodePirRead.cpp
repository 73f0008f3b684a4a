//===- EncodePirRead.cpp - encodes operators from PIR files ---------------===//

#include "formats/paddle/file/PirEncoder.h"

#include <algorithm>

namespace sinter::paddle {

//===----------------------------------------------------------------------===//
// Operators from the file
//===----------------------------------------------------------------------===//

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
    // A list that was no list in the file.
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
  return constantOperand(op, *described, original);
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

/// Defines the names of a list's elements until the list is split.
void PirEncoder::defineList(int64_t id, const std::vector<std::string> &names) {
  listNames[id] = names;
  for (const std::string &name : names) {
    if (auto before = idsOfNames.extract(name))
      undo.push_back({name, false, std::move(before.mapped())});
    listOfParts[name] = id;
  }
}

/// Adds the operators that split the lists among \p results.
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
// Branches and loops from the file
//===----------------------------------------------------------------------===//

/// The names of the operands of a region's terminator.
std::vector<std::string> PirEncoder::namesOf(const RawPirOperator &raw) {
  std::vector<std::string> names;
  for (const int64_t id : raw.operands)
    names.push_back(nameOfIds[id]);
  return names;
}

/// Whether \p list contains \p expected at position \p begin.
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
    ending = {PirEnding::Branch, true, branch.results, {}, {}};
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
    ending = {PirEnding::Loop, false, loop.carried, loop, {}};
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

/// Encodes a region's terminator; returns the number of operators that
/// represent it.
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

} // namespace sinter::paddle
