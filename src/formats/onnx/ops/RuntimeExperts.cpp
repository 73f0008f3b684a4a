// Mixtures of experts of ONNX Runtime's domain. They are specified in its
// docs/ContribOperators.md.

#include "formats/import/Building.h"
#include "formats/import/Products.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/RuntimeQuantized.h"

using namespace mlir;

namespace sinter::onnx {

namespace {
/// The three layers of all experts: weights [E, out, in], of floats, and biases
/// [E, out], which may be null. The third is absent unless it gates the first.
struct Experts {
  Value weights[3], biases[3];
};
} // namespace

/// The weight of each expert for each token [T, E]: of the k greatest scores,
/// 0 for the others.
static Value expertWeights(NodeContext &node, Value scores, Value mixing) {
  const int64_t count = node.getInt("k", 1);
  if (node.getBool("use_sparse_mixer", false))
    return node.unsupported("a sparse mixer");
  if (node.rank(scores) != 2)
    return node.fail("router_probs is not [tokens, experts]");
  const int64_t experts = node.size(scores, 1);
  if (ShapedType::isDynamic(experts))
    return node.unknown("the number of experts is unknown");
  if (count < 1 || count > experts)
    return node.fail("attribute 'k' is not from 1 to the number of experts");
  Value probabilities = node.op<nn::SoftmaxOp>(node.cast(scores, node.f32()),
                                               ArrayRef<int64_t>{1});
  Operation *top =
      node.inferred<nn::TopKOp>(probabilities, static_cast<uint64_t>(count),
                                uint64_t(1), /*largest=*/true);
  if (!top)
    return {};
  // [T, k, E]: which expert each of the k is.
  Value isOwn = node.compare(node.unsqueeze(top->getResult(1), {2}),
                             formats::iota(node, Dims{1, 1, experts}, 2,
                                           node.element(top->getResult(1))),
                             stablehlo::ComparisonDirection::EQ);
  Value isTaken = node.reduce<stablehlo::OrOp>(isOwn, {1}, 0, false);
  Value weights = formats::select(
      node, isTaken, mixing ? node.cast(mixing, node.f32()) : probabilities,
      node.scalar(node.f32(), 0));
  if (!node.getBool("normalize_routing_weights", false) || !weights)
    return weights;
  return node.binary<stablehlo::DivOp>(
      weights, node.reduce<stablehlo::AddOp>(weights, {1}, 0, true));
}

/// Each expert's layer \p which of rows \p x [T, in]: [T, E, out].
static Value layerOfExperts(NodeContext &node, const Experts &experts, Value x,
                            int64_t which) {
  Value sums =
      formats::dotGeneral(node, x, experts.weights[which], {}, {}, {1}, {2});
  return experts.biases[which]
             ? node.binary<stablehlo::AddOp>(sums, experts.biases[which])
             : sums;
}

/// min(g, limit) * sigmoid(alpha g) * (clamp(l, limit) + beta).
static Value gated(NodeContext &node, Value gate, Value linear) {
  const double limit = node.getFloat("swiglu_limit", 0),
               alpha = node.getFloat("activation_alpha", 1),
               beta = node.getFloat("activation_beta", 0);
  Type element = node.element(gate);
  if (node.hasAttribute("swiglu_limit")) {
    Value most = node.scalar(element, limit);
    gate = node.binary<stablehlo::MinOp>(gate, most);
    linear =
        node.op<stablehlo::ClampOp>(node.scalar(element, -limit), linear, most);
  }
  Value bent = node.op<nn::SiluOp>(gate, node.builder().getF64FloatAttr(alpha));
  if (beta != 0)
    linear = node.binary<stablehlo::AddOp>(linear, node.scalar(element, beta));
  return node.binary<stablehlo::MulOp>(bent, linear);
}

/// The activation of the first layer of rows \p x: [T, E, inner].
static Value innerRows(NodeContext &node, const Experts &experts, Value x) {
  const std::string name = node.getString("activation_type", "relu");
  const int64_t fusion = node.getInt("swiglu_fusion", 0);
  Value first = layerOfExperts(node, experts, x, 0);
  if (!first)
    return {};
  if (name == "swiglu" && fusion != 0) {
    const int64_t width = node.size(first, 2);
    if (ShapedType::isDynamic(width) || width % 2 != 0)
      return node.fail("the first layer has an odd number of columns");
    if (fusion == 1)
      return gated(node, node.sliceAxis(first, 2, 0, width, 2),
                   node.sliceAxis(first, 2, 1, width, 2));
    return gated(node, node.sliceAxis(first, 2, 0, width / 2),
                 node.sliceAxis(first, 2, width / 2, width));
  }
  if (name == "swiglu")
    return experts.weights[2]
               ? gated(node, first, layerOfExperts(node, experts, x, 2))
               : node.fail("the third layer is missing");
  Value bent;
  if (name == "relu")
    bent = node.op<nn::ReluOp>(first);
  else if (name == "gelu")
    bent = node.op<nn::GeluOp>(first, node.builder().getBoolAttr(false));
  else if (name == "silu")
    bent = node.op<nn::SiluOp>(first, node.builder().getF64FloatAttr(1));
  else if (name == "identity")
    bent = first;
  else
    return node.unsupported("activation '" + name + "'");
  return experts.weights[2] ? node.binary<stablehlo::MulOp>(
                                  bent, layerOfExperts(node, experts, x, 2))
                            : bent;
}

/// The weighted sum of what the experts make of input 0.
static LogicalResult mixExperts(NodeContext &node, const Experts &experts,
                                Value mixing) {
  Value input = node.operand(0);
  if (node.failed())
    return failure();
  const int64_t rank = node.rank(input);
  if (rank != 2 && rank != 3)
    return node.fail("the input has not two or three dimensions");
  for (Value each : experts.weights)
    if (each && node.rank(each) != 3)
      return node.fail("the weights of experts have not three dimensions");
  Dims sizes = node.dims(input);
  Value x = node.cast(input, node.f32());
  if (rank == 3)
    x = node.reshape(x, Dims{node.product({sizes[0], sizes[1]}), sizes[2]});
  Value weights = expertWeights(node, node.operand(1), mixing);
  Value inner = innerRows(node, experts, x);
  if (!weights || !inner)
    return failure();
  Value mixed =
      node.binary<stablehlo::MulOp>(inner, node.unsqueeze(weights, {2}));
  Value result = formats::dotGeneral(node, mixed, experts.weights[1], {}, {},
                                     {1, 2}, {0, 2});
  if (experts.biases[1])
    result = node.binary<stablehlo::AddOp>(
        result, formats::matmul(node, weights, experts.biases[1]));
  result = node.cast(result, node.element(input));
  return node.result(rank == 3 ? node.reshape(result, sizes) : result);
}

/// Input \p index as f32, or null.
static Value wideInput(NodeContext &node, int64_t index) {
  return node.has(index) ? node.cast(node.operand(index), node.f32()) : Value();
}

/// x, scores; then weights and bias of each layer.
static LogicalResult importMoE(NodeContext &node) {
  Experts experts;
  for (int64_t i : {0, 1, 2}) {
    experts.weights[i] = wideInput(node, 2 + 2 * i);
    experts.biases[i] = wideInput(node, 3 + 2 * i);
  }
  if (!experts.weights[0] || !experts.weights[1])
    return node.fail("the weights of a layer are missing");
  return mixExperts(node, experts, {});
}

/// Weights [E, out, in] of bits in input \p index, whose scales [E, out] or,
/// for blocks along in, [E, out, blocks] are in the next; zero points in input
/// \p zeros.
static Value lowBitWeights(NodeContext &node, int64_t index, int64_t zeros) {
  if (!node.has(index))
    return {};
  const int64_t bits = node.getInt("expert_weight_bits", 4);
  Value packed = node.operand(index), scale = wideInput(node, index + 1);
  if (!llvm::is_contained({2, 4, 8}, bits))
    return node.unsupported("weights of " + Twine(bits) + " bits");
  if (!scale || !node.element(packed).isUnsignedInteger(8))
    return node.fail("scales are missing, or weights are not of u8");
  Value numbers = node.cast(unpacked(node, packed, bits), node.f32());
  Value zero =
      node.has(zeros)
          ? node.cast(unpacked(node, node.operand(zeros), bits), node.f32())
          : node.scalar(node.f32(), 1 << (bits - 1));
  if (!numbers || !zero)
    return {};
  auto ofBlocks = [&](Value x) {
    return node.rank(x) == 2 ? node.unsqueeze(x, {2}) : x;
  };
  scale = ofBlocks(scale);
  if (node.rank(scale) != 3 || node.rank(numbers) != 3 ||
      !node.isStatic(numbers) || !node.isStatic(scale) ||
      node.size(scale, 2) < 1 ||
      node.size(numbers, 2) % node.size(scale, 2) != 0)
    return node.fail("the scales do not fit the weights");
  return dequantize(node, numbers, scale, ofBlocks(zero), 2,
                    node.size(numbers, 2) / node.size(scale, 2));
}

/// x, scores; then weights, scales and bias of each layer; their zero points;
/// the weights to mix with.
static LogicalResult importQMoE(NodeContext &node) {
  if (node.getString("quant_type", "int") != "int")
    return node.unsupported("weights of floats");
  Experts experts;
  for (int64_t i : {0, 1, 2}) {
    experts.weights[i] = lowBitWeights(node, 2 + 3 * i, 11 + i);
    experts.biases[i] = wideInput(node, 4 + 3 * i);
  }
  if (node.failed())
    return failure();
  if (!experts.weights[0] || !experts.weights[1])
    return node.fail("the weights of a layer are missing");
  return mixExperts(node, experts, wideInput(node, 14));
}

llvm::ArrayRef<Operator> runtimeExpertOperators() {
  static const Operator table[] = {
      {"MoE", runtimeDomain, 1, importMoE, 3, 8, false, true},
      {"QMoE", runtimeDomain, 1, importQMoE, 3, 21, false, true},
  };
  return table;
}

} // namespace sinter::onnx
