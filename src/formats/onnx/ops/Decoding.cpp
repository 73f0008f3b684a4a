// Operators that carry a state from token to token: LinearAttention,
// CausalConvWithState, TensorScatter.

#include "formats/import/Attention.h"
#include "formats/import/Building.h"
#include "formats/import/Convolutions.h"
#include "formats/import/Products.h"
#include "formats/import/Regions.h"
#include "formats/import/Slices.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace sinter::onnx {

//===----------------------------------------------------------------------===//
// LinearAttention
//===----------------------------------------------------------------------===//

namespace {

/// The recurrence of a LinearAttention over tokens, in f32:
///
///   S = exp(decay) * S;  v = beta * (v - S^T k);  S = S + k v^T;  o = scale
///   S^T
///   q
///
/// The state S is [N, heads, Dk, Dv].
class LinearRecurrence {
public:
  explicit LinearRecurrence(NodeContext &node) : node(node) {}

  LogicalResult build();

private:
  /// Reads attributes and inputs, heads apart; [N, heads, L, D].
  void readRule();
  Value readHeads(int64_t input, int64_t heads);
  void readDecay();
  void readBeta();
  Value firstState();
  /// The state after a token, and its output [N, queryHeads, Dv].
  std::pair<Value, Value> step(Value state, Value token);
  Value at(Value x, Value token) {
    return x ? node.op<nn::TakeOp>(x, token, uint64_t(2)) : Value();
  }
  template <typename Op> Value binary(Value lhs, Value rhs) {
    return node.binary<Op>(lhs, rhs);
  }

  NodeContext &node;
  Type f32 = node.f32();
  int64_t queryHeads = 0, heads = 0;
  bool decays = false, corrects = false;
  double scale = 1;
  Value query, key, value, decay, beta;
};

} // namespace

void LinearRecurrence::readRule() {
  const std::string rule = node.getString("update_rule", "gated_delta");
  decays = rule == "gated" || rule == "gated_delta";
  corrects = rule == "delta" || rule == "gated_delta";
  if (!decays && !corrects && rule != "linear") {
    node.fail("attribute 'update_rule' is not linear, gated, delta or "
              "gated_delta");
    return;
  }
  queryHeads = node.getInt("q_num_heads", 0);
  heads = node.getInt("kv_num_heads", 0);
  if (queryHeads < 1 || heads < 1 || queryHeads % heads != 0)
    node.fail("q_num_heads is no positive multiple of kv_num_heads");
  else if (decays != node.has(4))
    node.fail(decays ? "the input 'decay' is missing"
                     : "the input 'decay' goes with gated rules only");
  else if (corrects != node.has(5))
    node.fail(corrects ? "the input 'beta' is missing"
                       : "the input 'beta' goes with delta rules only");
}

Value LinearRecurrence::readHeads(int64_t input, int64_t count) {
  return node.cast(formats::splitHeads(node, node.operand(input), count), f32);
}

/// [N, heads, L, 1] or [N, heads, L, Dk].
void LinearRecurrence::readDecay() {
  if (!decays || node.failed())
    return;
  decay = readHeads(4, heads);
  if (!decay)
    return;
  const int64_t size = node.size(decay, 3);
  if (size != 1 && size != node.size(key, 3))
    node.fail("the decay has " + Twine(size) + " elements a head, not 1 or " +
              Twine(node.size(key, 3)));
}

/// [N, heads or 1, L, 1].
void LinearRecurrence::readBeta() {
  if (!corrects || node.failed())
    return;
  Value given = node.operand(5);
  if (node.rank(given) != 3) {
    node.fail("beta has not three dimensions");
    return;
  }
  const int64_t count = node.size(given, 2);
  if (count != heads && count != 1)
    node.fail("beta has " + Twine(count) + " elements a token, not 1 or " +
              Twine(heads));
  else
    beta = readHeads(5, count);
}

