//===- EncodePirControlFlow.cpp - encodes new branches and loops ----------===//
//
// The older operators run a block that writes variables. PIR's are values: a
// region yields the final values of its variables. An assignment from one
// variable to another becomes no operator.
//
//===----------------------------------------------------------------------===//

#include "formats/paddle/file/PirEncoder.h"

#include <algorithm>
#include <array>

namespace sinter::paddle {

/// The only argument of a slot; null if it has none or several.
static const std::string *onlyArgument(const std::vector<std::string> *slot) {
  return slot && slot->size() == 1 ? &slot->front() : nullptr;
}

/// Whether \p op is the unary operator \p type from \p from to \p to.
static bool isUnary(const Operator &op, std::string_view type,
                    const std::string *from) {
  const std::string *x = onlyArgument(op.input("X"));
  return op.type == type && x && from && *x == *from &&
         onlyArgument(op.output("Out"));
}

/// The block of an operator; -1 if it has no valid one.
int64_t PirEncoder::blockOf(const Operator &op) const {
  const AttributeValue *value = op.attribute("sub_block");
  const auto *index = value ? std::get_if<BlockIndex>(value) : nullptr;
  const bool isInside =
      index && index->index > current &&
      index->index < static_cast<int64_t>(program.blocks.size()) &&
      program.blocks[index->index].parent == current;
  return isInside ? index->index : -1;
}

/// The variables of this block and of enclosing ones that \p block or one
/// nested in it writes, in the order of the writes.
std::vector<std::string> PirEncoder::writtenBy(int64_t block) const {
  std::vector<std::string> names;
  std::unordered_set<std::string_view> known;
  const auto isOwn = [&](int64_t inside, const std::string &name) {
    for (; inside >= block; inside = program.blocks[inside].parent)
      if (declared[inside].contains(name))
        return true;
    return false;
  };
  std::vector<bool> isInside(program.blocks.size());
  for (auto i = static_cast<size_t>(block); i < program.blocks.size(); ++i) {
    const int64_t parent = program.blocks[i].parent;
    isInside[i] = static_cast<int64_t>(i) == block ||
                  (parent >= block && isInside[parent]);
    if (!isInside[i])
      continue;
    for (const Operator &op : program.blocks[i].operators)
      for (const Slot &slot : op.outputs)
        for (const std::string &name : slot.arguments)
          if (!isOwn(static_cast<int64_t>(i), name) &&
              known.insert(name).second)
            names.push_back(name);
  }
  return names;
}

bool PirEncoder::isDefined(const std::string &name) const {
  const auto found = idsOfNames.find(name);
  return listOfParts.contains(name) ||
         (found != idsOfNames.end() && !found->second.empty());
}

void PirEncoder::setAlias(const std::string &name, const std::string &from) {
  const int64_t id = idOf(from, 0);
  std::vector<int64_t> &ids = idsOfNames[name];
  undo.push_back({name, false, std::exchange(ids, {})});
  ids.push_back(id);
}

/// Splits lists before a region begins: elements that are split inside are
/// visible only there.
void PirEncoder::splitLists() {
  while (!listOfParts.empty())
    splitList(listOfParts.begin()->second);
}

std::string PirEncoder::encodeYield(const std::vector<std::string> &names) {
  std::string operands;
  std::vector<int64_t> ids;
  for (const std::string &name : names) {
    ids.push_back(idOf(name, 0));
    innerReads.push_back(ids.back());
    operands += (operands.empty() ? "{\"%\":" : ",{\"%\":") +
                std::to_string(ids.back()) + "}";
  }
  return R"({"#":"2.yield","A":[],"I":[)" + operands + R"(],"O":[],"OA":[]})";
}

/// A region of one block; 0: an empty one.
std::string PirEncoder::encodeRegion(int64_t block, const PirEnding &ending) {
  std::string arguments;
  PirEnding own = ending;
  if (own.form == PirEnding::NewLoop)
    for (size_t i = 1; i < own.results.size(); ++i) {
      const std::string &name = own.results[i];
      own.arguments.push_back(freshId());
      std::string type;
      const Variable *variable = declarationOf(name);
      if (!variable || !appendTensorType(type, *variable))
        fail("variable '" + name + "' has no type that PIR knows");
      arguments += (arguments.empty() ? "{\"#\":" : ",{\"#\":") +
                   std::to_string(own.arguments.back()) + ",\"TT\":" + type +
                   "}";
    }
  const std::string text =
      block > 0 ? encodeBlock(block, nullptr, own) : encodeYield(own.results);
  const std::string number = std::to_string(++regions);
  return R"({"#":"region_)" + number + R"(","blocks":[{"#":"block_)" + number +
         R"(","args":[)" + arguments + R"(],"ops":[)" + text + "]}]}";
}

