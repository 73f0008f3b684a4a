// ONNX Runtime's BeamSearch: several sequences for each prompt, and those that
// ended with the best mean score. It is specified in its
// docs/ContribOperators.md.

#include "formats/import/Building.h"
#include "formats/import/SizeArithmetic.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Inputs.h"
#include "formats/onnx/ops/TextSearch.h"
#include "formats/onnx/ops/WhileLoop.h"
#include <limits>

using namespace mlir;

namespace sinter::onnx {

using Direction = stablehlo::ComparisonDirection;

namespace {
/// What the beams of a prompt may continue with, from the greatest sum of
/// scores on [B, N]: the sums, the tokens, and the beams that they continue.
struct Candidates {
  Value sums, tokens, beams;
};

/// Of B prompts with K beams each; the rows of all beams are R = B * K.
class BeamSearch : TextSearch {
public:
  explicit BeamSearch(NodeContext &node)
      : TextSearch(node, {2, 6, 7, 8}), i32(node.builder().getI32Type()) {}
  LogicalResult build();

private:
  bool readNumbers();
  void startStates();
  Value along(Value x, Value indices) const {
    return node.op<nn::TakeAlongOp>(x, indices, uint64_t(1));
  }
  Value firstBeams(Value x) const { return node.sliceAxis(x, 1, 0, beams); }
  Value flattened(Value x) const {
    return node.reshape(x, Dims{node.product({batch, beams})});
  }
  Value rowsOf(Value local, int64_t perPrompt) const;
  Value promptsOfRows() const;
  Value normalised(Value sums, Value count) const;
  Candidates candidates(Value scores, Value count, Value run, bool isFirst);
  void addEnded(Value sums, Value tokens, Value isNew, Value count);
  Candidates open(const Candidates &all, Value isEnd) const;
  Value step(Value scores, Value count, Value run, bool isFirst);
  std::vector<Bound> states(ArrayRef<Value> ofModel) const;
  Values takeStates(ArrayRef<Bound> states);
  std::optional<std::vector<Bound>> decodeTokens(Value index,
                                                 ArrayRef<Bound> given);
  LogicalResult finish();

