// Recurrent networks of several layers: rnn.

#include "formats/paddle/OperatorContext.h"
#include "formats/paddle/Operators.h"

using namespace mlir;

namespace sinter::paddle {

namespace {

/// The cell selected by attribute mode.
struct Cell {
  StringRef mode;
  /// For each gate of `nn` in its order: the index of Paddle's.
  SmallVector<int64_t> gates;
  /// The activations of one direction.
  SmallVector<StringRef> activations;
};

/// Weights and biases of one layer in the layout of `nn`.
struct Layer {
  Value input, recurrent, bias;
};

class Network {
public:
  Network(OperatorContext &op, const Cell &cell, int64_t hidden,
          int64_t directions)
      : op(op), cell(cell), hidden(hidden), directions(directions) {}

  /// \p states are the layer's initial states; returns Y and the final states.
  Values layer(Value x, const Layer &weights, ArrayRef<Value> states,
               Value lengths);
  /// The weights of layer \p index from the operator's list: for each layer and
  /// direction two matrices, and after all of them, in the same order, two
  /// biases.
  std::optional<Layer> weights(ArrayRef<Value> list, int64_t index,
                               int64_t layers);

private:
  /// The gates, concatenated in the order of `nn`.
  Value ordered(Value weights) {
    Values pieces;
    for (int64_t gate : cell.gates)
      pieces.push_back(
          op.sliceAxis(weights, 0, gate * hidden, (gate + 1) * hidden));
    return op.concatenate(pieces, 0);
  }
  /// Stacks one tensor per direction.
  Value stacked(Values pieces) {
    for (Value &piece : pieces)
      piece = op.unsqueeze(piece, {0});
    return op.concatenate(pieces, 0);
  }