void PirEncoder::addRegions(std::string_view name,
                            const std::vector<int64_t> &operands,
                            const std::vector<std::string> &results,
                            const std::vector<std::string> &texts) {
  std::string operandText, resultText, regionText;
  for (const int64_t id : operands)
    operandText += (operandText.empty() ? "{\"%\":" : ",{\"%\":") +
                   std::to_string(id) + "}";
  std::vector<int64_t> ids;
  for (const std::string &result : results) {
    ids.push_back(define(result, 0));
    appendResult(resultText, ids.back(), declarationOf(result), result);
  }
  for (const std::string &each : texts)
    regionText += (regionText.empty() ? "" : ",") + each;
  std::vector<int64_t> read = innerReads;
  read.insert(read.end(), operands.begin(), operands.end());
  if (current == 0)
    innerReads.clear();
  addNew("{\"#\":\"1." + std::string(name) + "\",\"A\":[],\"I\":[" +
             operandText + "],\"O\":[" + resultText + "],\"OA\":[" +
             stopsGradient(ids.size()) + "],\"regions\":[" + regionText + "]}",
         read, ids);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void PirEncoder::encodeNewLoop(const Operator &op) {
  const std::string *condition = onlyArgument(op.input("Condition"));
  const int64_t block = blockOf(op);
  if (!condition || block < 0)
    return refuse(op, "without a condition or a block");
  splitLists();
  PirEnding ending;
  ending.form = PirEnding::NewLoop;
  ending.results = {*condition};
  std::vector<int64_t> operands = {idOf(*condition, 0)};
  for (const std::string &name : writtenBy(block)) {
    const Variable *variable = declarationOf(name);
    if (!variable || variable->kind == VariableKind::TensorArray)
      return refuse(op, "that writes an array of tensors");
    // Variables that do not exist before the loop are local to it.
    if (name == *condition || variable->kind != VariableKind::Tensor ||
        !isDefined(name))
      continue;
    ending.results.push_back(name);
    operands.push_back(idOf(name, 0));
  }
  const Place outside = place;
  const std::string region = encodeRegion(block, ending);
  place = outside;
  addRegions("while", operands,
             {ending.results.begin() + 1, ending.results.end()}, {region});
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// The operators that read and write variable \p name.
const PirEncoder::Uses &PirEncoder::usesOf(const std::string &name) {
  if (uses.empty()) {
    for (const Block &block : program.blocks)
      for (const Operator &op : block.operators) {
        for (const Slot &slot : op.inputs)
          for (const std::string &each : slot.arguments)
            ++uses[each].reads;
        for (const Slot &slot : op.outputs)
          for (const std::string &each : slot.arguments) {
            ++uses[each].writes;
            uses[each].writer = &op;
          }
      }
    for (const Port &port : program.outputs)
      ++uses[port.variable].reads;
  }
  return uses[name];
}

/// Whether the only definition of \p name is the unary operator \p type on
/// \p from.
bool PirEncoder::isMadeBy(std::string_view type, const std::string *name,
                          const std::string *from) {
  if (!name)
    return false;
  const Uses &found = usesOf(*name);
  return found.writes == 1 && isUnary(*found.writer, type, from);
}

/// Encodes a conditional_block, one for the opposite condition, and a
/// select_input for each result; returns the number of operators, 0 if they
/// have another form.
size_t PirEncoder::encodeChoice(std::span<const Operator> list) {
  // Between them are the operators for the opposite condition and the mask.
  std::vector<const Operator *> between;
  const auto passOver = [&](size_t &i) {
    for (; i < list.size() &&
           (list[i].encodedEra != Era::Pir || list[i].encoded.empty()) &&
           (list[i].type == "logical_not" || list[i].type == "cast");
         ++i)
      between.push_back(&list[i]);
    return i < list.size();
  };
  size_t count = 1;
  if (!passOver(count) || list[count].type != "conditional_block")
    return 0;
  const Operator &yes = list[0], &no = list[count];
  const std::string *condition = onlyArgument(yes.input("Cond"));
  const std::string *opposite = onlyArgument(no.input("Cond"));
  if (!condition || !isMadeBy("logical_not", opposite, condition) ||
      blockOf(yes) < 0 || blockOf(no) < 0)
    return 0;
  passOver(++count);
  std::vector<std::string> results, given[2];
  std::map<std::string, int64_t> expected = {{*opposite, 1}};
  for (; count < list.size(); ++count) {
    const Operator &choice = list[count];
    const std::string *mask = onlyArgument(choice.input("Mask"));
    const std::string *to = onlyArgument(choice.output("Out"));
    const auto *from = choice.input("X");
    if (choice.type != "select_input" || !to || !from || from->size() != 2 ||
        !isMadeBy("cast", mask, condition))
      break;
    ++expected[*mask];
    results.push_back(*to);
    given[false].push_back((*from)[0]);
    given[true].push_back((*from)[1]);
  }
  // A block that writes an existing variable has another form.
  for (const Operator *op : {&yes, &no})
    for (const std::string &name : writtenBy(blockOf(*op)))
      if (isDefined(name))
        return 0;
  // PIR's branch needs neither the opposite condition nor the mask.
  for (const Operator *op : between) {
    const std::string *made = onlyArgument(op->output("Out"));
    const auto found = made ? expected.find(*made) : expected.end();
    if (found == expected.end() || usesOf(*made).reads != found->second)
      encodeNew(*op);
  }
  splitLists();
  const int64_t id = idOf(*condition, 0);
  const Place outside = place;
  std::vector<std::string> texts;
  for (const bool holds : {true, false}) {
    PirEnding ending;
    ending.form = PirEnding::NewBranch;
    ending.results = given[holds];
    texts.push_back(encodeRegion(blockOf(holds ? yes : no), ending));
    place = outside;
  }
  addRegions("if", {id}, results, texts);
  return count;
}

/// A single conditional_block: the variables that it writes keep their values
/// if it does not run.
void PirEncoder::encodeNewBranch(const Operator &op) {
  const std::string *condition = onlyArgument(op.input("Cond"));
  const int64_t block = blockOf(op);
  const AttributeValue *isScalar = op.attribute("is_scalar_condition");
  if (!condition || block < 0 || !isScalar || *isScalar != AttributeValue(true))
    return refuse(op, "whose condition is no number, or without a block");
  splitLists();
  PirEnding ending;
  ending.form = PirEnding::NewBranch;
  for (const std::string &name : writtenBy(block)) {
    const Variable *variable = declarationOf(name);
    if (!variable || variable->kind == VariableKind::TensorArray)
      return refuse(op, "that writes an array of tensors");
    if (variable->kind != VariableKind::Tensor)
      continue;
    if (!isDefined(name))
      return refuse(op, "that writes what was not there before");
    ending.results.push_back(name);
  }
  const int64_t id = idOf(*condition, 0);
  const Place outside = place;
  const std::string yes = encodeRegion(block, ending);
  place = outside;
  addRegions("if", {id}, ending.results, {yes, encodeRegion(0, ending)});
}

//===----------------------------------------------------------------------===//
// Classification
//===----------------------------------------------------------------------===//

/// Whether the first operator in \p rest assigns a variable of an enclosing
/// block, or the condition or an output of the loop after it.
bool PirEncoder::isAssignment(std::span<const Operator> rest) const {
  const std::string *from = onlyArgument(rest[0].input("X"));
  const std::string *to = onlyArgument(rest[0].output("Out"));
  if (rest[0].type != "assign" || !from || !to)
    return false;
  const Variable *variable = declarationOf(*from);
  if (!variable || variable->kind != VariableKind::Tensor)
    return false;
  if (current != 0 && !declared[current].contains(*to))
    return true;
  const auto loop = std::ranges::find_if(
      rest, [](const Operator &op) { return op.type != "assign"; });
  if (loop == rest.end() || loop->type != "while")
    return false;
  for (const auto *slot : {loop->input("Condition"), loop->output("Out")})
    if (slot && std::ranges::count(*slot, *to) > 0)
      return true;
  return false;
}

size_t PirEncoder::encodeNewGroup(std::span<const Operator> rest) {
  const Operator &op = rest[0];
  if (isAssignment(rest)) {
    setAlias(op.output("Out")->front(), op.input("X")->front());
    return 1;
  }
  if (op.type == "while") {
    encodeNewLoop(op);
    return 1;
  }
  if (op.type != "conditional_block")
    return 0;
  const size_t count = encodeChoice(rest);
  if (count == 0)
    encodeNewBranch(op);
  return std::max<size_t>(count, 1);
}

} // namespace sinter::paddle
