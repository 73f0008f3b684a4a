#include "formats/onnx/ops/TokenScores.h"

#include "formats/import/Building.h"
#include "formats/import/Indexing.h"
#include "formats/onnx/ops/Inputs.h"
#include <limits>

using namespace mlir;

namespace sinter::onnx {

using Direction = stablehlo::ComparisonDirection;

/// What a score becomes whose token may not be.
static constexpr double leastScore = std::numeric_limits<float>::lowest();

Value limitRepeats(NodeContext &node, Value scores, Value ids, Value count,
                   int64_t size, double most) {
  if (!scores || !ids || !count)
    return {};
  const int64_t starts = node.size(ids, 1) - size + 1;
  if (starts < 1)
    return scores;
  Type i32 = node.builder().getI32Type();
  auto less = [&](int64_t tokens) {
    return node.binary<stablehlo::SubtractOp>(
        node.cast(count, i32), node.scalar(i32, static_cast<double>(tokens)));
  };
  auto from = [&](int64_t start) {
    return node.sliceAxis(ids, 1, start, start + starts);
  };
  Value isSame = node.broadcastInDim(
      node.compare(formats::iota(node, Dims{1, starts}, 1, i32), less(size),
                   Direction::LE),
      Dims{node.dim(ids, 0), starts}, {0, 1});
  for (int64_t i = 0; i + 1 < size; ++i) {
    Value last = node.op<nn::TakeOp>(
        ids, node.reshape(less(size - 1 - i), Ints{1}), uint64_t(1));
    isSame = node.binary<stablehlo::AndOp>(
        isSame, node.compare(from(i), last, Direction::EQ));
  }
  Type element = node.element(scores);
  Value limits = formats::select(
      node, isSame, node.scalar(element, most),
      node.scalar(element, std::numeric_limits<double>::infinity()));
  return formats::scatterAlong(node, scores, from(size - 1), limits, 1,
                               formats::Combine::Min);
}

bool TokenScores::read() {
  constexpr int64_t mostTokens = std::numeric_limits<int32_t>::max();
  for (StringRef name : {"eos_token_id", "pad_token_id"})
    if (!node.hasAttribute(name)) {
      node.fail("attribute '" + name + "' is missing");
      return false;
    }
  end = node.getInt("eos_token_id", 0);
  padding = node.getInt("pad_token_id", 0);
  ngram = node.getInt("no_repeat_ngram_size", 0);
  if (end < -1 || end > mostTokens || padding < -1 || padding > mostTokens)
    node.fail("eos_token_id or pad_token_id is no token");
  if (ngram > largestNGram)
    node.unsupported("attribute 'no_repeat_ngram_size' above " +
                     Twine(largestNGram));
  return !node.failed();
}

Value TokenScores::number(int64_t value) const {
  return node.scalar(node.builder().getI32Type(), static_cast<double>(value));
}

Value TokenScores::areToken(Value tokens, int64_t token) const {
  return node.compare(tokens, number(token), Direction::EQ);
}

Value TokenScores::allowed(Value scores, Value isAllowed) const {
  return formats::select(node, isAllowed, scores,
                         node.scalar(node.f32(), leastScore));
}

/// The scores of the tokens for which the mask of integers in \p input is not
/// 0.
Value TokenScores::unmasked(Value scores, int64_t input) const {
  if (!node.has(input))
    return scores;
  Value mask = node.operand(input);
  return allowed(scores, node.compare(mask, node.scalar(node.element(mask), 0),
                                      Direction::NE));
}

/// The scores of tokens that were times or, if they are positive, divided by
/// the penalty.
Value TokenScores::penalised(Value scores, Value sequences, Value count) const {
  if (!node.has(inputs.penalty) || !scores || !sequences)
    return scores;
  Type i32 = node.builder().getI32Type();
  Value penalty = node.cast(scalarInput(node, inputs.penalty), node.f32());
  Value isThere = node.broadcastInDim(
      node.cast(node.compare(formats::iota(
                                 node, Dims{1, node.dim(sequences, 1)}, 1, i32),
                             count, Direction::LT),
                i32),
      node.dims(sequences), {0, 1});
  Value seen = formats::scatterAlong(
      node, node.broadcastInDim(number(0), node.dims(scores), {}), sequences,
      isThere, 1, formats::Combine::Max);
  Value less = formats::select(
      node, node.compare(scores, node.scalar(node.f32(), 0), Direction::LT),
      node.binary<stablehlo::MulOp>(scores, penalty),
      node.binary<stablehlo::DivOp>(scores, penalty));
  return formats::select(node, node.compare(seen, number(0), Direction::NE),
                         less, scores);
}

Value TokenScores::withoutEarlyEnd(Value scores, Value count) const {
  if (!node.has(inputs.leastLength) || !scores)
    return scores;
  Type i32 = node.builder().getI32Type();
  Value least = node.cast(scalarInput(node, inputs.leastLength), i32);
  Value isOther =
      node.compare(formats::iota(node, Dims{1, node.size(scores, 1)}, 1, i32),
                   number(end), Direction::NE);
  return allowed(scores,
                 node.binary<stablehlo::OrOp>(
                     isOther, node.compare(count, least, Direction::GE)));
}

Value TokenScores::changed(Value scores, Value sequences, Value count,
                           bool isFirst) const {
  scores = penalised(scores, sequences, count);
  if (ngram > 0)
    scores = limitRepeats(node, scores, sequences, count, ngram, leastScore);
  scores = unmasked(scores, inputs.mask);
  if (isFirst)
    scores = unmasked(scores, inputs.firstMask);
  return withoutEarlyEnd(scores, count);
}

} // namespace sinter::onnx
