// Operators that ONNX Runtime's optimiser fuses of others. They are specified
// in its docs/ContribOperators.md.

#include "formats/import/Products.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"
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

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

/// alpha * A' * B', rounded once.
static LogicalResult importFusedMatMul(NodeContext &node) {
  if (node.getBool("transBatchA", false) || node.getBool("transBatchB", false))
    return node.unsupported("transposed batches");
  const double alpha = node.getFloat("alpha", 1);
  const Type element = node.element(node.operand(0));
  const Type accumulator =
      alpha == 1 ? element : formats::sumElement(node, node.operand(0));
  auto operand = [&](int64_t input, StringRef isTransposed) {
    Value value = node.cast(node.operand(input), accumulator);
    const int64_t rank = node.rank(value);
    if (!node.getBool(isTransposed, false) || rank < 2)
      return value;
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    std::swap(order[rank - 2], order[rank - 1]);
    return node.transpose(value, order);
  };
  Value lhs = operand(0, "transA"), rhs = operand(1, "transB");
  Value product = formats::matmul(node, lhs, rhs);
  if (alpha != 1 && product)
    product =
        node.binary<stablehlo::MulOp>(product, node.scalar(accumulator, alpha));
  return node.result(node.cast(product, element));
}

//===----------------------------------------------------------------------===//
// Norms over the last dimension
//===----------------------------------------------------------------------===//

static APFloat epsilonOf(NodeContext &node, float otherwise) {
  return APFloat(node.getFloat("epsilon", otherwise));
}

/// RMSNormalization under the name that it had before opset 23.
static LogicalResult importSimplifiedLayerNormalization(NodeContext &node) {
  if (node.wants(1))
    return node.unsupported("output 1, the inverse deviation");
  Value x = node.operand(0);
  auto axis = node.axis(node.getInt("axis", -1), node.rank(x));
  Type type = node.elementType(node.getInt("stash_type", TensorProto::FLOAT));
  if (!axis || !type)
    return failure();
  return node.result(node.op<nn::RmsNormOp>(x, node.operand(1),
                                            static_cast<uint64_t>(*axis),
                                            epsilonOf(node, 1e-5f), type));
}

/// The layer norm, or the RMS norm, of input + skip + bias; output 3 is this
/// sum.
template <bool isRms>
static LogicalResult importSkipNormalization(NodeContext &node) {
  const int64_t gamma = 2, beta = 3, bias = isRms ? 3 : 4;
  if (isRms && (node.wants(1) || node.wants(2)))
    return node.unsupported("output 1 or 2, the mean or inverse deviation");
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
    return node.results({node.cast(norm, element), {}, {}, rounded});
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

llvm::ArrayRef<Operator> runtimeFusedOperators() {
  static constexpr StringLiteral domain = "com.microsoft";
  static const Operator table[] = {
      {"BiasGelu", domain, 1, importRuntimeGelu<false>, 2, 2, false, true},
      {"FastGelu", domain, 1, importRuntimeGelu<true>, 1, 2, false, true},
      {"FusedMatMul", domain, 1, importFusedMatMul, 2, 2, false, true},
      {"Gelu", domain, 1, importRuntimeGelu<false>, 1, 1, false, true},
      {"QuickGelu", domain, 1, importQuickGelu, 1, 1, false, true},
      {"SimplifiedLayerNormalization", "", 1,
       importSimplifiedLayerNormalization, 2, 2, false, true},
      {"SkipLayerNormalization", domain, 1, importSkipNormalization<false>, 3,
       5, false, true},
      {"SkipSimplifiedLayerNormalization", domain, 1,
       importSkipNormalization<true>, 3, 4, false, true},
  };
  return table;
}

} // namespace sinter::onnx