  OperatorContext &op;
  const Cell &cell;
  int64_t hidden, directions;
};

} // namespace

static std::optional<Cell> cellOf(OperatorContext &op) {
  const std::string mode = op.getString("mode", "RNN_TANH");
  static const Cell cells[] = {
      {"LSTM", {0, 3, 1, 2}, {"Sigmoid", "Tanh", "Tanh"}},
      {"GRU", {1, 0, 2}, {"Sigmoid", "Tanh"}},
      {"RNN_TANH", {0}, {"Tanh"}},
      {"RNN_RELU", {0}, {"Relu"}},
  };
  for (const Cell &cell : cells)
    if (cell.mode == mode)
      return cell;
  return op.fail("attribute 'mode' is '" + mode + "'");
}

std::optional<Layer> Network::weights(ArrayRef<Value> list, int64_t index,
                                      int64_t layers) {
  const int64_t rows = static_cast<int64_t>(cell.gates.size()) * hidden;
  Values input, recurrent, bias;
  for (int64_t i = 0; i < directions; ++i) {
    const int64_t pair = 2 * (index * directions + i);
    Value matrices[2] = {list[pair], list[pair + 1]};
    Value biases[2] = {list[2 * layers * directions + pair],
                       list[2 * layers * directions + pair + 1]};
    for (int k : {0, 1})
      if (op.rank(matrices[k]) != 2 || op.size(matrices[k], 0) != rows ||
          op.rank(biases[k]) != 1 || op.size(biases[k], 0) != rows)
        return op.fail("a weight or bias of layer " + Twine(index) +
                       " has not " + Twine(rows) + " rows");
    input.push_back(ordered(matrices[0]));
    recurrent.push_back(ordered(matrices[1]));
    bias.push_back(op.concatenate({ordered(biases[0]), ordered(biases[1])}, 0));
  }
  Layer layer{stacked(input), stacked(recurrent), stacked(bias)};
  return op.failed() ? std::nullopt : std::optional(layer);
}

Values Network::layer(Value x, const Layer &weights, ArrayRef<Value> states,
                      Value lengths) {
  Builder &builder = op.builder();
  SmallVector<mlir::Attribute> names;
  for (int64_t i = 0; i < directions; ++i)
    for (StringRef each : cell.activations)
      names.push_back(builder.getStringAttr(each));
  auto direction =
      builder.getStringAttr(directions == 2 ? "bidirectional" : "forward");
  auto activations = builder.getArrayAttr(names);
  mlir::Operation *made = nullptr;
  if (cell.mode == "LSTM")
    made = op.inferred<nn::LstmOp>(
        x, weights.input, weights.recurrent, MaybeValue{weights.bias},
        MaybeValue{lengths}, MaybeValue{states[0]}, MaybeValue{states[1]},
        MaybeValue{}, direction, activations, ArrayAttr(), ArrayAttr(),
        FloatAttr(), builder.getBoolAttr(false));
  else if (cell.mode == "GRU")
    made = op.inferred<nn::GruOp>(
        x, weights.input, weights.recurrent, MaybeValue{weights.bias},
        MaybeValue{lengths}, MaybeValue{states[0]}, direction, activations,
        ArrayAttr(), ArrayAttr(), FloatAttr(), builder.getBoolAttr(true));
  else
    made = op.inferred<nn::RnnOp>(x, weights.input, weights.recurrent,
                                  MaybeValue{weights.bias}, MaybeValue{lengths},
                                  MaybeValue{states[0]}, direction, activations,
                                  ArrayAttr(), ArrayAttr(), FloatAttr());
  return made ? Values(made->getResults()) : Values();
}

/// Input [T, N, I]; PreState [layers * directions, N, H], for an LSTM two;
/// Out [T, N, directions * H].
static LogicalResult importRnn(OperatorContext &op) {
  Value x = op.operand("Input");
  Values states = op.operands("PreState"), list = op.operands("WeightList");
  const int64_t hidden = op.getInt("hidden_size", 0),
                layers = op.getInt("num_layers", 1),
                directions = op.getBool("is_bidirec", false) ? 2 : 1;
  auto cell = cellOf(op);
  if (!x || !cell || op.failed())
    return failure();
  if (op.rank(x) != 3)
    return op.fail("Input is not [time, batch, features]");
  if (hidden < 1 || hidden > (int64_t(1) << 24) || layers < 1 || layers > 4096)
    return op.fail("hidden_size or num_layers makes no sense");
  if (!op.getBool("is_test", false) && op.getFloat("dropout_prob", 0) != 0)
    return op.unsupported("dropout between layers; export the program for "
                          "inference");
  const size_t stateCount = cell->mode == "LSTM" ? 2 : 1;
  if (states.size() != stateCount ||
      static_cast<int64_t>(list.size()) != 4 * layers * directions)
    return op.fail("PreState or WeightList has not as many tensors as " +
                   Twine(layers) + " layers need");
  for (Value state : states)
    if (op.rank(state) != 3)
      return op.fail("PreState is not [layers, batch, features]");
  Value lengths = op.optional("SequenceLength");
  if (lengths)
    lengths = op.cast(lengths, op.builder().getI32Type());
  Network network(op, *cell, hidden, directions);
  std::vector<Values> last(stateCount);
  for (int64_t i = 0; i < layers; ++i) {
    auto weights = network.weights(list, i, layers);
    if (!weights)
      return failure();
    Values own;
    for (Value state : states)
      own.push_back(
          op.sliceAxis(state, 0, i * directions, (i + 1) * directions));
    Values results =
        op.failed() ? Values() : network.layer(x, *weights, own, lengths);
    if (results.empty())
      return failure();
    // [T, D, N, H] to [T, N, D * H].
    Value y = op.transpose(results[0], {0, 2, 1, 3});
    Dims sizes = op.dims(y);
    if (op.failed())
      return failure();
    x = op.reshape(y, ArrayRef<Dim>{sizes[0], sizes[1], directions * hidden});
    for (size_t k = 0; k < stateCount; ++k)
      last[k].push_back(results[k + 1]);
  }
  Values ends;
  for (const Values &each : last)
    ends.push_back(op.concatenate(each, 0));
  if (op.wants("State") && mlir::failed(op.results("State", ends)))
    return failure();
  return op.result("Out", x);
}

OperatorReaders recurrentReaders() {
  static const OperatorReader table[] = {
      {"rnn", importRnn, /*staysWhole=*/true},
  };
  return table;
}

} // namespace sinter::paddle
