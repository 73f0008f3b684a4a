// LSTM, GRU, RNN.

#include "formats/onnx/ops/Recurrent.h"

#include "formats/onnx/Operators.h"

using namespace mlir;

namespace sinter::onnx {

namespace {
/// The inputs and attributes that the three operators share.
struct Recurrence {
  Value x, w, r, bias, lengths, initial;
  StringAttr direction;
  ArrayAttr activations, alpha, beta;
  FloatAttr clip;
  /// Whether X and Y have the batch first.
  bool batchFirst;
};
} // namespace

/// The name of an activation, given its ONNX name in any case.
static std::string activationName(StringRef name) {
  static constexpr StringRef known[] = {
      "Relu",       "Tanh",        "Sigmoid",
      "Affine",     "LeakyRelu",   "ThresholdedRelu",
      "ScaledTanh", "HardSigmoid", "Elu",
      "Softsign",   "Softplus"};
  for (StringRef each : known)
    if (each.equals_insensitive(name))
      return each.str();
  return name.str();
}

static ArrayAttr numbers(NodeContext &node, StringRef name) {
  if (!node.hasAttribute(name))
    return {};
  SmallVector<Attribute> list;
  for (double value : node.getFloats(name))
    list.push_back(node.builder().getF64FloatAttr(value));
  return node.builder().getArrayAttr(list);
}

/// Inputs and attributes; \p defaults are the activations of one direction.
static std::optional<Recurrence> readRecurrence(NodeContext &node,
                                                ArrayRef<StringRef> defaults,
                                                const LstmInputs &inputs) {
  Recurrence result;
  result.x = inputs.x;
  result.w = inputs.w;
  result.r = inputs.r;
  result.bias = node.operand(3);
  result.lengths = node.operand(4);
  result.initial = node.operand(5);
  if (node.rank(result.x) != 3 || node.rank(result.r) != 3)
    return node.fail("X or R has not three dimensions");
  std::string direction = node.getString("direction", "forward");
  std::vector<std::string> names = node.getStrings("activations");
  if (names.empty())
    for (StringRef each : defaults)
      names.push_back(each.str());
  // The same functions for both directions.
  if (direction == "bidirectional" && names.size() == defaults.size())
    for (size_t i = 0; i < defaults.size(); ++i)
      names.push_back(std::string(names[i]));
  SmallVector<Attribute> activations;
  for (const std::string &name : names)
    activations.push_back(node.builder().getStringAttr(activationName(name)));
  result.direction = node.builder().getStringAttr(direction);
  result.activations = node.builder().getArrayAttr(activations);
  result.alpha = numbers(node, "activation_alpha");
  result.beta = numbers(node, "activation_beta");
  if (node.hasAttribute("clip"))
    result.clip = node.builder().getF64FloatAttr(node.getFloat("clip", 0));
  int64_t hidden = node.getInt("hidden_size", node.size(result.r, 2));
  if (hidden != node.size(result.r, 2) &&
      !ShapedType::isDynamic(node.size(result.r, 2)))
    return node.fail("hidden_size is not R's last dimension");
  result.batchFirst = node.version() >= 14 && node.getInt("layout", 0) == 1;
  if (result.batchFirst) {
    result.x = node.transpose(result.x, {1, 0, 2});
    if (result.initial)
      result.initial = node.transpose(result.initial, {1, 0, 2});
  }
  if (node.failed())
    return std::nullopt;
  return result;
}

static LogicalResult finish(NodeContext &node, const Recurrence &recurrence,
                            Operation *op) {
  if (!op)
    return failure();
  Values results;
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    if (!recurrence.batchFirst || !node.wants(i))
      results.push_back(result);
    else if (i == 0)
      results.push_back(node.transpose(result, {2, 0, 1, 3}));
    else
      results.push_back(node.transpose(result, {1, 0, 2}));
  }
  return node.results(results);
}

/// The inputs of a node whose weights are its inputs.
static LstmInputs ownInputs(NodeContext &node) {
  return {node.operand(0), node.operand(1), node.operand(2)};
}

LogicalResult importLstmOf(NodeContext &node, const LstmInputs &inputs) {
  auto read = readRecurrence(node, {"Sigmoid", "Tanh", "Tanh"}, inputs);
  if (!read)
    return failure();
  Value cell = node.operand(6);
  if (cell && read->batchFirst)
    cell = node.transpose(cell, {1, 0, 2});
  return finish(
      node, *read,
      node.inferred<nn::LstmOp>(
          read->x, read->w, read->r, MaybeValue{read->bias},
          MaybeValue{read->lengths}, MaybeValue{read->initial},
          MaybeValue{cell}, MaybeValue{node.operand(7)}, read->direction,
          read->activations, read->alpha, read->beta, read->clip,
          node.builder().getBoolAttr(node.getBool("input_forget", false))));
}

static LogicalResult importLstm(NodeContext &node) {
  return importLstmOf(node, ownInputs(node));
}

static LogicalResult importGru(NodeContext &node) {
  auto read = readRecurrence(node, {"Sigmoid", "Tanh"}, ownInputs(node));
  if (!read)
    return failure();
  return finish(node, *read,
                node.inferred<nn::GruOp>(
                    read->x, read->w, read->r, MaybeValue{read->bias},
                    MaybeValue{read->lengths}, MaybeValue{read->initial},
                    read->direction, read->activations, read->alpha, read->beta,
                    read->clip,
                    node.builder().getBoolAttr(
                        node.getBool("linear_before_reset", false))));
}

static LogicalResult importRnn(NodeContext &node) {
  auto read = readRecurrence(node, {"Tanh"}, ownInputs(node));
  if (!read)
    return failure();
  return finish(node, *read,
                node.inferred<nn::RnnOp>(
                    read->x, read->w, read->r, MaybeValue{read->bias},
                    MaybeValue{read->lengths}, MaybeValue{read->initial},
                    read->direction, read->activations, read->alpha, read->beta,
                    read->clip));
}

llvm::ArrayRef<Operator> recurrentOperators() {
  static const Operator table[] = {
      {"GRU", "", 1, importGru, 3, 6},
      {"LSTM", "", 1, importLstm, 3, 8},
      {"RNN", "", 1, importRnn, 3, 6},
  };
  return table;
}

} // namespace sinter::onnx