Value LinearRecurrence::firstState() {
  Ints shape = {node.size(key, 0), heads, node.size(key, 3),
                node.size(value, 3)};
  if (!node.has(3))
    return node.broadcastInDim(
        node.scalar(f32, 0), Dims{node.dim(key, 0), heads, shape[2], shape[3]},
        {});
  Value past = node.operand(3);
  if (node.rank(past) != 4 ||
      failed(verifyCompatibleShape(node.shape(past), shape)))
    return node.fail("the past state is not [N, heads, Dk, Dv]");
  return node.cast(past, f32);
}

std::pair<Value, Value> LinearRecurrence::step(Value state, Value token) {
  Value k = at(key, token), v = at(value, token), q = at(query, token);
  if (decays)
    state = binary<stablehlo::MulOp>(
        state,
        node.unsqueeze(node.op<stablehlo::ExpOp>(at(decay, token)), {3}));
  if (corrects) {
    Value found = formats::dotGeneral(node, state, k, {0, 1}, {0, 1}, {2}, {2});
    v = binary<stablehlo::MulOp>(binary<stablehlo::SubtractOp>(v, found),
                                 at(beta, token));
  }
  state = binary<stablehlo::AddOp>(
      state,
      binary<stablehlo::MulOp>(node.unsqueeze(k, {3}), node.unsqueeze(v, {2})));
  Value output =
      formats::productOfHeads(node, node.unsqueeze(q, {2}), state, false, f32);
  output = node.squeeze(output, {2});
  return {state, binary<stablehlo::MulOp>(output, node.scalar(f32, scale))};
}

LogicalResult LinearRecurrence::build() {
  readRule();
  if (node.failed())
    return failure();
  query = readHeads(0, queryHeads);
  key = readHeads(1, heads);
  value = readHeads(2, heads);
  if (node.failed())
    return failure();
  const int64_t size = node.size(query, 3);
  if (size != node.size(key, 3))
    return node.fail("the heads of query and key differ in size");
  readDecay();
  readBeta();
  scale = node.getFloat("scale", 0);
  if (scale == 0)
    scale = 1 / std::sqrt(static_cast<double>(size));
  Value state = node.failed() ? Value() : firstState();
  if (!state)
    return failure();
  Value output;
  if (node.size(query, 2) == 1) {
    Value zero = node.scalar(node.i64(), 0);
    std::tie(state, output) = step(state, zero);
    output = node.unsqueeze(output, {2});
  } else {
    const Dim length = node.dim(query, 2);
    Value outputs = node.broadcastInDim(
        node.scalar(f32, 0),
        Dims{node.dim(query, 0), queryHeads, length, node.size(value, 3)}, {});
    Value limit = formats::sizeScalar(node, length, node.i64());
    Value zero = node.scalar(node.i64(), 0);
    state = formats::whileLoop(
        node, {zero, state, outputs},
        [&](ValueRange states) {
          return node.compare(states[0], limit,
                              stablehlo::ComparisonDirection::LT);
        },
        [&](ValueRange states) -> Values {
          auto [next, given] = step(states[1], states[0]);
          Value all = node.op<stablehlo::DynamicUpdateSliceOp>(
              states[2], node.unsqueeze(given, {2}),
              ValueRange{zero, zero, states[0], zero});
          Value one = node.scalar(node.i64(), 1);
          return {binary<stablehlo::AddOp>(states[0], one), next, all};
        },
        1);
    if (!state)
      return failure();
    output = state.getDefiningOp()->getResult(2);
  }
  Type element = node.element(node.operand(0));
  Type stateElement = node.has(3) ? node.element(node.operand(3)) : element;
  return node.results({node.cast(formats::joinHeads(node, output), element),
                       node.cast(state, stateElement)});
}

/// Refuses attributes that only ONNX Runtime's forms of the operators have.
static LogicalResult
refuseForms(NodeContext &node,
            ArrayRef<std::pair<StringRef, int64_t>> defaults) {
  for (const auto &[name, usual] : defaults)
    if (node.getInt(name, usual) != usual)
      return node.unsupported("attribute '" + name + "'");
  return success(!node.failed());
}

