#include "formats/onnx/ops/SearchModels.h"

#include "formats/import/Building.h"
#include "formats/onnx/ops/Bodies.h"
#include "formats/onnx/ops/RuntimeAttention.h"
#include <limits>

using namespace mlir;

namespace sinter::onnx {

using Direction = stablehlo::ComparisonDirection;

//===----------------------------------------------------------------------===//
// What both have
//===----------------------------------------------------------------------===//

Values SearchModel::picked(ArrayRef<Value> states, Value rows) const {
  Values out;
  for (auto [i, state] : llvm::enumerate(states))
    out.push_back(
        node.op<nn::TakeOp>(state, rows, static_cast<uint64_t>(rowAxis(i))));
  return out;
}

void SearchModel::pick(Value rows) {
  for (Value &each : constants)
    each = node.op<nn::TakeOp>(each, rows, uint64_t(0));
}

std::optional<Values> SearchModel::run(const GraphProto &graph,
                                       ArrayRef<Value> inputs, int outputs) {
  if (node.failed() || llvm::is_contained(inputs, Value()))
    return std::nullopt;
  auto given = node.importer.importGraph(
      graph, node.frame, std::vector<Bound>(inputs.begin(), inputs.end()),
      innerPrefix(node));
  auto values = given ? tensorsOf(node, *given) : std::nullopt;
  if (values && static_cast<int>(values->size()) < outputs)
    return node.fail("the model gives too few outputs");
  return values;
}

/// The scores of the last token of \p logits [R, S, V], of as many tokens as
/// attribute vocab_size says.
std::optional<Value> SearchModel::lastScores(Value logits) {
  if (node.rank(logits) != 3 || !node.isFloat(logits))
    return node.fail("the decoder's scores are not [batch, length, tokens]");
  const int64_t width = node.size(logits, 2);
  const int64_t given = node.getInt("vocab_size", -1);
  if (ShapedType::isDynamic(width))
    return node.unknown("the number of tokens that there are is unknown");
  if (given > width || width > std::numeric_limits<int32_t>::max())
    return node.fail("there are scores of " + Twine(width) + " tokens");
  Value last = node.op<nn::TakeOp>(logits, rules.number(-1), uint64_t(1));
  return given > 0 && last ? node.sliceAxis(last, 1, 0, given) : last;
}

/// Which tokens of \p prompts count [B, S]: what \p input says or, without it,
/// those that are no padding. That of the end counts, too, without
/// \p hidesAll.
Value SearchModel::maskOf(Value prompts, int64_t input, bool hidesAll) {
  Type i32 = node.builder().getI32Type();
  Value mask =
      node.has(input)
          ? node.operand(input)
          : node.cast(node.compare(prompts, rules.number(rules.padding),
                                   Direction::NE),
                      i32);
  if (node.rank(mask) != 2 || !node.element(mask).isInteger(32))
    return node.fail("attention_mask is not [batch, length] of i32");
  if (hidesAll || node.has(input))
    return mask;
  Value soFar = node.op<nn::CumulativeSumOp>(mask, uint64_t(1), false, false);
  return node.binary<stablehlo::MinOp>(soFar, rules.number(1));
}

/// Input 0: prompts of tokens.
static Value readPrompts(NodeContext &node) {
  Value prompts = node.operand(0);
  if (node.rank(prompts) != 2 || !node.element(prompts).isInteger(32))
    return node.fail("input_ids is not [batch, length] of i32");
  if (node.size(prompts, 1) == 0)
    return node.fail("the prompts are empty");
  return prompts;
}

namespace {
/// The keys or values of a layer so far.
struct PastType {
  int64_t heads, size;
  Type element;
  bool operator==(const PastType &) const = default;
};
} // namespace

/// The type of input \p index of \p graph, of \p rank dimensions, the last of
/// which are [heads, length, head size].
static std::optional<PastType>
pastType(NodeContext &node, const GraphProto &graph, int index, int rank) {
  const TypeProto_Tensor &type = graph.input(index).type().tensor_type();
  const auto &dims = type.shape().dim();
  if (dims.size() != rank || dims[rank - 3].dim_value() < 1 ||
      dims[rank - 1].dim_value() < 1)
    return node.unsupported("a decoder's input " + Twine(index) +
                            " that is not [" + (rank == 5 ? "2, " : "") +
                            "batch, heads, length, head size]");
  PastType past{dims[rank - 3].dim_value(), dims[rank - 1].dim_value(),
                node.numberType(type.elem_type())};
  return past.element ? std::optional(past) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// A decoder alone
//===----------------------------------------------------------------------===//

namespace {
/// The states are the mask of all tokens so far [R, T], and the keys and values
/// of each layer [2, R, heads, T, head size]. All runs read the number of
/// tokens of the prompt that count [R].
class DecoderModel : public SearchModel {
public:
  using SearchModel::SearchModel;
  bool read(int64_t maskInput) override;
  std::optional<Decoded> start() override;
  std::optional<Decoded> next(const TokensSoFar &tokens,
                              ArrayRef<Value> states) override;

private:
  int64_t rowAxis(size_t state) const override { return state == 0 ? 0 : 1; }
  std::optional<std::vector<PastType>> pastTypes(const GraphProto &graph);
  std::optional<Decoded> decode(const GraphProto &graph, Value tokens,
                                Value positions, Value mask,
                                ArrayRef<Value> pasts);

  const GraphProto *decoder = nullptr, *first = nullptr;
  std::vector<PastType> types;
  Value promptMask;
};
} // namespace

std::optional<std::vector<PastType>>
DecoderModel::pastTypes(const GraphProto &graph) {
  const int layers = graph.input_size() - 3;
  if (layers < 1 || graph.output_size() != layers + 1)
    return node.unsupported(
        "a decoder that does not read tokens, positions, a mask and the past "
        "of each layer and give scores and the past");
  std::vector<PastType> found;
  for (int i = 3; i < graph.input_size(); ++i) {
    auto type = pastType(node, graph, i, 5);
    if (!type)
      return std::nullopt;
    found.push_back(*type);
  }
  return found;
}

bool DecoderModel::read(int64_t maskInput) {
  decoder = node.getGraph("decoder");
  first = node.hasAttribute("init_decoder") ? node.getGraph("init_decoder")
                                            : decoder;
  if (!decoder || !first)
    return false;
  auto firstTypes = pastTypes(*first), others = pastTypes(*decoder);
  if (!firstTypes || !others)
    return false;
  types = *others;
  if (*firstTypes != types)
    node.fail("the two decoders differ in the past that they read");
  prompt = readPrompts(node);
  if (prompt)
    promptMask = maskOf(prompt, maskInput, /*hidesAll=*/true);
  return !node.failed();
}

std::optional<Decoded> DecoderModel::decode(const GraphProto &graph,
                                            Value tokens, Value positions,
                                            Value mask, ArrayRef<Value> pasts) {
  Values inputs = {tokens, positions, mask};
  llvm::append_range(inputs, pasts);
  auto outputs = run(graph, inputs, static_cast<int>(pasts.size()) + 1);
  auto scores = outputs ? lastScores(outputs->front()) : std::nullopt;
  if (!scores)
    return std::nullopt;
  Decoded done{*scores, {mask}};
  for (auto [present, type] :
       llvm::zip_equal(ArrayRef<Value>(*outputs).drop_front(), types)) {
    if (node.rank(present) != 5 || node.element(present) != type.element)
      return node.fail("the decoder gives a past of another type");
    done.states.push_back(present);
  }
  return done;
}

std::optional<Decoded> DecoderModel::start() {
  constants = {node.reduce<stablehlo::AddOp>(promptMask, {1}, 0, false)};
  Value before = node.op<nn::CumulativeSumOp>(
      promptMask, uint64_t(1), /*exclusive=*/true, /*reverse=*/false);
  Values pasts;
  for (const PastType &type : types)
    pasts.push_back(node.broadcastInDim(
        node.scalar(type.element, 0),
        Dims{2, node.dim(prompt, 0), type.heads, 0, type.size}, {}));
  // Tokens that are padding have position 0.
  return decode(*first, prompt,
                node.binary<stablehlo::MulOp>(before, promptMask), promptMask,
                pasts);
}

std::optional<Decoded> DecoderModel::next(const TokensSoFar &tokens,
                                          ArrayRef<Value> states) {
  Value positions = node.binary<stablehlo::AddOp>(constants[0], tokens.run);
  Value one = node.broadcastInDim(rules.number(1),
                                  Dims{node.dim(tokens.last, 0), 1}, {});
  return decode(*decoder, node.unsqueeze(tokens.last, {1}),
                node.unsqueeze(positions, {1}),
                node.concatenate({states[0], one}, 1), states.drop_front());
}

//===----------------------------------------------------------------------===//
// An encoder and a decoder
//===----------------------------------------------------------------------===//

namespace {
/// The states are the keys and values of each layer's attention to the tokens
/// so far [R, heads, T, head size]. All runs read the mask of the prompts, what
/// the encoder gave for them if the decoder wants it, and the keys and values
/// of each layer's attention to them.
///
/// The encoder reads the prompts, their mask and, in the older form, the first
/// tokens: then the first run of the decoder is part of it.
class EncoderModel : public SearchModel {
public:
  using SearchModel::SearchModel;
  bool read(int64_t maskInput) override;
  std::optional<Decoded> start() override;
  std::optional<Decoded> next(const TokensSoFar &tokens,
                              ArrayRef<Value> states) override;

private:
  int64_t rowAxis(size_t) const override { return 0; }
  bool readGraphs();
  std::optional<Decoded> decode(Value tokens, ArrayRef<Value> states);
  std::optional<Decoded> checked(Decoded decoded);

  const GraphProto *encoder = nullptr, *decoder = nullptr;
  Value prompts, mask;
  int layers = 0;
  /// Whether the decoder reads what the encoder gave, and whether it reads all
  /// tokens and not only the last.
  bool readsHidden = false, readsAll = false;
  std::vector<PastType> types;
};
} // namespace

bool EncoderModel::readGraphs() {
  encoder = node.getGraph("encoder");
  decoder = node.getGraph("decoder");
  if (!encoder || !decoder)
    return false;
  readsHidden = decoder->input_size() > 2 &&
                decoder->input(2).name() == "encoder_hidden_states";
  layers = (decoder->output_size() - 1) / 2;
  const bool isOlder = encoder->input_size() == 3;
  const int leading = readsHidden ? 3 : 2;
  if (layers < 1 || decoder->output_size() != 1 + 2 * layers ||
      decoder->input_size() != leading + 4 * layers ||
      (!isOlder && (encoder->input_size() != 2 || readsHidden)) ||
      encoder->output_size() != (isOlder ? 2 + 4 * layers : 2 * layers)) {
    node.unsupported("an encoder and a decoder that do not read and give the "
                     "same layers");
    return false;
  }
  const auto &dims = decoder->input(0).type().tensor_type().shape().dim();
  readsAll = dims.size() != 2 || dims[1].dim_value() != 1;
  for (int i = 0; i < 2 * layers; ++i) {
    auto type = pastType(node, *decoder, leading + i, 4);
    if (!type)
      return false;
    types.push_back(*type);
  }
  return true;
}

bool EncoderModel::read(int64_t maskInput) {
  if (!readGraphs())
    return false;
  const int64_t first = node.getInt("decoder_start_token_id", -1);
  if (first < 0 || first > std::numeric_limits<int32_t>::max()) {
    node.fail("attribute 'decoder_start_token_id' is missing or no token");
    return false;
  }
  prompts = readPrompts(node);
  if (!prompts)
    return false;
  mask = maskOf(prompts, maskInput, /*hidesAll=*/false);
  prompt = node.broadcastInDim(rules.number(first),
                               Dims{node.dim(prompts, 0), 1}, {});
  return !node.failed();
}

/// \p decoded, if its states are what the decoder reads.
std::optional<Decoded> EncoderModel::checked(Decoded decoded) {
  for (auto [state, type] : llvm::zip_equal(decoded.states, types))
    if (node.rank(state) != 4 || node.element(state) != type.element)
      return node.fail("the decoder gives a past of another type");
  return decoded;
}

std::optional<Decoded> EncoderModel::decode(Value tokens,
                                            ArrayRef<Value> states) {
  const size_t leading = readsHidden ? 2 : 1;
  Values inputs = {tokens};
  llvm::append_range(inputs, ArrayRef<Value>(constants).take_front(leading));
  llvm::append_range(inputs, states);
  llvm::append_range(inputs, ArrayRef<Value>(constants).drop_front(leading));
  auto outputs = run(*decoder, inputs, 1 + 2 * layers);
  auto scores = outputs ? lastScores(outputs->front()) : std::nullopt;
  if (!scores)
    return std::nullopt;
  return checked({*scores, Values(llvm::drop_begin(*outputs))});
}

std::optional<Decoded> EncoderModel::start() {
  const bool isOlder = encoder->input_size() == 3;
  Values inputs = {prompts, mask};
  if (isOlder)
    inputs.push_back(prompt);
  auto outputs = run(*encoder, inputs, encoder->output_size());
  if (!outputs)
    return std::nullopt;
  ArrayRef<Value> given(*outputs);
  constants = {mask};
  if (readsHidden)
    constants.push_back(given[1]);
  llvm::append_range(constants, given.take_back(2 * layers));
  if (isOlder) {
    auto scores = lastScores(given[0]);
    if (!scores)
      return std::nullopt;
    return checked({*scores, Values(given.slice(2, 2 * layers))});
  }
  Values pasts;
  for (const PastType &type : types)
    pasts.push_back(node.broadcastInDim(
        node.scalar(type.element, 0),
        Dims{node.dim(prompts, 0), type.heads, 0, type.size}, {}));
  return decode(prompt, pasts);
}

std::optional<Decoded> EncoderModel::next(const TokensSoFar &tokens,
                                          ArrayRef<Value> states) {
  // All are of as many tokens, which the loop that carries them does not show.
  Values pasts;
  for (Value each : states)
    pasts.push_back(pasts.empty()
                        ? each
                        : firstRows(node, each, 2, node.dim(pasts.front(), 2)));
  if (!readsAll)
    return decode(node.unsqueeze(tokens.last, {1}), pasts);
  const Dim count(ShapedType::kDynamic,
                  node.cast(node.reshape(tokens.count, Ints{1}), node.i64()));
  return decode(firstRows(node, tokens.sequences, 1, count), pasts);
}

//===----------------------------------------------------------------------===//
// Which of them
//===----------------------------------------------------------------------===//

std::unique_ptr<SearchModel>
SearchModel::of(NodeContext &node, const TokenScores &rules, int64_t mask) {
  std::unique_ptr<SearchModel> model;
  switch (node.getInt("model_type", 0)) {
  case 0:
    model = std::make_unique<DecoderModel>(node, rules);
    break;
  case 1:
    model = std::make_unique<EncoderModel>(node, rules);
    break;
  default:
    node.unsupported("attribute 'model_type' that is not 0 or 1");
    return nullptr;
  }
  return model->read(mask) ? std::move(model) : nullptr;
}

} // namespace sinter::onnx