  Type i32;
  int64_t beams = 1, wanted = 1;
  bool endsEarly = false;
  /// The power of the length that sums of scores are divided by, of f32.
  Value lengthPenalty;
  /// The type of the scores that are given.
  Type scoreType;
  /// Of the beams: the last tokens [R] and the sums of their scores [B, K].
  Value last, sums;
  /// Whether a prompt needs no more tokens [B].
  Value done;
  /// The best sequences that ended [B, K, length], their scores [B, K] from
  /// the greatest on, and how many there are [B, 1].
  Value ended, endedScores, endedCount;
  /// The sums of all candidates at each token [length - S, B, K, V]; null
  /// unless they are wanted.
  Value allSums;
};
} // namespace

/// Input \p index, a number from 1 to \p most.
static std::optional<int64_t> countInput(NodeContext &node, int64_t index,
                                         int64_t most, StringRef name) {
  if (!node.has(index))
    return 1;
  Value scalar = scalarInput(node, index);
  auto known = scalar ? node.knownScalar(scalar) : std::nullopt;
  if (!known)
    return node.unknown(name + " is known only at run time");
  if (*known < 1 || *known > static_cast<double>(most))
    return node.fail(name + " is not from 1 to " + Twine(most));
  return static_cast<int64_t>(*known);
}

bool BeamSearch::readNumbers() {
  constexpr int64_t mostBeams = 1 << 12;
  const auto count = countInput(node, 3, mostBeams, "num_beams");
  const auto part =
      count ? countInput(node, 4, *count, "num_return_sequences") : count;
  if (!part)
    return false;
  beams = *count;
  wanted = *part;
  if (node.has(10))
    node.unsupported("input 'decoder_input_ids'");
  if (node.has(11) && node.knownScalar(scalarInput(node, 11)).value_or(1) != 0)
    node.unsupported("input 'logits_processor' that is not 0");
  endsEarly = node.getBool("early_stopping", false);
  Value penalty = node.has(5) ? scalarInput(node, 5) : Value();
  lengthPenalty =
      penalty ? node.cast(penalty, node.f32()) : node.scalar(node.f32(), 1);
  scoreType = penalty ? node.element(penalty) : node.f32();
  if (!isa<FloatType>(scoreType))
    node.fail("length_penalty is no floating-point number");
  return !node.failed();
}

/// All beams but the first of a prompt start far behind it, so that they do not
/// continue with the same tokens.
void BeamSearch::startStates() {
  constexpr double behind = -1e9;
  Value isFirst = node.compare(formats::iota(node, Dims{batch, beams}, 1, i32),
                               rules.number(0), Direction::EQ);
  sums = formats::select(node, isFirst, node.scalar(node.f32(), 0),
                         node.scalar(node.f32(), behind));
  done = filled(node.i1(), 0, {batch});
  ended =
      filled(i32, static_cast<double>(rules.padding), {batch, beams, length});
  endedScores = filled(node.f32(), 0, {batch, beams});
  endedCount = filled(i32, 0, {batch, 1});
}

/// Indices \p local [B, N] into the \p perPrompt rows that a prompt has, as
/// indices into the rows of all.
Value BeamSearch::rowsOf(Value local, int64_t perPrompt) const {
  if (!local)
    return {};
  Value before = node.binary<stablehlo::MulOp>(
      formats::iota(node, Dims{batch, 1}, 0, i32), rules.number(perPrompt));
  return node.binary<stablehlo::AddOp>(before, node.cast(local, i32));
}

/// The prompt of each beam [R].
Value BeamSearch::promptsOfRows() const {
  return node.binary<stablehlo::DivOp>(
      formats::iota(node, Dims{node.product({batch, beams})}, 0, i32),
      rules.number(beams));
}

/// Sums of the scores of \p count tokens over a power of their number.
Value BeamSearch::normalised(Value sums, Value count) const {
  return node.binary<stablehlo::DivOp>(
      sums,
      node.op<stablehlo::PowOp>(node.cast(count, node.f32()), lengthPenalty));
}

/// Twice as many candidates as there are beams, for at most one of each beam
/// ends its sequence. The scores are [B, V] in the first run, [R, V] later.
Candidates BeamSearch::candidates(Value scores, Value count, Value run,
                                  bool isFirst) {
  Value logarithms =
      changed(node.op<nn::LogSoftmaxOp>(node.cast(scores, node.f32()),
                                        ArrayRef<int64_t>{1}),
              count, isFirst);
  if (!logarithms)
    return {};
  const int64_t width = node.size(logarithms, 1);
  if (width < 2 || width > std::numeric_limits<int32_t>::max() / beams) {
    node.fail("there are scores of " + Twine(width) + " tokens");
    return {};
  }
  Value each = isFirst ? node.unsqueeze(logarithms, {1})
                       : node.reshape(logarithms, Dims{batch, beams, width});
  Value all = node.binary<stablehlo::AddOp>(each, node.unsqueeze(sums, {2}));
  if (allSums) {
    Value zero = rules.number(0);
    allSums = node.op<stablehlo::DynamicUpdateSliceOp>(
        allSums, node.unsqueeze(all, {0}), Values{run, zero, zero, zero});
  }
  Operation *top = node.inferred<nn::TopKOp>(
      node.reshape(all, Dims{batch, beams * width}),
      static_cast<uint64_t>(2 * beams), uint64_t(1), true);
  if (!top)
    return {};
  Value places = node.cast(top->getResult(1), i32);
  Value perBeam = rules.number(width);
  return {top->getResult(0), node.binary<stablehlo::RemOp>(places, perBeam),
          node.binary<stablehlo::DivOp>(places, perBeam)};
}

/// Puts sequences [B, K, length] of \p count tokens among those that ended
/// where \p isNew [B, K], unless there are enough better ones.
void BeamSearch::addEnded(Value sums, Value tokens, Value isNew, Value count) {
  Value scores = node.concatenate({endedScores, normalised(sums, count)}, 1);
  Value isThere = node.concatenate(
      {node.compare(formats::iota(node, Dims{batch, beams}, 1, i32), endedCount,
                    Direction::LT),
       isNew},
      1);
  const auto constant = [&](double value) {
    return node.scalar(node.f32(), value);
  };
  Value keys = formats::select(
      node, isThere,
      node.binary<stablehlo::MaxOp>(
          scores, constant(std::numeric_limits<float>::lowest())),
      constant(-std::numeric_limits<double>::infinity()));
  Operation *top = node.inferred<nn::TopKOp>(keys, static_cast<uint64_t>(beams),
                                             uint64_t(1), true);
  if (!top)
    return;
  Value order = top->getResult(1);
  endedScores = along(scores, order);
  Value all = node.reshape(node.concatenate({ended, tokens}, 1),
                           Dims{node.product({batch, 2 * beams}), length});
  ended = node.op<nn::TakeOp>(all, rowsOf(order, 2 * beams), uint64_t(0));
  Value more = node.reduce<stablehlo::AddOp>(node.cast(isNew, i32), {1}, 0,
                                             /*keep=*/true);
  endedCount = node.binary<stablehlo::MinOp>(
      node.binary<stablehlo::AddOp>(endedCount, more), rules.number(beams));
}

/// The best candidates that do not end their sequences, one for each beam.
Candidates BeamSearch::open(const Candidates &all, Value isEnd) const {
  Value places = formats::iota(node, Dims{batch, 2 * beams}, 1, i32);
  Value behind = node.binary<stablehlo::MulOp>(node.cast(isEnd, i32),
                                               rules.number(2 * beams));
  Operation *top = node.inferred<nn::TopKOp>(
      node.binary<stablehlo::AddOp>(places, behind),
      static_cast<uint64_t>(beams), uint64_t(1), /*largest=*/false);
  if (!top)
    return {};
  Value order = top->getResult(1);
  return {along(all.sums, order), along(all.tokens, order),
          along(all.beams, order)};
}

/// Takes the next token of each beam by the scores that follow \p count tokens.
/// Returns which of the rows of before the beams continue [R].
Value BeamSearch::step(Value scores, Value count, Value run, bool isFirst) {
  const Candidates all = candidates(scores, count, run, isFirst);
  if (!all.sums)
    return {};
  if (isFirst)
    sequences = node.op<nn::TakeOp>(sequences, promptsOfRows(), uint64_t(0));
  Value isEnd = rules.areToken(all.tokens, rules.end);
  Value wasDone = node.unsqueeze(done, {1});
  Value isNew = node.binary<stablehlo::AndOp>(
      firstBeams(isEnd), node.unary<stablehlo::NotOp>(wasDone));
  addEnded(firstBeams(all.sums),
           node.op<nn::TakeOp>(sequences, rowsOf(firstBeams(all.beams), beams),
                               uint64_t(0)),
           isNew, count);
  Value isDone = node.compare(endedCount, rules.number(beams), Direction::EQ);
  if (!endsEarly)
    isDone = node.binary<stablehlo::AndOp>(
        isDone,
        node.compare(node.sliceAxis(endedScores, 1, beams - 1, beams),
                     normalised(node.sliceAxis(all.sums, 1, 0, 1), count),
                     Direction::GE));
  const Candidates next = open(all, isEnd);
  sums = formats::select(node, wasDone, node.scalar(node.f32(), 0), next.sums);
  last = flattened(
      formats::select(node, wasDone, rules.number(rules.padding), next.tokens));
  Value rows = flattened(rowsOf(next.beams, beams));
  sequences = node.op<nn::TakeOp>(sequences, rows, uint64_t(0));
  append(last, count);
  done = node.binary<stablehlo::OrOp>(done, node.squeeze(isDone, {1}));
  return rows;
}

std::vector<Bound> BeamSearch::states(ArrayRef<Value> ofModel) const {
  std::vector<Bound> all = {sequences, last,        sums,      done,
                            ended,     endedScores, endedCount};
  if (allSums)
    all.emplace_back(allSums);
  all.insert(all.end(), ofModel.begin(), ofModel.end());
  return all;
}

/// Takes the states of the search; returns the model's.
Values BeamSearch::takeStates(ArrayRef<Bound> states) {
  for (Value *each : {&sequences, &last, &sums, &done, &ended, &endedScores,
                      &endedCount, &allSums}) {
    if (each == &allSums && !allSums)
      continue;
    *each = states.front().value;
    states = states.drop_front();
  }
  Values rest;
  for (const Bound &each : states)
    rest.push_back(each.value);
  return rest;
}

/// One more token.
std::optional<std::vector<Bound>>
BeamSearch::decodeTokens(Value index, ArrayRef<Bound> given) {
  const Values past = takeStates(given);
  Value count = countAt(index);
  auto next = model->next({sequences, count, last, index}, past);
  if (!next)
    return std::nullopt;
  Value run = node.binary<stablehlo::AddOp>(index, rules.number(1));
  Value rows = step(next->scores, count, run, /*isFirst=*/false);
  std::vector<Bound> out = states(model->picked(next->states, rows));
  out.insert(out.begin(), Bound(goesOn(done)));
  return node.failed() ? std::nullopt : std::optional(out);
}

/// The beams of prompts that need more tokens end where the results do.
LogicalResult BeamSearch::finish() {
  takeStates(node.given());
  Value isOpen = node.broadcastInDim(node.unary<stablehlo::NotOp>(done),
                                     Dims{batch, beams}, {0});
  addEnded(sums, node.reshape(sequences, Dims{batch, beams, length}), isOpen,
           rules.number(length));
  auto firsts = [&](Value x) { return node.sliceAxis(x, 1, 0, wanted); };
  return node.results({firsts(ended), node.cast(firsts(endedScores), scoreType),
                       allSums ? node.cast(allSums, scoreType) : Value()});
}

LogicalResult BeamSearch::build() {
  if (!readNumbers() || !begin(9))
    return failure();
  startStates();
  auto first = model->start();
  if (!first)
    return failure();
  if (node.wants(2))
    allSums =
        filled(node.f32(), 0,
               {given.isStatic()
                    ? Dim(length - given.size)
                    : formats::SizeArithmetic(node).subtract(length, given),
                batch, beams, node.size(first->scores, 1)});
  step(first->scores, countAt({}), rules.number(0), /*isFirst=*/true);
  Value prompts = promptsOfRows();
  model->pick(prompts);
  const std::vector<Bound> carried =
      states(model->picked(first->states, prompts));
  Value isOpen = goesOn(done);
  if (node.failed())
    return failure();
  auto body = [&](ArrayRef<Bound> in) {
    // The condition holds.
    return decodeTokens(node.cast(in[0].value, i32), in.drop_front(2));
  };
  return failed(whileLoop(node, {mostRuns(), isOpen, carried, 0, body}))
             ? failure()
             : finish();
}

/// Prompts; the length of the results; the least length before a sequence ends;
/// the number of beams and of results for each prompt; the power of the length
/// that scores are divided by; a penalty for tokens that were; masks of tokens
/// that may be, at all and as the first; a mask of the prompts' tokens.
static LogicalResult importBeamSearch(NodeContext &node) {
  return BeamSearch(node).build();
}

llvm::ArrayRef<Operator> runtimeBeamSearchOperators() {
  static const Operator table[] = {
      {"BeamSearch", "com.microsoft", 1, importBeamSearch, 2, 12, false, true},
  };
  return table;
}

} // namespace sinter::onnx
