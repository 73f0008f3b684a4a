//===- NnRecurrent.cpp - LSTM, GRU and the simple recurrent network -------===//
//
// The equations are those of the ONNX operators LSTM, GRU and RNN, computed in
// double and rounded once, at the end.
//
//===----------------------------------------------------------------------===//

#include "graph/nn/NnOps.h"
#include "interpreter/Evaluation.h"
#include "interpreter/Numbers.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace sinter::interpreter {

namespace {

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

using Function = double (*)(double x, double alpha, double beta);

struct KnownActivation {
  StringRef name;
  Function function;
  /// ONNX's defaults; nothing where the function has no such parameter.
  std::optional<double> alpha, beta;
};

constexpr auto none = std::nullopt;

const KnownActivation knownActivations[] = {
    {"Relu", [](double x, double, double) { return x < 0 ? 0 : x; }, none,
     none},
    {"Tanh", [](double x, double, double) { return std::tanh(x); }, none, none},
    {"Sigmoid", [](double x, double, double) { return 1 / (1 + std::exp(-x)); },
     none, none},
    {"Softsign",
     [](double x, double, double) { return x / (1 + std::fabs(x)); }, none,
     none},
    {"Softplus",
     [](double x, double, double) {
       return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
     },
     none, none},
    {"Affine", [](double x, double a, double b) { return a * x + b; }, 1.0,
     0.0},
    {"LeakyRelu", [](double x, double a, double) { return x < 0 ? a * x : x; },
     0.01, none},
    {"ThresholdedRelu",
     [](double x, double a, double) { return x > a ? x : 0; }, 1.0, none},
    {"ScaledTanh",
     [](double x, double a, double b) { return a * std::tanh(b * x); }, 1.0,
     1.0},
    {"HardSigmoid",
     [](double x, double a, double b) {
       return std::max(0.0, std::min(1.0, a * x + b));
     },
     0.2, 0.5},
    {"Elu",
     [](double x, double a, double) { return x > 0 ? x : a * std::expm1(x); },
     1.0, none},
};

struct Activation {
  Function function = nullptr;
  double alpha = 0, beta = 0;
  /// The input is clamped to [-clip, clip].
  double clip = HUGE_VAL;

  double operator()(double x) const {
    return function(std::clamp(x, -clip, clip), alpha, beta);
  }
};

/// Reads the numbers of an optional attribute in order.
class ActivationParameters {
public:
  explicit ActivationParameters(std::optional<ArrayAttr> list) {
    if (list)
      for (Attribute each : *list)
        values.push_back(cast<FloatAttr>(each).getValueAsDouble());
  }
  double next(double fallback) {
    return used < values.size() ? values[used++] : fallback;
  }

private:
  std::vector<double> values;
  size_t used = 0;
};

//===----------------------------------------------------------------------===//
// Shared by the three layers
//===----------------------------------------------------------------------===//

using Row = std::vector<double>;

/// A layer's operands, and the loop over directions, batch and time.
struct Layer {
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 0,
          gates = 0;
  bool startsBackward = false;
  Row x, w, r, bias, initialH;
  std::vector<int64_t> lengths;
  std::vector<Activation> activations; ///< One set a direction.
  size_t activationsPerDirection = 0;
  Row y, lastH;

  const Activation &activation(int64_t direction, size_t index) const {
    return activations[direction * activationsPerDirection + index];
  }

  /// W x of gate \p gate with its bias.
  double input(int64_t direction, int64_t gate, int64_t unit,
               const double *xt) const {
    const int64_t row = (direction * gates + gate) * hidden + unit;
    double sum = bias.empty() ? 0 : bias[biasIndex(direction, gate, unit)];
    for (int64_t i = 0; i < inputs; ++i)
      sum += w[row * inputs + i] * xt[i];
    return sum;
  }
  /// R h of gate \p gate with its bias.
  double recurrent(int64_t direction, int64_t gate, int64_t unit,
                   const Row &h) const {
    const int64_t row = (direction * gates + gate) * hidden + unit;
    double sum =
        bias.empty() ? 0 : bias[biasIndex(direction, gates + gate, unit)];
    for (int64_t i = 0; i < hidden; ++i)
      sum += r[row * hidden + i] * h[i];
    return sum;
  }

  /// Calls `step(direction, xt, h)`, which updates h to the next state, and
  /// stores the states. Calls `begin(direction, image)` and `end(...)` around
  /// each sequence.
  template <typename Begin, typename Step, typename End>
  void run(Begin begin, Step step, End end) {
    y.assign(steps * directions * batch * hidden, 0);
    lastH.assign(directions * batch * hidden, 0);
    for (int64_t d = 0; d < directions; ++d)
      for (int64_t n = 0; n < batch; ++n) {
        Row h(hidden, 0);
        const int64_t state = (d * batch + n) * hidden;
        if (!initialH.empty())
          std::copy_n(initialH.begin() + state, hidden, h.begin());
        begin(d, n);
        const bool backward = d == 1 || startsBackward;
        for (int64_t k = 0; k < lengths[n]; ++k) {
          const int64_t t = backward ? lengths[n] - 1 - k : k;
          step(d, x.data() + (t * batch + n) * inputs, h);
          std::copy(h.begin(), h.end(),
                    y.begin() + ((t * directions + d) * batch + n) * hidden);
        }
        std::copy(h.begin(), h.end(), lastH.begin() + state);
        end(d, n);
      }
  }
  void run(auto step) {
    run([](int64_t, int64_t) {}, step, [](int64_t, int64_t) {});
  }

