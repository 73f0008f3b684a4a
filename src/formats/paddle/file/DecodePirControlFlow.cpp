//===- DecodePirControlFlow.cpp - branches and loops of PIR ---------------===//

#include "formats/paddle/file/PirDecoder.h"

namespace sinter::paddle {

bool PirDecoder::addBranch(const RawPirOperator &raw, int64_t block) {
  std::vector<std::string> condition;
  if (!operandNames(raw, 0, condition))
    return false;
  PirBranch branch;
  branch.condition = condition.front();
  for (const RawPirOperator::Result &result : raw.results) {
    if (result.type.isList || result.type.isNull)
      return stopAt(raw, "a result is a list");
    branch.results.push_back("%" + std::to_string(result.id));
    for (const char *suffix : {".true", ".false"})
      declare(block, result.type.variable, branch.results.back() + suffix);
  }
  const PirRegionEnd thenEnd{PirRegionEnd::Then, branch.results, {}, {}};
  const PirRegionEnd elseEnd{PirRegionEnd::Else, branch.results, {}, {}};
  JsonReader in = readerOf(raw.regions);
  std::vector<int64_t> blocks;
  if (!decodeRegions(in, {thenEnd, elseEnd}, &blocks))
    return false;
  if (blocks.size() != 2)
    return stopAt(raw, "a branch has not two regions");
  branch.thenBlock = blocks[0];
  branch.elseBlock = blocks[1];
  Variable flag;
  flag.type = ElementType::I1;
  const std::string own = "%block" + std::to_string(branch.thenBlock);
  declare(block, flag, own + ".not");
  flag.type = ElementType::I32;
  if (!branch.results.empty())
    declare(block, flag, own + ".mask");
  for (size_t i = 0; i < raw.results.size(); ++i)
    if (!declare(raw, i, block))
      return false;
  append(block, makeBranch(branch), raw.ordinal);
  return true;
}

bool PirDecoder::addLoop(const RawPirOperator &raw, int64_t block) {
  std::vector<std::string> operands;
  std::vector<bool> isArray;
  for (size_t i = 0; i < raw.operands.size(); ++i) {
    if (!operandNames(raw, i, operands))
      return false;
    isArray.push_back(operand(raw, i)->isArray);
  }
  if (operands.size() != raw.results.size() + 1)
    return stopAt(raw, "a loop gives other values than it takes");
  PirLoop loop;
  loop.condition = operands.front();
  loop.initial.assign(operands.begin() + 1, operands.end());
  for (size_t i = 0; i < raw.results.size(); ++i) {
    // An array is written in place.
    if (isArray[i + 1]) {
      loop.carried.push_back(loop.initial[i]);
      if (PirValue *value = define(raw.results[i].id, loop.initial[i]))
        value->isArray = true;
    } else if (const PirValue *value = declare(raw, i, block)) {
      if (value->isList || value->name.empty())
        return stopAt(raw, "a result is a list");
      loop.carried.push_back(value->name);
    }
    if (problem)
      return false;
  }
  loop.block = static_cast<int64_t>(program.blocks.size());
  loop.conditionVariable = "%block" + std::to_string(loop.block) + ".condition";
  Variable flag;
  flag.type = ElementType::I1;
  declare(block, flag, loop.conditionVariable);
  PirRegionEnd ending{PirRegionEnd::Loop, loop.carried, {}, loop};
  for (const RawPirOperator::Result &result : raw.results)
    ending.variables.push_back(result.type.variable);
  JsonReader in = readerOf(raw.regions);
  std::vector<int64_t> blocks;
  if (!decodeRegions(in, {ending}, &blocks))
    return false;
  if (blocks.size() != 1)
    return stopAt(raw, "a loop has not one region");
  append(block, makeLoop(loop), raw.ordinal);
  return true;
}

/// cf.yield.
bool PirDecoder::addEnd(const RawPirOperator &raw, int64_t block,
                        const PirRegionEnd &ending) {
  std::vector<std::string> yielded;
  for (size_t i = 0; i < raw.operands.size(); ++i)
    if (!operandNames(raw, i, yielded))
      return false;
  if (ending.form == PirRegionEnd::None)
    return true;
  const bool isLoop = ending.form == PirRegionEnd::Loop;
  if (yielded.size() != ending.results.size() + isLoop)
    return stopAt(raw, "a region ends with " + std::to_string(yielded.size()) +
                           " values where " +
                           std::to_string(ending.results.size() + isLoop) +
                           " are expected");
  std::vector<Operator> operators =
      isLoop ? makeLoopYield(ending.loop, yielded)
             : makeBranchYield(ending.results, yielded,
                               ending.form == PirRegionEnd::Then);
  std::unordered_map<std::string_view, const Variable *> declared;
  for (size_t i = 0; i < ending.variables.size(); ++i)
    declared.emplace(ending.results[i], &ending.variables[i]);
  for (const Operator &op : operators) {
    const std::string &name = op.outputs.front().arguments.front();
    constexpr std::string_view suffix = ".next";
    if (!name.ends_with(suffix))
      continue;
    const auto found = declared.find(
        std::string_view(name).substr(0, name.size() - suffix.size()));
    declare(block, found == declared.end() ? Variable() : *found->second, name);
  }
  append(block, std::move(operators), raw.ordinal);
  return true;
}

} // namespace sinter::paddle
