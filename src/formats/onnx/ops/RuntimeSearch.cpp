// ONNX Runtime's searches that follow one sequence for each prompt: they take
// the token of the greatest score, or draw one. They are specified in its
// docs/ContribOperators.md.

#include "formats/import/Building.h"
#include "formats/import/Draws.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Inputs.h"
#include "formats/onnx/ops/TextSearch.h"
#include "formats/onnx/ops/WhileLoop.h"

using namespace mlir;

namespace sinter::onnx {

using Direction = stablehlo::ComparisonDirection;

namespace {
/// A search that chooses one token for each sequence.
class SequenceSearch : TextSearch {
public:
  /// Returns the token of each row [R], of i32 or i64, by the scores [R, V],
  /// for run \p run of the model.
  using Choose = std::function<Value(Value scores, Value run)>;
  SequenceSearch(NodeContext &node, Choose choose)
      : TextSearch(node, {2, 3, 4, 5}), choose(std::move(choose)) {}
  /// Reads the node; false on failure.
  bool begin() {
    if (node.getInt("model_type", 0) == 0)
      return TextSearch::begin(6);
    node.unsupported("a model of an encoder and a decoder");
    return false;
  }
  using TextSearch::batch;
  using TextSearch::given;
  using TextSearch::length;
  LogicalResult build();

private:
  Value take(Value scores, Value count, Value run, bool isFirst);
  std::optional<std::vector<Bound>> decodeToken(Value index,
                                                ArrayRef<Bound> states);

  Choose choose;
  /// Whether each sequence ended [R].
  Value ended;
};
} // namespace

/// The next token of each row, by the scores that follow \p count tokens; puts
/// it into the sequences and sets whether they ended.
Value SequenceSearch::take(Value scores, Value count, Value run, bool isFirst) {
  Value token = node.cast(choose(changed(scores, count, isFirst), run),
                          node.builder().getI32Type());
  ended = node.binary<stablehlo::OrOp>(ended, rules.areToken(token, rules.end));
  token = formats::select(node, ended, rules.number(rules.padding), token);
  append(token, count);
  return token;
}

/// One more token. The states are the sequences, the last tokens, whether each
/// sequence ended, and the model's.
std::optional<std::vector<Bound>>
SequenceSearch::decodeToken(Value index, ArrayRef<Bound> states) {
  sequences = states[0].value;
  ended = states[2].value;
  Value count = countAt(index);
  Values past;
  for (const Bound &each : states.drop_front(3))
    past.push_back(each.value);
  auto next = model->next({sequences, count, states[1].value, index}, past);
  if (!next)
    return std::nullopt;
  Value run = node.binary<stablehlo::AddOp>(index, rules.number(1));
  Value token = take(next->scores, count, run, /*isFirst=*/false);
  std::vector<Bound> out = {goesOn(ended), sequences, token, ended};
  out.insert(out.end(), next->states.begin(), next->states.end());
  return node.failed() ? std::nullopt : std::optional(out);
}

LogicalResult SequenceSearch::build() {
  auto done = model->start();
  if (!done)
    return failure();
  ended = filled(node.i1(), 0, {batch});
  Value token =
      take(done->scores, countAt({}), rules.number(0), /*isFirst=*/true);
  std::vector<Bound> states = {sequences, token, ended};
  states.insert(states.end(), done->states.begin(), done->states.end());
  Value isOpen = goesOn(ended);
  if (node.failed())
    return failure();
  auto body = [&](ArrayRef<Bound> in) {
    // The condition holds.
    return decodeToken(node.cast(in[0].value, node.builder().getI32Type()),
                       in.drop_front(2));
  };
  return whileLoop(node, {mostRuns(), isOpen, states, 0, body});
}

/// Prompts; the length of the results; the least length before a sequence
/// ends; a penalty for tokens that were; masks of tokens that may be, at all
/// and as the first; a mask of the prompts' tokens.
static LogicalResult importGreedySearch(NodeContext &node) {
  SequenceSearch search(node, [&](Value scores, Value) {
    return node.op<nn::ArgMaxOp>(scores, uint64_t(1), false, false);
  });
  return success(search.begin() && succeeded(search.build()));
}

//===----------------------------------------------------------------------===//
// Sampling
//===----------------------------------------------------------------------===//

namespace {
/// Draws tokens from the smallest set of the most probable ones that together
/// reach a probability.
class Sampling {
public:
  explicit Sampling(NodeContext &node) : node(node) {}
  bool read();
  /// Draws for \p runs tokens of \p rows sequences.
  bool draw(int64_t runs, int64_t rows);
  Value chosen(Value scores, Value run) const;

private:
  Value tempered(Value scores) const;

