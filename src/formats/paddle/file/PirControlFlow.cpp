#include "formats/paddle/file/PirControlFlow.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace sinter::paddle {

static Operator unary(const char *type, std::string from, std::string to) {
  Operator op;
  op.type = type;
  op.inputs = {{"X", {std::move(from)}}};
  op.outputs = {{"Out", {std::move(to)}}};
  return op;
}

/// \p names, each with \p suffix.
static std::vector<std::string> suffixed(std::vector<std::string> names,
                                         const char *suffix) {
  for (std::string &name : names)
    name += suffix;
  return names;
}

static Operator conditionalBlock(const std::string &condition,
                                 std::vector<std::string> results,
                                 int64_t block) {
  Operator op;
  op.type = "conditional_block";
  op.inputs = {{"Cond", {condition}}, {"Input", {}}};
  op.outputs = {{"Out", std::move(results)}, {"Scope", {}}};
  op.attributes = {{"is_scalar_condition", true},
                   {"sub_block", BlockIndex{block}}};
  return op;
}

std::vector<Operator> makeBranch(const PirBranch &branch) {
  const std::string &condition = branch.condition;
  // Several branches may have the same condition.
  const std::string own = "%block" + std::to_string(branch.thenBlock);
  std::vector<Operator> list;
  list.push_back(conditionalBlock(condition, suffixed(branch.results, ".true"),
                                  branch.thenBlock));
  list.push_back(unary("logical_not", condition, own + ".not"));
  list.push_back(conditionalBlock(
      own + ".not", suffixed(branch.results, ".false"), branch.elseBlock));
  if (branch.results.empty())
    return list;
  list.push_back(unary("cast", condition, own + ".mask"));
  list.back().attributes = {{"in_dtype", int64_t(0)},
                            {"out_dtype", int64_t(2)}};
  for (const std::string &result : branch.results) {
    Operator &op = list.emplace_back();
    op.type = "select_input";
    op.inputs = {{"X", {result + ".false", result + ".true"}},
                 {"Mask", {own + ".mask"}}};
    op.outputs = {{"Out", {result}}};
  }
  return list;
}

std::vector<Operator> makeBranchYield(const std::vector<std::string> &results,
                                      const std::vector<std::string> &yielded,
                                      bool isThen) {
  std::vector<Operator> list;
  for (size_t i = 0; i < results.size() && i < yielded.size(); ++i)
    list.push_back(unary("assign", yielded[i],
                         results[i] + (isThen ? ".true" : ".false")));
  return list;
}

std::vector<Operator> makeLoop(const PirLoop &loop) {
  std::vector<Operator> list;
  list.push_back(unary("assign", loop.condition, loop.conditionVariable));
  for (size_t i = 0; i < loop.carried.size(); ++i)
    if (loop.initial[i] != loop.carried[i])
      list.push_back(unary("assign", loop.initial[i], loop.carried[i]));
  Operator &op = list.emplace_back();
  op.type = "while";
  op.inputs = {{"Condition", {loop.conditionVariable}}, {"X", loop.carried}};
  op.outputs = {{"Out", loop.carried}, {"StepScopes", {}}};
  op.attributes = {{"is_test", true}, {"sub_block", BlockIndex{loop.block}}};
  return list;
}

std::vector<Operator> makeLoopYield(const PirLoop &loop,
                                    const std::vector<std::string> &yielded) {
  std::vector<Operator> early, late;
  const std::unordered_set<std::string_view> carried(loop.carried.begin(),
                                                     loop.carried.end());
  for (size_t i = 0; i < loop.carried.size() && i + 1 < yielded.size(); ++i) {
    const std::string &from = yielded[i + 1], &to = loop.carried[i];
    if (from == to)
      continue;
    // Else it would be written before it is read.
    if (!carried.contains(from)) {
      late.push_back(unary("assign", from, to));
      continue;
    }
    early.push_back(unary("assign", from, to + ".next"));
    late.push_back(unary("assign", to + ".next", to));
  }
  if (!yielded.empty() && yielded.front() != loop.conditionVariable)
    early.push_back(unary("assign", yielded.front(), loop.conditionVariable));
  early.insert(early.end(), late.begin(), late.end());
  return early;
}

bool areSame(const Operator &first, const Operator &second) {
  const auto sameSlot = [](const Slot &one, const Slot &other) {
    return one.name == other.name && one.arguments == other.arguments;
  };
  const auto sameAttribute = [](const Attribute &one, const Attribute &other) {
    return one.name == other.name && one.value == other.value;
  };
  return first.type == second.type &&
         std::ranges::equal(first.inputs, second.inputs, sameSlot) &&
         std::ranges::equal(first.outputs, second.outputs, sameSlot) &&
         std::ranges::equal(first.attributes, second.attributes, sameAttribute);
}

} // namespace sinter::paddle
