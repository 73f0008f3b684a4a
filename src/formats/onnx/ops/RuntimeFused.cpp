// Operators that ONNX Runtime's optimiser fuses of others. They are specified
// in its docs/ContribOperators.md.

#include "formats/import/Building.h"
#include "formats/import/Products.h"
#include "formats/import/Windows.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Quantization.h"
#include "graph/nn/NnOps.h"

using namespace mlir;

namespace sinter::onnx {

/// Fails unless \p vector has an element for each index of the last dimension
/// of \p x.
static void checkAlongLast(NodeContext &node, Value vector, Value x) {
  if (node.rank(x) == 0 || node.rank(vector) != 1 ||
      failed(
          verifyCompatibleShape(node.shape(vector), node.shape(x).take_back())))
    node.fail("a bias, gamma or beta has not one element for each index of "
              "the last dimension");
}

/// The sum of the given inputs that are present, of which some are vectors
/// along the last dimension of input 0. Floats narrower than f32 are added in
/// f32, as the node rounds at its end.
static Value sumOf(NodeContext &node, ArrayRef<int64_t> inputs,
                   ArrayRef<int64_t> vectors) {
  Value x = node.operand(0);
  const Type element = formats::sumElement(node, x);
  Value sum;
  for (int64_t input : inputs) {
    if (!node.has(input))
      continue;
    if (llvm::is_contained(vectors, input))
      checkAlongLast(node, node.operand(input), x);
    Value value = node.cast(node.operand(input), element);
    sum = sum ? node.binary<stablehlo::AddOp>(sum, value) : value;
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// gelu(x + bias).
template <bool isApproximate>
static LogicalResult importRuntimeGelu(NodeContext &node) {
  Value sum = node.has(1) ? sumOf(node, {0, 1}, {1}) : node.operand(0);
  Value result =
      node.op<nn::GeluOp>(sum, node.builder().getBoolAttr(isApproximate));
  return node.result(node.cast(result, node.element(node.operand(0))));
}

/// x * sigmoid(alpha * x).
static LogicalResult importQuickGelu(NodeContext &node) {
  return node.result(node.op<nn::SiluOp>(
      node.operand(0),
      node.builder().getF64FloatAttr(node.getFloat("alpha", 1.702f))));
}

/// x + bias, whose left half along the last dimension is multiplied by gelu of
/// the right one.
static LogicalResult importBiasSplitGelu(NodeContext &node) {
  Value sum = sumOf(node, {0, 1}, {1});
  if (node.failed())
    return failure();
  const int64_t last = node.rank(sum) - 1, width = node.size(sum, last);
  if (ShapedType::isDynamic(width))
    return node.unknown("the last dimension is unknown");
  if (width % 2 != 0)
    return node.fail("the last dimension, " + Twine(width) + ", is odd");
  Value left = node.sliceAxis(sum, last, 0, width / 2),
        right = node.sliceAxis(sum, last, width / 2, width);
  Value result = node.binary<stablehlo::MulOp>(
      left, node.op<nn::GeluOp>(right, node.builder().getBoolAttr(false)));
  return node.result(node.cast(result, node.element(node.operand(0))));
}

/// x + bias + skip.
static LogicalResult importBiasAdd(NodeContext &node) {
  Value sum = sumOf(node, {0, 1, 2}, {1});
  return node.result(node.cast(sum, node.element(node.operand(0))));
}

/// softmax(x + bias) over all dimensions from `axis` on.
static LogicalResult importBiasSoftmax(NodeContext &node) {
  Value x = node.operand(0);
  auto axis = node.axis(node.getInt("axis", 1), node.rank(x));
  if (!axis)
    return failure();
  Value sum = sumOf(node, {0, 1}, {});
  Ints axes = llvm::to_vector(llvm::seq<int64_t>(*axis, node.rank(x)));
  Value result = node.op<nn::SoftmaxOp>(sum, ArrayRef<int64_t>(axes));
  return node.result(node.cast(result, node.element(x)));
}

//===----------------------------------------------------------------------===//
// Norms over the last dimension
//===----------------------------------------------------------------------===//

static APFloat epsilonOf(NodeContext &node, float otherwise) {
  return APFloat(node.getFloat("epsilon", otherwise));
}

/// 1 / sqrt(mean of x^2 + epsilon) from \p axis on, whose dimensions become 1,
/// in f32 or wider.
static Value inverseDeviation(NodeContext &node, Value x, int64_t axis,
                              const APFloat &epsilon) {
  Value wide = node.cast(x, formats::sumElement(node, x));
  Ints axes = llvm::to_vector(llvm::seq<int64_t>(axis, node.rank(x)));
  Value sum = node.reduce<stablehlo::AddOp>(
      node.binary<stablehlo::MulOp>(wide, wide), axes, 0, true);
  if (!sum)
    return {};
  Type element = node.element(sum);
  Value mean =
      node.binary<stablehlo::DivOp>(sum, node.countAlong(x, axes, element));
  return node.unary<stablehlo::RsqrtOp>(node.binary<stablehlo::AddOp>(
      mean, node.scalar(element, epsilon.convertToDouble())));
}

/// RMSNormalization under the name that it had before opset 23.
static LogicalResult importSimplifiedLayerNormalization(NodeContext &node) {
  Value x = node.operand(0);
  auto axis = node.axis(node.getInt("axis", -1), node.rank(x));
  Type type = node.numberType(node.getInt("stash_type", TensorProto::FLOAT));
  if (!axis || !type)
    return failure();
  const APFloat epsilon = epsilonOf(node, 1e-5f);
  Value result = node.op<nn::RmsNormOp>(
      x, node.operand(1), static_cast<uint64_t>(*axis), epsilon, type);
  return node.results({result, node.wants(1)
                                   ? inverseDeviation(node, x, *axis, epsilon)
                                   : Value()});
}

/// The layer norm, or the RMS norm, of input + skip + bias; output 3 is this
/// sum.
template <bool isRms>
static LogicalResult importSkipNormalization(NodeContext &node) {
  const int64_t gamma = 2, beta = 3, bias = isRms ? 3 : 4;
  if (isRms && node.wants(1))
    return node.unsupported("output 1, the mean");
  Value x = node.operand(0);
  if (node.rank(x) == 0)
    return node.fail("the input is a scalar");
  Value sum = sumOf(node, {0, 1, bias}, {bias});
  if (node.failed())
    return failure();
  const Type element = node.element(x), type = node.element(sum);
  const auto axis = static_cast<uint64_t>(node.rank(sum) - 1);
  auto vector = [&](int64_t input) {
    checkAlongLast(node, node.operand(input), x);
    return node.cast(node.operand(input), type);
  };
  Value scale = vector(gamma), rounded = node.cast(sum, element);
  const APFloat epsilon = epsilonOf(node, 1e-12f);
  if constexpr (isRms) {
    Value norm = node.op<nn::RmsNormOp>(sum, scale, axis, epsilon, type);
    Value inverse =
        node.wants(2) ? inverseDeviation(node, sum, axis, epsilon) : Value();
    return node.results({node.cast(norm, element), {}, inverse, rounded});
  } else {
    MaybeValue shift{node.has(beta) ? vector(beta) : Value()};
    Operation *norm =
        node.inferred<nn::LayerNormOp>(sum, scale, shift, axis, epsilon, type);
    if (!norm)
      return failure();
    return node.results({node.cast(norm->getResult(0), element),
                         norm->getResult(1), norm->getResult(2), rounded});
  }
}

//===----------------------------------------------------------------------===//
// Embeddings
//===----------------------------------------------------------------------===//

namespace {
/// Where the inputs of an embedding are; a negative one is not there.
struct EmbeddingInputs {
  int64_t mask, positions;
  /// The first of five scales, then five zero points: of the words, positions,
  /// segments, gamma and beta.
  int64_t scales;
};
} // namespace

/// Input \p index, or null.
static Value optionalInput(NodeContext &node, int64_t index) {
  return index >= 0 && node.has(index) ? node.operand(index) : Value();
}

/// \p value, of integers with the parameters number \p which of \p at, as
/// floats.
static Value asFloats(NodeContext &node, Value value, const EmbeddingInputs &at,
                      int64_t which) {
  if (!value || at.scales < 0)
    return value;
  Value scale = optionalInput(node, at.scales + which);
  if (!scale)
    return node.fail("input " + Twine(at.scales + which) + " is missing");
  return dequantize(node, value, scale,
                    optionalInput(node, at.scales + 5 + which), 0, 0);
}

/// The layer norm of the embeddings of words, positions and segments.
static LogicalResult embed(NodeContext &node, const EmbeddingInputs &at) {
  Value ids = node.operand(0), segments = optionalInput(node, 1),
        mask = optionalInput(node, at.mask),
        positions = optionalInput(node, at.positions);
  for (int64_t input : {0, 2, 3, 5, 6})
    if (!node.has(input))
      return node.fail("input " + Twine(input) + " is missing");
  if (node.rank(ids) != 2 || (mask && node.rank(mask) != 2))
    return node.fail("input_ids or mask is not [batch, length]");
  if (node.has(1) != node.has(4))
    return node.fail("there are segment ids or embeddings, but not both");
  if (!positions)
    positions = formats::iota(node, Dims{1, node.dim(ids, 1)}, 1, node.i64());
  auto rowsOf = [&](int64_t table, Value indices, int64_t which) -> Value {
    Value rows = node.op<nn::TakeOp>(node.operand(table), indices, uint64_t(0));
    return node.cast(asFloats(node, rows, at, which), node.f32());
  };
  Value sum =
      node.binary<stablehlo::AddOp>(rowsOf(2, ids, 0), rowsOf(3, positions, 1));
  if (segments)
    sum = node.binary<stablehlo::AddOp>(sum, rowsOf(4, segments, 2));
  auto vector = [&](int64_t input, int64_t which) {
    return node.cast(asFloats(node, node.operand(input), at, which),
                     node.f32());
  };
  Value scale = vector(5, 3), shift = vector(6, 4);
  if (node.failed())
    return failure();
  Type element = at.scales < 0 ? node.element(node.operand(2)) : node.f32();
  Value norm =
      node.op<nn::LayerNormOp>(sum, scale, MaybeValue{shift}, uint64_t(2),
                               epsilonOf(node, 1e-12f), node.f32());
  Type i32 = node.builder().getI32Type();
  Value count;
  if (mask) {
    Value isSeen = node.compare(mask, node.one(mask, 1),
                                stablehlo::ComparisonDirection::EQ);
    count =
        node.reduce<stablehlo::AddOp>(node.cast(isSeen, i32), {1}, 0, false);
  } else {
    count =
        node.broadcastInDim(node.scalar(i32, 0), Dims{node.dim(ids, 0)}, {});
  }
  return node.results(
      {node.cast(norm, element), count, node.cast(sum, element)});
}

static LogicalResult importEmbedLayerNormalization(NodeContext &node) {
  return embed(node, {7, 8, -1});
}
static LogicalResult importQuantizedEmbedLayerNormalization(NodeContext &node) {
  return embed(node, {7, -1, 8});
}

//===----------------------------------------------------------------------===//
// Group norms
//===----------------------------------------------------------------------===//

/// The group norm of \p x, whose channels are last by default, and its
/// activation.
static Value groupNorm(NodeContext &node, Value x) {
  const int64_t groups = node.getInt("groups", 0),
                activation = node.getInt("activation", 0);
  const bool isLast = node.getBool("channels_last", true);
  if (activation != 0 && activation != 1)
    return node.unsupported("activation " + Twine(activation));
  Value first = isLast ? channelsFirst(node, x) : x;
  if (!first)
    return {};
  if (node.rank(first) < 3 || groups < 1)
    return node.fail("the input has no channels, or there are no groups");
  const int64_t channels = node.size(first, 1);
  if (ShapedType::isDynamic(channels))
    return node.unknown("the number of channels is unknown");
  if (channels % groups != 0)
    return node.fail("the channels are no multiple of the groups");
  Type wide = formats::sumElement(node, first);
  Value result = node.op<nn::GroupNormOp>(
      node.cast(first, wide), node.cast(node.operand(1), wide),
      node.cast(node.operand(2), wide), static_cast<uint64_t>(groups),
      epsilonOf(node, 1e-5f));
  if (activation == 1)
    result = node.op<nn::SiluOp>(result, node.builder().getF64FloatAttr(1));
  return isLast ? channelsLast(node, result) : result;
}

/// x, gamma, beta.
static LogicalResult importGroupNorm(NodeContext &node) {
  Value x = node.operand(0);
  return node.result(node.cast(groupNorm(node, x), node.element(x)));
}

/// x, gamma, beta, skip, bias: the norm of x + skip + bias, and this sum. Skip
/// may be [N, C], or [N, 1, 1, C].
static LogicalResult importSkipGroupNorm(NodeContext &node) {
  Value x = node.operand(0), skip = node.operand(3);
  Type wide = formats::sumElement(node, x);
  const bool isLast = node.getBool("channels_last", true);
  if (skip && node.rank(skip) == 2)
    skip = node.unsqueeze(skip, isLast ? Ints{1, 2} : Ints{2, 3});
  Value sum =
      node.binary<stablehlo::AddOp>(node.cast(x, wide), node.cast(skip, wide));
  if (node.has(4)) {
    Value bias = node.cast(node.operand(4), wide);
    if (node.rank(bias) != 1)
      return node.fail("the bias is not a vector");
    sum = node.binary<stablehlo::AddOp>(
        sum, isLast ? bias : node.unsqueeze(bias, {1, 2}));
  }
  if (!sum)
    return failure();
  Type element = node.element(x);
  return node.results(
      {node.cast(groupNorm(node, sum), element), node.cast(sum, element)});
}

llvm::ArrayRef<Operator> runtimeFusedOperators() {
  static const Operator table[] = {
      {"BiasAdd", runtimeDomain, 1, importBiasAdd, 3, 3, false, true},
      {"BiasGelu", runtimeDomain, 1, importRuntimeGelu<false>, 2, 2, false,
       true},
      {"BiasSoftmax", runtimeDomain, 1, importBiasSoftmax, 2, 2, false, true},
      {"BiasSplitGelu", runtimeDomain, 1, importBiasSplitGelu, 2, 2, false,
       true},
      {"EmbedLayerNormalization", runtimeDomain, 1,
       importEmbedLayerNormalization, 1, 9, false, true},
      {"FastGelu", runtimeDomain, 1, importRuntimeGelu<true>, 1, 2, false,
       true},
      {"Gelu", runtimeDomain, 1, importRuntimeGelu<false>, 1, 1, false, true},
      {"GroupNorm", runtimeDomain, 1, importGroupNorm, 3, 3, false, true},
      {"QEmbedLayerNormalization", runtimeDomain, 1,
       importQuantizedEmbedLayerNormalization, 1, 18, false, true},
      {"QuickGelu", runtimeDomain, 1, importQuickGelu, 1, 1, false, true},
      {"SimplifiedLayerNormalization", "", 1,
       importSimplifiedLayerNormalization, 2, 2, false, true},
      {"SkipGroupNorm", runtimeDomain, 1, importSkipGroupNorm, 4, 5, false,
       true},
      {"SkipLayerNormalization", runtimeDomain, 1,
       importSkipNormalization<false>, 3, 5, false, true},
      {"SkipSimplifiedLayerNormalization", runtimeDomain, 1,
       importSkipNormalization<true>, 3, 4, false, true},
  };
  return table;
}

} // namespace sinter::onnx