  NodeContext &node;
  double temperature = 1, top = 0, filler = 0, presence = 0;
  bool isCustom = false;
  int64_t least = 1;
  /// From [0, 1) [runs, rows].
  Value draws;
};
} // namespace

bool Sampling::read() {
  temperature = node.getFloat("temperature", 1);
  top = node.getFloat("top_p", 0);
  filler =
      node.getFloat("filter_value", -std::numeric_limits<double>::infinity());
  presence = node.getFloat("presence_penalty", 0);
  isCustom = node.getBool("custom", false);
  least = std::max<int64_t>(node.getInt("min_tokens_to_keep", 1), 1);
  if (node.wants(1))
    node.unsupported("output 'filtered_logits'");
  if (!(temperature >= 0))
    node.fail("attribute 'temperature' is negative");
  if (std::isnan(top) || std::isnan(filler) || std::isnan(presence))
    node.fail("an attribute is not a number");
  return !node.failed();
}

bool Sampling::draw(int64_t runs, int64_t rows) {
  std::optional<int64_t> seed;
  if (node.has(8)) {
    auto known = node.knownScalar(scalarInput(node, 8));
    if (!known && !node.failed())
      node.unknown("the seed is known only at run time");
    if (!known)
      return false;
    seed = static_cast<int64_t>(*known);
  }
  auto drawn = formats::Draws(node, seed).uniformTensor(node, {runs, rows});
  if (!drawn)
    return false;
  node.noteDraw();
  draws = node.constant(*drawn);
  return !node.failed();
}

/// \p scores by the temperature, then without the penalty for tokens that
/// input 7 names.
Value Sampling::tempered(Value scores) const {
  if (temperature > 0 && temperature != 1)
    scores = node.binary<stablehlo::DivOp>(
        scores, node.scalar(node.f32(), temperature));
  if (!node.has(7))
    return scores;
  Value names = node.cast(node.operand(7), node.f32());
  return node.binary<stablehlo::SubtractOp>(
      scores,
      node.binary<stablehlo::MulOp>(names, node.scalar(node.f32(), presence)));
}

/// A token for each row: the one whose probability, in a row of the kept tokens
/// from the greatest on, is where the draw is.
Value Sampling::chosen(Value scores, Value run) const {
  if (!scores)
    return {};
  Type f64 = node.builder().getF64Type();
  const int64_t count = node.size(scores, 1);
  Operation *sorted = node.inferred<nn::TopKOp>(
      tempered(scores), static_cast<uint64_t>(count), uint64_t(1), true);
  if (!sorted)
    return {};
  auto sums = [&](Value x, bool isExclusive) {
    return node.op<nn::CumulativeSumOp>(
        node.op<nn::SoftmaxOp>(x, ArrayRef<int64_t>{1}), uint64_t(1),
        isExclusive, false);
  };
  Value wide = node.cast(sorted->getResult(0), f64);
  Value isKept = node.binary<stablehlo::OrOp>(
      node.compare(sums(wide, true), node.scalar(f64, top),
                   isCustom ? Direction::LE : Direction::LT),
      node.compare(formats::iota(node, Dims{1, count}, 1, node.i64()),
                   node.scalar(node.i64(), static_cast<double>(least)),
                   Direction::LT));
  Value kept = formats::select(node, isKept, wide, node.scalar(f64, filler));
  Value draw =
      node.unsqueeze(node.op<nn::TakeOp>(draws, run, uint64_t(0)), {1});
  Value reached = node.reduce<stablehlo::AddOp>(
      node.cast(node.compare(sums(kept, false), draw, Direction::LE),
                node.i64()),
      {1}, 0, true);
  // Rounding may leave the last sum a little below one.
  Value last = node.binary<stablehlo::MinOp>(
      reached, node.scalar(node.i64(), static_cast<double>(count - 1)));
  return node.squeeze(
      node.op<nn::TakeAlongOp>(sorted->getResult(1), last, uint64_t(1)), {1});
}

/// The inputs of GreedySearch; which tokens get a penalty [B, V]; the seed. The
/// draws are those of import/Draws.h.
static LogicalResult importSampling(NodeContext &node) {
  Sampling sampling(node);
  SequenceSearch search(node, [&](Value scores, Value run) {
    return sampling.chosen(scores, run);
  });
  if (!sampling.read() || !search.begin())
    return failure();
  if (!search.given.isStatic())
    return node.unknown("the length of the prompts is unknown");
  return success(
      sampling.draw(search.length - search.given.size, search.batch.size) &&
      succeeded(search.build()));
}

llvm::ArrayRef<Operator> runtimeSearchOperators() {
  static constexpr StringLiteral domain = "com.microsoft";
  static const Operator table[] = {
      {"GreedySearch", domain, 1, importGreedySearch, 2, 7, false, true},
      {"Sampling", domain, 1, importSampling, 2, 9, false, true},
  };
  return table;
}

} // namespace sinter::onnx
