// Matmuls and convolutions that ONNX Runtime's optimiser fuses with what
// follows them. They are specified in its docs/ContribOperators.md.

#include "formats/import/Building.h"
#include "formats/import/Products.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Products.h"
#include "formats/onnx/ops/Window.h"
#include "graph/nn/NnOps.h"

using namespace mlir;

namespace sinter::onnx {

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

namespace {
/// A function that a node applies to its result, with its parameters.
struct Activation {
  StringRef name;
  /// The parameters' defaults, in order.
  SmallVector<double, 2> defaults;
  Value (*apply)(NodeContext &node, Value x, ArrayRef<double> parameters);
};
} // namespace

template <typename Op>
static Value applyPlain(NodeContext &node, Value x, ArrayRef<double>) {
  return node.op<Op>(x);
}

/// An op of as many parameters as it has, each an f64 attribute.
template <typename Op, size_t count>
static Value applyWith(NodeContext &node, Value x, ArrayRef<double> given) {
  auto number = [&](size_t i) {
    return node.builder().getF64FloatAttr(given[i]);
  };
  if constexpr (count == 1)
    return node.op<Op>(x, number(0));
  else
    return node.op<Op>(x, number(0), number(1));
}

static Value applyClip(NodeContext &node, Value x, ArrayRef<double> given) {
  Type element = node.element(x);
  return node.op<stablehlo::ClampOp>(node.scalar(element, given[0]), x,
                                     node.scalar(element, given[1]));
}

static Value applyTanh(NodeContext &node, Value x, ArrayRef<double> given) {
  auto scaled = [&](Value value, double factor) {
    return node.binary<stablehlo::MulOp>(value,
                                         node.scalar(node.element(x), factor));
  };
  return scaled(node.unary<stablehlo::TanhOp>(scaled(x, given[1])), given[0]);
}

template <bool isApproximate>
static Value applyGelu(NodeContext &node, Value x, ArrayRef<double>) {
  return node.op<nn::GeluOp>(x, node.builder().getBoolAttr(isApproximate));
}

static ArrayRef<Activation> activations() {
  static const Activation table[] = {
      {"Clip", {-3.402823466e38, 3.402823466e38}, applyClip},
      {"Elu", {1}, applyWith<nn::EluOp, 1>},
      {"FastGelu", {}, applyGelu<true>},
      {"Gelu", {}, applyGelu<false>},
      {"HardSigmoid", {0.2f, 0.5}, applyWith<nn::HardSigmoidOp, 2>},
      {"LeakyRelu", {0.01f}, applyWith<nn::LeakyReluOp, 1>},
      {"Relu", {}, applyPlain<nn::ReluOp>},
      {"ScaledTanh", {1, 1}, applyTanh},
      {"Selu",
       {1.67326319217681884765625, 1.05070102214813232421875},
       applyWith<nn::SeluOp, 2>},
      {"Sigmoid", {}, applyPlain<stablehlo::LogisticOp>},
      {"Softplus", {}, applyPlain<nn::SoftplusOp>},
      {"Softsign", {}, applyPlain<nn::SoftsignOp>},
      {"Tanh", {}, applyPlain<stablehlo::TanhOp>},
      {"ThresholdedRelu", {1}, applyWith<nn::ThresholdedReluOp, 1>},
  };
  return table;
}

/// Attribute `activation` of \p x: its parameters are the list
/// activation_params or activation_alpha, _beta and _gamma.
static Value activated(NodeContext &node, Value x) {
  const std::string name = node.getString("activation", "");
  if (!x || name.empty() || name == "Identity")
    return x;
  const Activation *found = llvm::find_if(
      activations(), [&](const Activation &each) { return each.name == name; });
  if (found == activations().end())
    return node.unsupported("activation '" + name + "'");
  SmallVector<double> given = node.getFloats("activation_params");
  if (given.empty()) {
    static constexpr StringRef names[] = {"activation_alpha",
                                          "activation_beta"};
    // Selu's second parameter is called gamma.
    for (size_t i = 0; i < found->defaults.size(); ++i)
      given.push_back(node.getFloat(
          i == 1 && name == "Selu" ? "activation_gamma" : names[i],
          found->defaults[i]));
  }
  if (given.size() < found->defaults.size())
    return node.fail("activation '" + name + "' has " +
                     Twine(found->defaults.size()) + " parameters, not " +
                     Twine(given.size()));
  return found->apply(node, x, given);
}

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

/// Input \p input as transBatchX, then transX ask for.
static Value matmulOperand(NodeContext &node, int64_t input, StringRef side,
                           Type accumulator) {
  Value value = node.cast(node.operand(input), accumulator);
  const int64_t rank = node.rank(value);
  if (rank < 2)
    return value;
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (node.getBool(("transBatch" + side).str(), false))
    std::rotate(order.begin(), order.begin() + 1, order.begin() + rank - 1);
  if (node.getBool(("trans" + side).str(), false))
    std::swap(order[rank - 2], order[rank - 1]);
  return node.transpose(value, order);
}

/// alpha * A' * B', activated, rounded once.
static LogicalResult importFusedMatMul(NodeContext &node) {
  const double alpha = node.getFloat("alpha", 1);
  const Type element = node.element(node.operand(0));
  const Type accumulator = alpha == 1 && !node.hasAttribute("activation")
                               ? element
                               : formats::sumElement(node, node.operand(0));
  Value lhs = matmulOperand(node, 0, "A", accumulator),
        rhs = matmulOperand(node, 1, "B", accumulator);
  Value product = formats::matmul(node, lhs, rhs);
  if (alpha != 1 && product)
    product =
        node.binary<stablehlo::MulOp>(product, node.scalar(accumulator, alpha));
  return node.result(node.cast(activated(node, product), element));
}

static LogicalResult importFusedGemm(NodeContext &node) {
  Value result = activated(node, gemm(node, /*isRounded=*/false));
  return node.result(node.cast(result, node.element(node.operand(0))));
}

/// FastGelu of x * w + bias.
static LogicalResult importGemmFastGelu(NodeContext &node) {
  Value x = node.operand(0);
  const Type wide = formats::sumElement(node, x);
  Value sum = formats::matmul(node, node.cast(x, wide),
                              node.cast(node.operand(1), wide));
  if (node.has(2))
    sum = node.binary<stablehlo::AddOp>(sum, node.cast(node.operand(2), wide));
  Value result = sum ? applyGelu<true>(node, sum, {}) : Value();
  return node.result(node.cast(result, node.element(x)));
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// The convolution of x with w, plus bias, plus z, activated, rounded once;
/// channels are last in x, z and the result if \p isLast.
template <bool isLast> static LogicalResult importFusedConv(NodeContext &node) {
  Value x = node.operand(0), z = node.has(3) ? node.operand(3) : Value();
  if (isLast) {
    x = channelsFirst(node, x);
    z = z ? channelsFirst(node, z) : z;
  }
  const Type wide = formats::sumElement(node, x);
  Value sum = convolution(node, x, node.operand(1), wide);
  if (z && sum)
    sum = node.op<stablehlo::AddOp>(sum, node.cast(z, wide));
  Value result = node.cast(activated(node, sum), node.element(x));
  return node.result(isLast ? channelsLast(node, result) : result);
}

llvm::ArrayRef<Operator> runtimeProductOperators() {
  static const Operator table[] = {
      {"FusedConv", runtimeDomain, 1, importFusedConv<false>, 2, 4, false,
       true},
      {"FusedGemm", runtimeDomain, 1, importFusedGemm, 2, 3, false, true},
      {"FusedMatMul", runtimeDomain, 1, importFusedMatMul, 2, 2, false, true},
      {"FusedMatMulActivation", runtimeDomain, 1, importFusedMatMul, 2, 2,
       false, true},
      {"GemmFastGelu", runtimeDomain, 1, importGemmFastGelu, 2, 3, false, true},
      {"NhwcConv", runtimeDomain, 1, importFusedConv<true>, 2, 3, false, true},
      {"NhwcFusedConv", runtimeDomain, 1, importFusedConv<true>, 2, 4, false,
       true},
      {"TransposeMatMul", runtimeDomain, 1, importFusedMatMul, 2, 2, false,
       true},
  };
  return table;
}

} // namespace sinter::onnx
