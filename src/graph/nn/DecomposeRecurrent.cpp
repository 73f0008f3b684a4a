// LSTM, GRU and RNN, built from stablehlo: for each direction one matmul for
// all inputs, then a loop over the time steps.

#include "graph/nn/Wide.h"

using namespace mlir;

namespace sinter::nn {

using Direction = stablehlo::ComparisonDirection;

namespace {

/// One activation with its parameters, as ONNX names and defaults them.
struct Activation {
  StringRef name;
  double alpha;
  double beta;
};

/// The parameters of one direction.
struct Layer {
  TensorBuilder &emit;
  Size steps, batch, hidden;
  Type element;
  std::optional<double> clip;
  SmallVector<Activation> activations;

  Value clipped(Value x) {
    if (!clip)
      return x;
    return emit.min(emit.max(x, -*clip), *clip);
  }
  Value activate(size_t which, Value x);
  /// The shape of a state.
  Sizes state() const { return {batch, hidden}; }
  /// Gate \p index of [N, gates * H].
  Value gate(Value gates, int64_t index) {
    return part(gates, 1, index, index + 1);
  }
  /// Slices \p first to \p last of dimension \p dimension, each of the hidden
  /// size.
  Value part(Value x, int64_t dimension, int64_t first, int64_t last) {
    return emit.slice(x, dimension, emit.product(hidden, first),
                      emit.product(hidden, last));
  }
  /// \p bias, a vector along \p x's last dimension, added to each row.
  Value withBias(Value x, Value bias) {
    return bias ? emit.add(x, emit.broadcast(bias, {1}, emit.sizes(x))) : x;
  }
};

} // namespace

static std::pair<double, double> defaultParameters(StringRef name) {
  return llvm::StringSwitch<std::pair<double, double>>(name)
      .Case("LeakyRelu", {0.01, 0})
      .Case("ThresholdedRelu", {1.0, 0})
      .Case("HardSigmoid", {0.2, 0.5})
      .Case("Elu", {1.0, 0})
      .Default({1.0, 0.0});
}

Value Layer::activate(size_t which, Value input) {
  const Activation &function = activations[which];
  Value x = clipped(input);
  double alpha = function.alpha, beta = function.beta;
  StringRef name = function.name;
  FloatAttr alphaAttr = emit.builder.getF64FloatAttr(alpha);
  FloatAttr betaAttr = emit.builder.getF64FloatAttr(beta);
  auto tanh = [&](Value v) { return emit.make<stablehlo::TanhOp>(v); };
  if (name == "Sigmoid")
    return emit.make<stablehlo::LogisticOp>(x);
  if (name == "Tanh")
    return tanh(x);
  if (name == "Relu")
    return emit.max(x, 0.0);
  if (name == "Affine")
    return emit.add(emit.mul(x, alpha), beta);
  if (name == "ScaledTanh")
    return emit.mul(tanh(emit.mul(x, beta)), alpha);
  // The other activations are operations of the dialect, decomposed in turn.
  Type type = x.getType();
  Operation *op;
  OpBuilder &builder = emit.builder;
  if (name == "LeakyRelu")
    op = builder.create<LeakyReluOp>(emit.location, type, x, alphaAttr);
  else if (name == "ThresholdedRelu")
    op = builder.create<ThresholdedReluOp>(emit.location, type, x, alphaAttr);
  else if (name == "HardSigmoid")
    op = builder.create<HardSigmoidOp>(emit.location, type, x, alphaAttr,
                                       betaAttr);
  else if (name == "Elu")
    op = builder.create<EluOp>(emit.location, type, x, alphaAttr);
  else if (name == "Softsign")
    op = builder.create<SoftsignOp>(emit.location, type, x);
  else
    op = builder.create<SoftplusOp>(emit.location, type, x);
  return op->getResult(0);
}

template <typename Op>
static SmallVector<Activation> activationsOf(Op op, size_t direction,
                                             size_t functions) {
  SmallVector<Activation> result;
  for (size_t i = direction * functions; i < (direction + 1) * functions; ++i) {
    StringRef name = cast<StringAttr>(op.getActivations()[i]).getValue();
    auto [alpha, beta] = defaultParameters(name);
    auto given = [&](std::optional<ArrayAttr> list, double otherwise) {
      if (!list || i >= list->size())
        return otherwise;
      return cast<FloatAttr>((*list)[i]).getValueAsDouble();
    };
    result.push_back({name, given(op.getActivationAlpha(), alpha),
                      given(op.getActivationBeta(), beta)});
  }
  return result;
}

/// Slice \p direction of [D, ...], without the first dimension.
static Value directionOf(TensorBuilder &emit, Value x, int64_t direction) {
  Value row = emit.slice(x, 0, direction, direction + 1);
  return emit.reshape(row, emit.sizes(x).drop_front());
}

/// Computes the new states of one step from the projected input [N, G * H] and
/// the old states; the first state is the output.
using Step = llvm::function_ref<SmallVector<Value>(
    Layer &, Value projected, Value r, Value rBias, ArrayRef<Value> states,
    ArrayRef<Value> extras)>;

/// The step \p time of \p projected, which has dynamic dimensions.
static Value dynamicStep(TensorBuilder &emit, Value projected, Value time,
                         Value spans) {
  Value zero = emit.knownSize(0);
  Value from = emit.concatenate(
      {emit.reshape(emit.convert(time, emit.integerType(32)), {1}), zero, zero},
      0);
  SmallVector<int64_t> shape(tensorOf(projected).getShape());
  shape[0] = 1;
  return emit.make<stablehlo::RealDynamicSliceOp>(
      tensorOf(projected).clone(shape), projected, from, emit.add(from, spans),
      emit.vectorOf({1, 1, 1}));
}

/// Runs one direction. \p states are the initial states; the results are the
/// outputs [T, N, H] and the last states.
static SmallVector<Value> runDirection(Layer &layer, Value x, Value w, Value r,
                                       Value wBias, Value rBias, Value lengths,
                                       bool reverse, ArrayRef<Value> states,
                                       ArrayRef<Value> extras, Step step) {
  TensorBuilder &emit = layer.emit;
  OpBuilder &builder = emit.builder;
  Value outputs =
      emit.splat(0, {layer.steps, layer.batch, layer.hidden}, layer.element);
  if (layer.steps == Size(0)) {
    SmallVector<Value> results = {outputs};
    llvm::append_range(results, states);
    return results;
  }
  Size width = Size::of(x, 2), gates = Size::of(w, 0);
  Value flat = emit.reshape(x, {emit.product(layer.steps, layer.batch), width});
  Value projected = layer.withBias(emit.matmulTransposed(flat, w), wBias);
  projected = emit.reshape(projected, {layer.steps, layer.batch, gates});

  Type index = emit.integerType(64);
  Value zero = emit.scalar(0, index);
  Value steps = emit.number(layer.steps, index);
  Value last = emit.sub(steps, emit.scalar(1, index));
  // The size and the start of one step's slice.
  Sizes span = {1, layer.batch, gates};
  Value spans = span.areKnown() ? Value() : emit.vectorOf(span);
  SmallVector<Value> carried = {zero, outputs};
  llvm::append_range(carried, states);
  SmallVector<Type> types;
  for (Value value : carried)
    types.push_back(value.getType());
  auto loop = builder.create<stablehlo::WhileOp>(emit.location, types, carried);
  SmallVector<Location> locations(types.size(), emit.location);
  OpBuilder::InsertionGuard guard(builder);

  Block *condition = builder.createBlock(&loop.getCond(), {}, types, locations);
  Value more = emit.compare(Direction::LT, condition->getArgument(0), steps);
  builder.create<stablehlo::ReturnOp>(emit.location, more);

  Block *body = builder.createBlock(&loop.getBody(), {}, types, locations);
  Value count = body->getArgument(0);
  Value time = reverse ? emit.sub(last, count) : count;
  SmallVector<Value> place = {time, zero, zero};
  Value now = emit.reshape(
      spans ? dynamicStep(emit, projected, time, spans)
            : emit.make<stablehlo::DynamicSliceOp>(
                  projected, place, builder.getDenseI64ArrayAttr(span.shape())),
      {layer.batch, gates});
  SmallVector<Value> old(body->getArguments().drop_front(2));
  SmallVector<Value> fresh = step(layer, now, r, rBias, old, extras);
  Value output = fresh.front();
  if (lengths) {
    // Past the end of a sequence the states stay and the output is zero.
    Value ends = emit.convert(lengths, index);
    Value active =
        emit.compare(Direction::LT, emit.spreadLike(time, ends), ends);
    active = emit.broadcast(active, {0}, layer.state());
    for (auto [state, before] : llvm::zip_equal(fresh, old))
      state = emit.select(active, state, before);
    output = emit.select(active, output, emit.splatLike(0, output));
  }
  Value row = emit.reshape(output, {1, layer.batch, layer.hidden});
  Value all = emit.make<stablehlo::DynamicUpdateSliceOp>(body->getArgument(1),
                                                         row, place);
  SmallVector<Value> next = {emit.add(count, 1.0), all};
  llvm::append_range(next, fresh);
  builder.create<stablehlo::ReturnOp>(emit.location, next);
  return SmallVector<Value>(loop.getResults().drop_front());
}

/// All directions of \p op; \p initial are its initial states (null: zero).
template <typename Op>
static FailureOr<SmallVector<Value>>
decomposeRecurrent(Op op, OpBuilder &builder, size_t functions,
                   ArrayRef<Value> initial, Value extra, bool sumsBiases,
                   Step step) {
  TensorBuilder emit(builder, op.getLoc());
  const int64_t directions = op.getDirection() == "bidirectional" ? 2 : 1;
  Value x = op.getX(), r = op.getR();
  Size hidden = Size::of(r, 2), gates = Size::of(r, 1);
  Layer layer{emit,
              Size::of(x, 0),
              Size::of(x, 1),
              hidden,
              tensorOf(x).getElementType(),
              {},
              {}};
  if (op.getClip())
    layer.clip = op.getClip()->convertToDouble();

  SmallVector<SmallVector<Value>> results(1 + initial.size());
  for (int64_t d = 0; d < directions; ++d) {
    layer.activations = activationsOf(op, d, functions);
    Value wBias, rBias;
    if (op.getBias()) {
      Value both = directionOf(emit, op.getBias(), d);
      wBias = emit.slice(both, 0, 0, gates);
      rBias = emit.slice(both, 0, gates, emit.product(gates, 2));
      if (sumsBiases) {
        wBias = emit.add(wBias, rBias);
        rBias = Value();
      }
    }
    SmallVector<Value> states, extras;
    for (Value state : initial)
      states.push_back(state ? directionOf(emit, state, d)
                             : emit.splat(0, layer.state(), layer.element));
    if (extra)
      extras.push_back(directionOf(emit, extra, d));
    bool reverse = d == 1 || op.getDirection() == "reverse";
    SmallVector<Value> outputs =
        runDirection(layer, op.getX(), directionOf(emit, op.getW(), d),
                     directionOf(emit, op.getR(), d), wBias, rBias,
                     op.getSequenceLengths(), reverse, states, extras, step);
    results[0].push_back(
        emit.reshape(outputs[0], {layer.steps, 1, layer.batch, hidden}));
    for (size_t i = 0; i < initial.size(); ++i)
      results[i + 1].push_back(
          emit.reshape(outputs[i + 1], {1, layer.batch, hidden}));
  }
  SmallVector<Value> joined = {emit.concatenate(results[0], 1)};
  for (size_t i = 0; i < initial.size(); ++i)
    joined.push_back(emit.concatenate(results[i + 1], 0));
  return joined;
}

FailureOr<SmallVector<Value>> LstmOp::decompose(OpBuilder &builder) {
  if (auto wide = decomposeInF32(*this, builder))
    return *wide;
  bool inputForget = getInputForget();
  // Gates i, o, f, c; peepholes i, o, f.
  auto step = [&](Layer &layer, Value projected, Value r, Value,
                  ArrayRef<Value> states, ArrayRef<Value> extras) {
    TensorBuilder &emit = layer.emit;
    Value h = states[0], c = states[1];
    Value gates = emit.add(projected, emit.matmulTransposed(h, r));
    auto peep = [&](Value gate, int64_t index, Value cell) {
      if (extras.empty())
        return gate;
      Value weight = layer.part(extras[0], 0, index, index + 1);
      weight = emit.broadcast(weight, {1}, layer.state());
      return emit.add(gate, emit.mul(weight, cell));
    };
    Value input = layer.activate(0, peep(layer.gate(gates, 0), 0, c));
    Value forget = inputForget
                       ? emit.sub(emit.splatLike(1, input), input)
                       : layer.activate(0, peep(layer.gate(gates, 2), 2, c));
    Value candidate = layer.activate(1, layer.gate(gates, 3));
    Value cell = emit.add(emit.mul(forget, c), emit.mul(input, candidate));
    Value output = layer.activate(0, peep(layer.gate(gates, 1), 1, cell));
    Value hidden = emit.mul(output, layer.activate(2, cell));
    return SmallVector<Value>{hidden, cell};
  };
  return decomposeRecurrent(*this, builder, 3, {getInitialH(), getInitialC()},
                            getPeephole(), /*sumsBiases=*/true, step);
}

FailureOr<SmallVector<Value>> GruOp::decompose(OpBuilder &builder) {
  if (auto wide = decomposeInF32(*this, builder))
    return *wide;
  bool linearBeforeReset = getLinearBeforeReset();
  // Gates z, r, h.
  auto step = [&](Layer &layer, Value projected, Value r, Value rBias,
                  ArrayRef<Value> states, ArrayRef<Value>) {
    TensorBuilder &emit = layer.emit;
    Value h = states[0];
    auto part = [&](int64_t first, int64_t last) {
      return layer.part(r, 0, first, last);
    };
    auto withBias = [&](Value x, int64_t first, int64_t last) {
      return layer.withBias(x, rBias ? layer.part(rBias, 0, first, last)
                                     : Value());
    };
    Value recurrent = withBias(emit.matmulTransposed(h, part(0, 2)), 0, 2);
    Value update = layer.activate(
        0, emit.add(layer.gate(projected, 0), layer.gate(recurrent, 0)));
    Value reset = layer.activate(
        0, emit.add(layer.gate(projected, 1), layer.gate(recurrent, 1)));
    Value inner;
    if (linearBeforeReset)
      inner =
          emit.mul(reset, withBias(emit.matmulTransposed(h, part(2, 3)), 2, 3));
    else
      inner =
          withBias(emit.matmulTransposed(emit.mul(reset, h), part(2, 3)), 2, 3);
    Value candidate =
        layer.activate(1, emit.add(layer.gate(projected, 2), inner));
    Value keep = emit.mul(update, h);
    Value change =
        emit.mul(emit.sub(emit.splatLike(1, update), update), candidate);
    return SmallVector<Value>{emit.add(change, keep)};
  };
  return decomposeRecurrent(*this, builder, 2, {getInitialH()}, Value(),
                            /*sumsBiases=*/false, step);
}

FailureOr<SmallVector<Value>> RnnOp::decompose(OpBuilder &builder) {
  if (auto wide = decomposeInF32(*this, builder))
    return *wide;
  auto step = [](Layer &layer, Value projected, Value r, Value,
                 ArrayRef<Value> states, ArrayRef<Value>) {
    Value sum =
        layer.emit.add(projected, layer.emit.matmulTransposed(states[0], r));
    return SmallVector<Value>{layer.activate(0, sum)};
  };
  return decomposeRecurrent(*this, builder, 1, {getInitialH()}, Value(),
                            /*sumsBiases=*/true, step);
}

} // namespace sinter::nn