static LogicalResult importLinearAttention(NodeContext &node) {
  if (failed(refuseForms(node, {{"state_window", 0}})))
    return failure();
  return LinearRecurrence(node).build();
}

//===----------------------------------------------------------------------===//
// CausalConvWithState
//===----------------------------------------------------------------------===//

/// The last \p count elements along the last of three dimensions.
static Value lastOf(NodeContext &node, Value x, int64_t count) {
  const int64_t length = node.size(x, 2);
  if (count == 0)
    return node.sliceAxis(x, 2, 0, 0);
  if (!ShapedType::isDynamic(length))
    return node.sliceAxis(x, 2, length - count, length);
  formats::Slicer slicer(node, x);
  slicer.along(
      2, {formats::Element::integer(-count), {}, 0},
      {formats::Element::integer(std::numeric_limits<int32_t>::max()), {}, 0},
      1);
  return slicer.finish();
}

/// A depthwise convolution of the past elements and the input, with a bias and
/// an activation, rounded once; and the last elements of both.
static LogicalResult importCausalConvolution(NodeContext &node) {
  if (failed(refuseForms(node, {{"channels_last", 0},
                                {"dilation", 1},
                                {"ndim", 1},
                                {"state_window", 0}})))
    return failure();
  Value input = node.operand(0), weight = node.operand(1);
  if (node.rank(input) != 3 || node.rank(weight) != 3)
    return node.fail("the input or the weight has not three dimensions");
  const std::string activation = node.getString("activation", "none");
  const bool isSilu = activation == "silu" || activation == "swish";
  if (!isSilu && activation != "none")
    return node.fail("attribute 'activation' is not none, silu or swish");
  const int64_t channels = node.size(weight, 0), size = node.size(weight, 2);
  if (!node.isStatic(weight))
    return node.unknown("the weight's shape is unknown");
  if (node.size(weight, 1) != 1 || size < 1 ||
      (node.size(input, 1) != channels &&
       !ShapedType::isDynamic(node.size(input, 1))))
    return node.fail("the weight is not [channels, 1, size]");
  Value all = input;
  if (node.has(3)) {
    Value past = node.operand(3);
    if (node.rank(past) != 3 || (node.size(past, 2) != size - 1 &&
                                 !ShapedType::isDynamic(node.size(past, 2))))
      return node.fail("the past state is not [N, channels, size - 1]");
    all = node.concatenate({past, input}, 2);
  } else {
    all = node.pad(input, 0, {0, 0, size - 1}, {0, 0, 0});
  }
  if (node.failed())
    return failure();
  formats::ConvolutionForm form;
  form.strides = form.lhsDilation = form.rhsDilation = {1};
  form.low = form.high = {0};
  form.groups = channels;
  const Type element = node.element(input);
  const Type wide = formats::sumElement(node, input);
  Value result = formats::buildConvolution(node, all, weight, form, wide);
  if (node.has(2)) {
    Value bias = node.cast(node.operand(2), wide);
    if (node.rank(bias) != 1)
      return node.fail("the bias is not a vector");
    result = node.binary<stablehlo::AddOp>(
        result, node.alongDimension(bias, result, 1));
  }
  if (isSilu)
    result = node.op<nn::SiluOp>(result, node.builder().getF64FloatAttr(1));
  return node.results(
      {node.cast(result, element), lastOf(node, all, size - 1)});
}

//===----------------------------------------------------------------------===//
// TensorScatter
//===----------------------------------------------------------------------===//

/// The first position that is written of each sample: [N, 1], i64.
static Value writePositions(NodeContext &node, Value cache) {
  if (!node.has(2))
    return node.broadcastInDim(node.scalar(node.i64(), 0),
                               Dims{node.dim(cache, 0), 1}, {});
  Value given = node.cast(node.operand(2), node.i64());
  if (node.rank(given) != 1)
    return node.fail("write_indices is no vector");
  return node.unsqueeze(given, {1});
}

