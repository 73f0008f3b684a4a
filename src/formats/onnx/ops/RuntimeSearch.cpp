// ONNX Runtime's searches for text: a decoder, a graph in an attribute, runs
// once over the prompts and then once for each further token. They are
// specified in its docs/ContribOperators.md.

#include "formats/import/Building.h"
#include "formats/import/Indexing.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Inputs.h"
#include "formats/onnx/ops/RuntimeAttention.h"
#include "formats/onnx/ops/WhileLoop.h"
#include <limits>

using namespace mlir;

namespace sinter::onnx {

using Direction = stablehlo::ComparisonDirection;

namespace {
/// The input of a decoder for the keys and values of a layer so far, [2, B,
/// heads, P, head size].
struct PastType {
  int64_t heads, size;
  Type element;
  bool operator==(const PastType &) const = default;
};

/// What a decoder gives: the logits [B, S, V], and the keys and values with
/// those of this run, for each layer.
struct Decoded {
  Value logits;
  Values presents;
};

/// What a run of a decoder reads: tokens and their positions [B, S], a mask of
/// all tokens so far [B, P + S], keys and values.
struct DecoderStep {
  Value tokens, positions, mask;
  Values pasts;
};

/// A search that takes the token of the greatest score.
class GreedySearch {
public:
  explicit GreedySearch(NodeContext &node) : node(node) {}
  LogicalResult build();

private:
  bool readAttributes();
  bool readPastTypes(const GraphProto &graph);
  std::optional<Decoded> decode(const GraphProto &graph,
                                const DecoderStep &step);
  void readPrompt();
  Value number(double value, Type element) const {
    return node.scalar(element, value);
  }
  Value penalised(Value scores, Value count) const;
  Value allowed(Value scores, Value mask) const;
  Value chosen(Value scores, Value count, bool isFirst);
  Value take(Value logits, Value count, bool isFirst);
  Value goesOn();
  std::optional<Decoded> decodePrompts();
  std::optional<std::vector<Bound>> decodeToken(Value index,
                                                ArrayRef<Bound> states);