  Tensor yTensor(const Call &call) const {
    return realTensor(call.resultElement(0), {steps, directions, batch, hidden},
                      y);
  }
  Tensor stateTensor(const Call &call, unsigned result, const Row &row) const {
    return realTensor(call.resultElement(result), {directions, batch, hidden},
                      row);
  }

private:
  int64_t biasIndex(int64_t direction, int64_t gate, int64_t unit) const {
    return (direction * 2 * gates + gate) * hidden + unit;
  }
};

} // namespace

/// The tensor of ODS operand \p index; null if an optional one is missing.
template <typename Op>
static const Tensor *optionalOperand(const Call &call, Op op, unsigned index) {
  auto [first, length] = op.getODSOperandIndexAndLength(index);
  return length ? &call[first] : nullptr;
}

template <typename Op>
static Result<void> readActivations(Op op, Layer &layer) {
  ActivationParameters alphas(op.getActivationAlpha()),
      betas(op.getActivationBeta());
  for (Attribute attribute : op.getActivations()) {
    StringRef name = cast<StringAttr>(attribute).getValue();
    const auto *known =
        llvm::find_if(knownActivations, [&](const KnownActivation &each) {
          return each.name == name;
        });
    if (known == std::end(knownActivations))
      return unsupported("does not know the activation '" + name.str() + "'");
    Activation activation;
    activation.function = known->function;
    // Only functions that have a parameter take one from the list.
    if (known->alpha)
      activation.alpha = alphas.next(*known->alpha);
    if (known->beta)
      activation.beta = betas.next(*known->beta);
    if (auto clip = op.getClip())
      activation.clip = clip->convertToDouble();
    if (!(activation.clip >= 0))
      return invalidModel("clip is negative");
    layer.activations.push_back(activation);
  }
  layer.activationsPerDirection =
      layer.activations.size() / std::max<int64_t>(layer.directions, 1);
  return {};
}

/// The operands that the three layers share, checked against each other.
template <typename Op>
static Result<Layer> readLayer(const Call &call, Op op, int64_t gates) {
  const Tensor &x = call[0], &w = call[1], &r = call[2];
  const Tensor *bias = optionalOperand(call, op, 3);
  const Tensor *lengths = optionalOperand(call, op, 4);
  const Tensor *initialH = optionalOperand(call, op, 5);
  Layer layer;
  layer.steps = x.dim(0);
  layer.batch = x.dim(1);
  layer.inputs = x.dim(2);
  layer.hidden = r.dim(2);
  layer.directions = op.getDirection() == "bidirectional" ? 2 : 1;
  layer.startsBackward = op.getDirection() == "reverse";
  layer.gates = gates;
  const int64_t rows = gates * layer.hidden;
  if (w.shape() != Shape{layer.directions, rows, layer.inputs} ||
      r.shape() != Shape{layer.directions, rows, layer.hidden} ||
      (bias && bias->shape() != Shape{layer.directions, 2 * rows}) ||
      (lengths && lengths->shape() != Shape{layer.batch}) ||
      (initialH &&
       initialH->shape() != Shape{layer.directions, layer.batch, layer.hidden}))
    return invalidModel("the operands' shapes do not fit each other");
  const Shape yShape = {layer.steps, layer.directions, layer.batch,
                        layer.hidden};
  if (Result<void> ok = checkSize(ElementType::F64, yShape); !ok)
    return ok.takeError();
  layer.x = reals(x);
  layer.w = reals(w);
  layer.r = reals(r);
  if (bias)
    layer.bias = reals(*bias);
  if (initialH)
    layer.initialH = reals(*initialH);
  layer.lengths.assign(layer.batch, layer.steps);
  if (lengths)
    layer.lengths = integers(*lengths);
  for (int64_t &length : layer.lengths)
    length = std::clamp<int64_t>(length, 0, layer.steps);
  if (Result<void> ok = readActivations(op, layer); !ok)
    return ok.takeError();
  return layer;
}

//===----------------------------------------------------------------------===//
// The three
//===----------------------------------------------------------------------===//

