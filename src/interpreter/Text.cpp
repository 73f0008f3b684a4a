//===- Text.cpp - operations on strings -----------------------------------===//

#include "graph/text/TextOps.h"
#include "interpreter/Evaluation.h"
#include "runtime/StringFunctions.h"
#include "runtime/Strings.h"

#include <algorithm>

using namespace mlir;

namespace sinter::interpreter {

/// A result of the first operand's shape that `compute(result)` fills, which
/// may fail.
template <typename Compute>
static Result<Tensors> eachString(const Call &call, Compute &&compute) {
  for (const Tensor &operand : call.operands.drop_front())
    if (operand.shape() != call[0].shape())
      return invalidModel("operands have different shapes");
  Result<void> done;
  Result<Tensors> results =
      produce(*elementTypeOf(call.resultType().getElementType()),
              call[0].shape(), [&](Tensor &result) { done = compute(result); });
  return done ? std::move(results) : done.takeError();
}

static Result<Tensors> evaluateFormat(const Call &call) {
  return eachString(call, [&](Tensor &to) -> Result<void> {
    formatNumbers(call[0], to);
    return {};
  });
}

static Result<Tensors> evaluateParse(const Call &call) {
  return eachString(call,
                    [&](Tensor &to) { return parseNumbers(call[0], to); });
}

static Result<Tensors> evaluateStringConcat(const Call &call) {
  return eachString(call, [&](Tensor &to) -> Result<void> {
    concatStrings(call[0], call[1], to);
    return {};
  });
}

static Result<Tensors> evaluateChangeCase(const Call &call) {
  auto op = call.as<text::ChangeCaseOp>();
  return eachString(call, [&](Tensor &to) {
    return changeCase(call[0], op.getUpper(), op.getLocale(), to);
  });
}

static Result<Tensors> evaluateFullMatch(const Call &call) {
  auto op = call.as<text::FullMatchOp>();
  return eachString(call, [&](Tensor &to) -> Result<void> {
    Result<StringPattern> pattern = StringPattern::of(op.getPattern());
    if (!pattern)
      return pattern.takeError();
    pattern->match(call[0], to);
    return {};
  });
}

/// By sorting texts, not handles.
static Result<Tensors> evaluateRank(const Call &call) {
  return eachString(call, [&](Tensor &to) -> Result<void> {
    std::vector<std::string_view> texts;
    for (int64_t i = 0; i < call[0].size(); ++i)
      texts.push_back(stringAt(call[0], i));
    std::ranges::sort(texts);
    const auto rest = std::ranges::unique(texts);
    texts.erase(rest.begin(), rest.end());
    for (int64_t i = 0; i < call[0].size(); ++i)
      to.set<int64_t>(i, std::ranges::lower_bound(texts, stringAt(call[0], i)) -
                             texts.begin());
    return {};
  });
}

/// By comparing with each key.
static Result<Tensors> evaluateFind(const Call &call) {
  return produce(ElementType::I64, call[0].shape(), [&](Tensor &to) {
    for (int64_t i = 0; i < to.size(); ++i) {
      int64_t found = -1;
      for (int64_t key = 0; key < call[1].size() && found < 0; ++key)
        if (stringAt(call[1], key) == stringAt(call[0], i))
          found = key;
      to.set<int64_t>(i, found);
    }
  });
}

static Result<Tensors> evaluateSplit(const Call &call) {
  auto op = call.as<text::SplitOp>();
  const int64_t most = op.getMost().value_or(-1);
  Tensor counts(ElementType::I64, call[0].shape());
  countParts(call[0], op.getDelimiter(), most, counts);
  Shape shape = call[0].shape();
  shape.push_back(0);
  for (const int64_t count : counts.values<int64_t>())
    shape.back() = std::max(shape.back(), count);
  Result<void> done;
  Result<Tensors> results =
      produce(ElementType::STRING, std::move(shape), [&](Tensor &parts) {
        done = splitStrings(call[0], op.getDelimiter(), most, parts);
      });
  if (!results || !done)
    return done ? std::move(results) : done.takeError();
  results->push_back(std::move(counts));
  return results;
}

void registerText(Registry &registry) {
  registry.add<text::FormatOp>(evaluateFormat);
  registry.add<text::ParseOp>(evaluateParse);
  registry.add<text::ConcatOp>(evaluateStringConcat);
  registry.add<text::ChangeCaseOp>(evaluateChangeCase);
  registry.add<text::FullMatchOp>(evaluateFullMatch);
  registry.add<text::RankOp>(evaluateRank);
  registry.add<text::FindOp>(evaluateFind);
  registry.add<text::SplitOp>(evaluateSplit);
}

} // namespace sinter::interpreter
