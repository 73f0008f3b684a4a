// Activation functions.

#include "formats/import/Building.h"
#include "formats/import/Products.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"

using namespace mlir;

namespace sinter::onnx {

template <typename Op> static LogicalResult plain(NodeContext &node) {
  return node.result(node.op<Op>(node.operand(0)));
}

/// An f64 attribute of an op: the node's float attribute of that name, or its
/// default.
static FloatAttr number(NodeContext &node, StringRef name, double otherwise) {
  return node.builder().getF64FloatAttr(node.getFloat(name, otherwise));
}

static LogicalResult importLeakyRelu(NodeContext &node) {
  return node.result(
      node.op<nn::LeakyReluOp>(node.operand(0), number(node, "alpha", 0.01)));
}
static LogicalResult importElu(NodeContext &node) {
  return node.result(
      node.op<nn::EluOp>(node.operand(0), number(node, "alpha", 1)));
}
static LogicalResult importCelu(NodeContext &node) {
  return node.result(
      node.op<nn::CeluOp>(node.operand(0), number(node, "alpha", 1)));
}
static LogicalResult importSelu(NodeContext &node) {
  bool first = node.version() < 6;
  return node.result(node.op<nn::SeluOp>(
      node.operand(0),
      number(node, "alpha", first ? 1.6732 : 1.67326319217681884765625),
      number(node, "gamma", first ? 1.0507 : 1.05070102214813232421875)));
}
static LogicalResult importThresholdedRelu(NodeContext &node) {
  return node.result(node.op<nn::ThresholdedReluOp>(node.operand(0),
                                                    number(node, "alpha", 1)));
}
static LogicalResult importHardSigmoid(NodeContext &node) {
  return node.result(node.op<nn::HardSigmoidOp>(
      node.operand(0), number(node, "alpha", 0.2), number(node, "beta", 0.5)));
}
static LogicalResult importSwish(NodeContext &node) {
  return node.result(
      node.op<nn::SiluOp>(node.operand(0), number(node, "alpha", 1)));
}
/// swish(a) * b.
static LogicalResult importSwiGlu(NodeContext &node) {
  Value a = node.operand(0), b = node.operand(1);
  if (node.rank(a) != node.rank(b) || node.element(a) != node.element(b))
    return node.fail("the inputs differ in rank or element type");
  for (int64_t i = 0; i < node.rank(a); ++i)
    formats::requireSize(node, {a, i, "first input"}, {b, i, "second input"});
  const Type element = node.element(a), wide = formats::sumElement(node, a);
  Value gate =
      node.op<nn::SiluOp>(node.cast(a, wide), number(node, "alpha", 1));
  return node.result(node.cast(
      node.binary<stablehlo::MulOp>(gate, node.cast(b, wide)), element));
}
static LogicalResult importShrink(NodeContext &node) {
  return node.result(node.op<nn::ShrinkOp>(
      node.operand(0), number(node, "bias", 0), number(node, "lambd", 0.5)));
}

static LogicalResult importGelu(NodeContext &node) {
  std::string approximate = node.getString("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    return node.fail("attribute 'approximate' is not none or tanh");
  return node.result(node.op<nn::GeluOp>(
      node.operand(0), node.builder().getBoolAttr(approximate == "tanh")));
}

/// Before opset 7 a slope of rank 1 had one element per channel.
static LogicalResult importPRelu(NodeContext &node) {
  Value x = node.operand(0), slope = node.operand(1);
  if (!x || !slope)
    return failure();
  if (node.version() < 7 && node.rank(slope) == 1 && node.rank(x) > 2 &&
      node.size(slope, 0) != 1)
    slope = node.unsqueeze(
        slope, llvm::to_vector(llvm::seq<int64_t>(1, node.rank(x) - 1)));
  return node.result(node.op<nn::PReluOp>(x, slope));
}

llvm::ArrayRef<Operator> activationOperators() {
  static const Operator table[] = {
      {"Celu", "", 12, importCelu, 1, 1},
      {"Elu", "", 1, importElu, 1, 1},
      {"Gelu", "", 20, importGelu, 1, 1},
      {"HardSigmoid", "", 1, importHardSigmoid, 1, 1},
      {"HardSwish", "", 14, plain<nn::HardSwishOp>, 1, 1},
      {"LeakyRelu", "", 1, importLeakyRelu, 1, 1},
      {"Mish", "", 18, plain<nn::MishOp>, 1, 1},
      {"PRelu", "", 1, importPRelu, 2, 2},
      {"Relu", "", 1, plain<nn::ReluOp>, 1, 1},
      {"Selu", "", 1, importSelu, 1, 1},
      {"Shrink", "", 9, importShrink, 1, 1},
      {"Sigmoid", "", 1, plain<stablehlo::LogisticOp>, 1, 1},
      {"Softplus", "", 1, plain<nn::SoftplusOp>, 1, 1},
      {"Softsign", "", 1, plain<nn::SoftsignOp>, 1, 1},
      {"SwiGLU", "", 28, importSwiGlu, 2, 2, false, true},
      {"Swish", "", 24, importSwish, 1, 1},
      {"ThresholdedRelu", "", 1, importThresholdedRelu, 1, 1},
  };
  return table;
}

} // namespace sinter::onnx