/// i = f(x Wi + h Ri + Pi c + b), f = f(x Wf + h Rf + Pf c + b) or 1 - i,
/// c' = f c + i g(x Wc + h Rc + b), o = f(x Wo + h Ro + Po c' + b),
/// h' = o h(c').
static Result<Tensors> evaluateLstm(const Call &call) {
  auto op = call.as<nn::LstmOp>();
  Result<Layer> read = readLayer(call, op, 4);
  if (!read)
    return read.takeError();
  Layer &layer = *read;
  const int64_t hidden = layer.hidden;
  enum Gate { I, O, F, C };
  enum Peephole { PI, PO, PF };
  const Tensor *initialC = optionalOperand(call, op, 6);
  const Tensor *peepholes = optionalOperand(call, op, 7);
  const Shape stateShape = {layer.directions, layer.batch, hidden};
  if ((initialC && initialC->shape() != stateShape) ||
      (peepholes && peepholes->shape() != Shape{layer.directions, 3 * hidden}))
    return invalidModel("the operands' shapes do not fit each other");
  const Row startC = initialC ? reals(*initialC) : Row();
  const Row peephole = peepholes ? reals(*peepholes) : Row();
  auto peek = [&](int64_t d, Peephole gate, int64_t unit, double cell) {
    return peephole.empty() ? 0
                            : peephole[(d * 3 + gate) * hidden + unit] * cell;
  };

  Row c(hidden), lastC(elementCount(stateShape).value_or(0));
  auto begin = [&](int64_t d, int64_t n) {
    std::ranges::fill(c, 0.0);
    if (initialC)
      std::copy_n(startC.begin() + (d * layer.batch + n) * hidden, hidden,
                  c.begin());
  };
  auto step = [&](int64_t d, const double *x, Row &h) {
    const Activation &f = layer.activation(d, 0);
    const Activation &g = layer.activation(d, 1);
    const Activation &last = layer.activation(d, 2);
    Row next(hidden);
    for (int64_t u = 0; u < hidden; ++u) {
      auto sum = [&](Gate gate) {
        return layer.input(d, gate, u, x) + layer.recurrent(d, gate, u, h);
      };
      const double in = f(sum(I) + peek(d, PI, u, c[u]));
      const double forget =
          op.getInputForget() ? 1 - in : f(sum(F) + peek(d, PF, u, c[u]));
      c[u] = forget * c[u] + in * g(sum(C));
      next[u] = f(sum(O) + peek(d, PO, u, c[u])) * last(c[u]);
    }
    h = std::move(next);
  };
  auto end = [&](int64_t d, int64_t n) {
    std::ranges::copy(c, lastC.begin() + (d * layer.batch + n) * hidden);
  };
  layer.run(begin, step, end);
  return Tensors{layer.yTensor(call), layer.stateTensor(call, 1, layer.lastH),
                 layer.stateTensor(call, 2, lastC)};
}

/// z = f(x Wz + h Rz + b), r = f(x Wr + h Rr + b),
/// n = g(x Wh + (r h) Rh + b) or, linear before reset, g(x Wh + r (h Rh + b)),
/// h' = (1 - z) n + z h.
static Result<Tensors> evaluateGru(const Call &call) {
  auto op = call.as<nn::GruOp>();
  Result<Layer> read = readLayer(call, op, 3);
  if (!read)
    return read.takeError();
  Layer &layer = *read;
  enum Gate { Z, R, H };
  layer.run([&](int64_t d, const double *x, Row &h) {
    const Activation &f = layer.activation(d, 0), &g = layer.activation(d, 1);
    Row update(layer.hidden), reset(layer.hidden), gated(layer.hidden);
    for (int64_t u = 0; u < layer.hidden; ++u) {
      update[u] = f(layer.input(d, Z, u, x) + layer.recurrent(d, Z, u, h));
      reset[u] = f(layer.input(d, R, u, x) + layer.recurrent(d, R, u, h));
      gated[u] = reset[u] * h[u];
    }
    Row next(layer.hidden);
    for (int64_t u = 0; u < layer.hidden; ++u) {
      const double memory = op.getLinearBeforeReset()
                                ? reset[u] * layer.recurrent(d, H, u, h)
                                : layer.recurrent(d, H, u, gated);
      const double candidate = g(layer.input(d, H, u, x) + memory);
      next[u] = (1 - update[u]) * candidate + update[u] * h[u];
    }
    h = std::move(next);
  });
  return Tensors{layer.yTensor(call), layer.stateTensor(call, 1, layer.lastH)};
}

/// h' = f(x W + h R + b).
static Result<Tensors> evaluateRnn(const Call &call) {
  Result<Layer> read = readLayer(call, call.as<nn::RnnOp>(), 1);
  if (!read)
    return read.takeError();
  Layer &layer = *read;
  layer.run([&](int64_t d, const double *x, Row &h) {
    const Activation &f = layer.activation(d, 0);
    Row next(layer.hidden);
    for (int64_t u = 0; u < layer.hidden; ++u)
      next[u] = f(layer.input(d, 0, u, x) + layer.recurrent(d, 0, u, h));
    h = std::move(next);
  });
  return Tensors{layer.yTensor(call), layer.stateTensor(call, 1, layer.lastH)};
}

void registerNnRecurrent(Registry &registry) {
  registry.add<nn::LstmOp>(evaluateLstm);
  registry.add<nn::GruOp>(evaluateGru);
  registry.add<nn::RnnOp>(evaluateRnn);
}

} // namespace sinter::interpreter