  NodeContext &node;
  const GraphProto *decoder = nullptr, *first = nullptr;
  std::vector<PastType> pastTypes;
  int64_t end = 0, padding = 0, length = 0;
  Type i32;
  /// The prompts [B, S], which of their tokens count [B, S], how many do [B].
  Value prompt, counts, filled;
  Dim batch = 0;
  int64_t given = 0;
  /// The tokens so far, then padding [B, length]; whether a sequence ended [B].
  Value sequences, ended;
};
} // namespace

bool GreedySearch::readAttributes() {
  if (node.getInt("model_type", 0) != 0 || node.hasAttribute("encoder")) {
    node.unsupported("a model of an encoder and a decoder");
    return false;
  }
  if (node.getInt("no_repeat_ngram_size", 0) > 0) {
    node.unsupported("attribute 'no_repeat_ngram_size'");
    return false;
  }
  for (StringRef name : {"eos_token_id", "pad_token_id"})
    if (!node.hasAttribute(name)) {
      node.fail("attribute '" + name + "' is missing");
      return false;
    }
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  end = node.getInt("eos_token_id", 0);
  padding = node.getInt("pad_token_id", 0);
  if (end < -1 || end > most || padding < -1 || padding > most) {
    node.fail("eos_token_id or pad_token_id is no token");
    return false;
  }
  decoder = node.getGraph("decoder");
  first = node.hasAttribute("init_decoder") ? node.getGraph("init_decoder")
                                            : decoder;
  if (!decoder || !first || !readPastTypes(*first))
    return false;
  const std::vector<PastType> types = pastTypes;
  if (!readPastTypes(*decoder))
    return false;
  if (types != pastTypes)
    node.fail("the two decoders differ in the past that they read");
  return !node.failed();
}

bool GreedySearch::readPastTypes(const GraphProto &graph) {
  pastTypes.clear();
  const int layers = graph.input_size() - 3;
  if (layers < 1 || graph.output_size() != layers + 1) {
    node.unsupported("a decoder that does not read tokens, positions, a mask "
                     "and the past of each layer and give scores and the past");
    return false;
  }
  for (int i = 3; i < graph.input_size(); ++i) {
    const TypeProto_Tensor &type = graph.input(i).type().tensor_type();
    const auto &dims = type.shape().dim();
    if (dims.size() != 5 || dims[2].dim_value() < 1 ||
        dims[4].dim_value() < 1) {
      node.unsupported("a decoder's input " + Twine(i) +
                       " that is not [2, batch, heads, length, head size]");
      return false;
    }
    pastTypes.push_back({dims[2].dim_value(), dims[4].dim_value(),
                         node.numberType(type.elem_type())});
  }
  return !node.failed();
}

std::optional<Decoded> GreedySearch::decode(const GraphProto &graph,
                                            const DecoderStep &step) {
  if (node.failed())
    return std::nullopt;
  std::vector<Bound> inputs = {step.tokens, step.positions, step.mask};
  inputs.insert(inputs.end(), step.pasts.begin(), step.pasts.end());
  auto outputs =
      node.importer.importGraph(graph, node.frame, inputs, innerPrefix(node));
  auto values = outputs ? tensorsOf(node, *outputs) : std::nullopt;
  if (!values)
    return std::nullopt;
  Value logits = values->front();
  if (node.rank(logits) != 3 || !node.isFloat(logits))
    return node.fail("the decoder's scores are not [batch, length, tokens]");
  if (ShapedType::isDynamic(node.size(logits, 2)))
    return node.unknown("the number of tokens that there are is unknown");
  Values presents(values->begin() + 1, values->end());
  for (auto [present, type] : llvm::zip_equal(presents, pastTypes))
    if (node.rank(present) != 5 || node.element(present) != type.element)
      return node.fail("the decoder gives a past of another type");
  return Decoded{logits, std::move(presents)};
}

/// Tokens that are padding have no place, unless input 6 says which have none.
void GreedySearch::readPrompt() {
  prompt = node.operand(0);
  if (node.rank(prompt) != 2 || !node.element(prompt).isInteger(32)) {
    node.fail("input_ids is not [batch, length] of i32");
    return;
  }
  const Dim total = sizeOf(node, node.operand(1));
  given = node.size(prompt, 1);
  if (ShapedType::isDynamic(given) || !total.isStatic()) {
    node.unknown("the length of the prompts or of the results is known only "
                 "at run time");
    return;
  }
  length = total.size;
  if (given < 1 || length <= given) {
    node.fail("max_length, " + Twine(length) +
              ", is not more than the length of the prompts, " + Twine(given));
    return;
  }
  if (length > std::numeric_limits<int32_t>::max()) {
    node.unsupported("results of " + Twine(length) + " tokens");
    return;
  }
  batch = node.dim(prompt, 0);
  counts =
      node.has(6)
          ? node.operand(6)
          : node.cast(node.compare(prompt,
                                   number(static_cast<double>(padding), i32),
                                   Direction::NE),
                      i32);
  if (node.rank(counts) != 2 || !node.element(counts).isInteger(32)) {
    node.fail("attention_mask is not [batch, length] of i32");
    return;
  }
  filled = node.reduce<stablehlo::AddOp>(counts, {1}, 0, false);
  Value rest = node.broadcastInDim(number(static_cast<double>(padding), i32),
                                   Dims{batch, length - given}, {});
  sequences = node.concatenate({prompt, rest}, 1);
  ended = node.broadcastInDim(number(0, node.i1()), Dims{batch}, {});
}

/// \p scores of tokens that are among the first \p count of their sequence
/// times or, if they are positive, divided by the repetition penalty.
Value GreedySearch::penalised(Value scores, Value count) const {
  if (!node.has(3) || !scores)
    return scores;
  Value penalty = node.cast(scalarInput(node, 3), node.f32());
  Value isThere = node.broadcastInDim(
      node.cast(node.compare(formats::iota(node, Dims{1, length}, 1, i32),
                             count, Direction::LT),
                i32),
      Dims{batch, length}, {0, 1});
  Value seen = formats::scatterAlong(
      node, node.broadcastInDim(number(0, i32), node.dims(scores), {}),
      sequences, isThere, 1, formats::Combine::Max);
  Value zero = number(0, node.f32());
  Value less = formats::select(node, node.compare(scores, zero, Direction::LT),
                               node.binary<stablehlo::MulOp>(scores, penalty),
                               node.binary<stablehlo::DivOp>(scores, penalty));
  return formats::select(
      node, node.compare(seen, number(0, i32), Direction::NE), less, scores);
}

/// \p scores where \p mask, of integers, is not 0, else the least number.
Value GreedySearch::allowed(Value scores, Value mask) const {
  return formats::select(
      node, node.compare(mask, number(0, node.element(mask)), Direction::NE),
      scores, number(std::numeric_limits<float>::lowest(), node.f32()));
}

/// The next token of each sequence [B], of which there are \p count so far, by
/// its logits [B, V]; sets whether it ended.
Value GreedySearch::chosen(Value scores, Value count, bool isFirst) {
  scores = penalised(node.cast(scores, node.f32()), count);
  if (node.has(4))
    scores = allowed(scores, node.operand(4));
  if (isFirst && node.has(5))
    scores = allowed(scores, node.operand(5));
  if (!scores)
    return {};
  if (node.has(2)) {
    Value least = node.cast(scalarInput(node, 2), i32);
    Value isEnd =
        node.compare(formats::iota(node, Dims{1, node.size(scores, 1)}, 1, i32),
                     number(static_cast<double>(end), i32), Direction::EQ);
    Value isEarly = node.compare(count, least, Direction::LT);
    Value both = node.binary<stablehlo::AndOp>(isEnd, isEarly);
    scores = formats::select(
        node, both, number(std::numeric_limits<float>::lowest(), node.f32()),
        scores);
  }
  Value token =
      node.cast(node.op<nn::ArgMaxOp>(scores, uint64_t(1), false, false), i32);
  ended = node.binary<stablehlo::OrOp>(
      ended, node.compare(token, number(static_cast<double>(end), i32),
                          Direction::EQ));
  return formats::select(node, ended, number(static_cast<double>(padding), i32),
                         token);
}

/// Takes the next token by the logits [B, S, V] of the last of S tokens; there
/// are \p count so far.
Value GreedySearch::take(Value logits, Value count, bool isFirst) {
  if (!logits)
    return {};
  Value last = node.squeeze(
      node.sliceAxis(logits, 1, isFirst ? given - 1 : 0, isFirst ? given : 1),
      {1});
  Value token = chosen(last, count, isFirst);
  sequences = node.op<stablehlo::DynamicUpdateSliceOp>(
      sequences, node.unsqueeze(token, {1}), Values{number(0, i32), count});
  return token;
}

/// Whether a sequence has not ended.
Value GreedySearch::goesOn() {
  return node.unary<stablehlo::NotOp>(
      node.reduce<stablehlo::AndOp>(ended, {0}, 1, false));
}

std::optional<Decoded> GreedySearch::decodePrompts() {
  Value before =
      node.op<nn::CumulativeSumOp>(counts, uint64_t(1), /*exclusive=*/true,
                                   /*reverse=*/false);
  DecoderStep step{
      prompt, node.binary<stablehlo::MulOp>(before, counts), counts, {}};
  for (const PastType &type : pastTypes)
    step.pasts.push_back(node.broadcastInDim(
        number(0, type.element), Dims{2, batch, type.heads, 0, type.size}, {}));
  return decode(*first, step);
}

/// One more token. The states are the sequences, the last tokens, whether each
/// sequence ended, the mask, and the past of each layer.
std::optional<std::vector<Bound>>
GreedySearch::decodeToken(Value index, ArrayRef<Bound> states) {
  sequences = states[0].value;
  ended = states[2].value;
  Value one = node.broadcastInDim(number(1, i32), Dims{batch, 1}, {});
  DecoderStep step{
      node.unsqueeze(states[1].value, {1}),
      node.unsqueeze(node.binary<stablehlo::AddOp>(filled, index), {1}),
      node.concatenate({states[3].value, one}, 1),
      {}};
  for (const Bound &past : states.drop_front(4))
    step.pasts.push_back(past.value);
  auto next = decode(*decoder, step);
  if (!next)
    return std::nullopt;
  Value count = node.binary<stablehlo::AddOp>(
      index, number(static_cast<double>(given + 1), i32));
  Value token = take(next->logits, count, /*isFirst=*/false);
  std::vector<Bound> out = {goesOn(), sequences, token, ended, step.mask};
  out.insert(out.end(), next->presents.begin(), next->presents.end());
  return node.failed() ? std::nullopt : std::optional(out);
}

LogicalResult GreedySearch::build() {
  i32 = node.builder().getI32Type();
  if (!readAttributes())
    return failure();
  readPrompt();
  auto done = decodePrompts();
  if (!done)
    return failure();
  Value token = take(done->logits, number(static_cast<double>(given), i32),
                     /*isFirst=*/true);
  std::vector<Bound> states = {sequences, token, ended, counts};
  states.insert(states.end(), done->presents.begin(), done->presents.end());
  Value isOpen = goesOn();
  if (node.failed())
    return failure();
  auto body = [&](ArrayRef<Bound> in) {
    // The condition holds.
    return decodeToken(node.cast(in[0].value, i32), in.drop_front(2));
  };
  const double most = static_cast<double>(length - given - 1);
  return whileLoop(node,
                   {node.scalar(node.i64(), most), isOpen, states, 0, body});
}

/// Prompts; the length of the results; the least length before a sequence
/// ends; a penalty for tokens that were; masks of tokens that may be, at all
/// and as the first; a mask of the prompts' tokens.
static LogicalResult importGreedySearch(NodeContext &node) {
  return GreedySearch(node).build();
}

llvm::ArrayRef<Operator> runtimeSearchOperators() {
  static constexpr StringLiteral domain = "com.microsoft";
  static const Operator table[] = {
      {"GreedySearch", domain, 1, importGreedySearch, 2, 7, false, true},
  };
  return table;
}

} // namespace sinter::onnx