/// The positions along the axis that each element of the update is written to:
/// [N, length], i64.
static Value writtenPositions(NodeContext &node, Value cache, Value update,
                              int64_t axis, bool isCircular) {
  Value first = writePositions(node, cache);
  Value step = formats::iota(node, {1, node.dim(update, axis)}, 1, node.i64());
  Value positions = node.binary<stablehlo::AddOp>(first, step);
  if (!isCircular)
    return positions;
  Value size = formats::sizeScalar(node, node.dim(cache, axis), node.i64());
  Value rest = node.binary<stablehlo::RemOp>(positions, size);
  // The remainder has the sign of the position.
  Value below = node.compare(rest, node.scalar(node.i64(), 0),
                             stablehlo::ComparisonDirection::LT);
  return formats::select(node, below, node.binary<stablehlo::AddOp>(rest, size),
                         rest);
}

/// The cache with the update written along an axis, from a position of each
/// sample on.
static LogicalResult importTensorScatter(NodeContext &node) {
  Value cache = node.operand(0), update = node.operand(1);
  const int64_t rank = node.rank(cache);
  const std::string mode = node.getString("mode", "linear");
  if (mode != "linear" && mode != "circular")
    return node.fail("attribute 'mode' is not linear or circular");
  auto axis = node.axis(node.getInt("axis", -2), rank);
  if (!axis)
    return failure();
  if (*axis == 0 || node.rank(update) != rank)
    return node.fail("axis is the first dimension, or the update differs in "
                     "rank");
  for (int64_t i = 0; i < rank; ++i)
    formats::requireSize(node, {update, i, "update"}, {cache, i, "cache"},
                         i == *axis ? stablehlo::ComparisonDirection::LE
                                    : stablehlo::ComparisonDirection::EQ);
  if (node.failed())
    return failure();
  const bool isCircular = mode == "circular";
  // One sample is one slice of the cache.
  if (!isCircular && node.size(cache, 0) == 1) {
    Value zero = node.scalar(node.i64(), 0);
    Values starts(rank, zero);
    starts[*axis] = node.reshape(writePositions(node, cache), Ints());
    if (!starts[*axis])
      return failure();
    return node.result(
        node.op<stablehlo::DynamicUpdateSliceOp>(cache, update, starts));
  }
  Value positions = writtenPositions(node, cache, update, *axis, isCircular);
  Value samples =
      node.failed()
          ? Value()
          : formats::iota(node, {node.dim(cache, 0), node.dim(update, *axis)},
                          0, node.i64());
  if (!samples)
    return failure();
  Value indices = node.concatenate(
      {node.unsqueeze(samples, {2}), node.unsqueeze(positions, {2})}, 2);
  Ints windows;
  for (int64_t i = 1; i < rank; ++i)
    if (i != *axis)
      windows.push_back(i);
  auto numbers = stablehlo::ScatterDimensionNumbersAttr::get(
      node.context(), windows, /*inserted=*/{0, *axis}, {}, {}, {0, *axis}, 2);
  return node.result(formats::scatter(node, cache, indices, update, numbers,
                                      formats::Combine::Replace));
}

llvm::ArrayRef<Operator> decodingOperators() {
  static const Operator table[] = {
      {"CausalConvWithState", "", 27, importCausalConvolution, 2, 4, false,
       true},
      {"CausalConvWithState", runtimeDomain, 1, importCausalConvolution, 2, 4,
       false, true},
      {"LinearAttention", "", 27, importLinearAttention, 3, 6, false, true},
      {"LinearAttention", runtimeDomain, 1, importLinearAttention, 3, 6, false,
       true},
      {"TensorScatter", "", 24, importTensorScatter, 2, 3, false, true},
  };
  return table;
}

} // namespace sinter::onnx
