// Elementwise ops of nn.

#include "formats/onnx/write/WriterRules.h"
#include "graph/nn/NnDropout.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace sinter::onnx {

/// An op that ONNX has under another name, with the same float attributes,
/// since version `since`.
struct Function {
  StringRef op, onnx;
  int64_t since;
  /// Sinter's name of an attribute, and ONNX's.
  std::vector<std::pair<const char *, const char *>> attributes;
};

static const Function functions[] = {
    {"nn.acos", "Acos", 7, {}},
    {"nn.acosh", "Acosh", 9, {}},
    {"nn.asin", "Asin", 7, {}},
    {"nn.asinh", "Asinh", 9, {}},
    {"nn.atan", "Atan", 7, {}},
    {"nn.atanh", "Atanh", 9, {}},
    {"nn.cosh", "Cosh", 9, {}},
    {"nn.sinh", "Sinh", 9, {}},
    {"nn.erf", "Erf", 9, {}},
    {"nn.relu", "Relu", 7, {}},
    {"nn.leaky_relu", "LeakyRelu", 7, {{"alpha", "alpha"}}},
    {"nn.elu", "Elu", 7, {{"alpha", "alpha"}}},
    {"nn.celu", "Celu", 12, {{"alpha", "alpha"}}},
    {"nn.selu", "Selu", 7, {{"alpha", "alpha"}, {"gamma", "gamma"}}},
    {"nn.thresholded_relu", "ThresholdedRelu", 10, {{"alpha", "alpha"}}},
    {"nn.hard_sigmoid",
     "HardSigmoid",
     7,
     {{"alpha", "alpha"}, {"beta", "beta"}}},
    {"nn.softplus", "Softplus", 7, {}},
    {"nn.softsign", "Softsign", 7, {}},
    {"nn.shrink", "Shrink", 9, {{"bias", "bias"}, {"lambda", "lambd"}}},
};

static LogicalResult writeFunction(NodeWriter &e, Operation *op) {
  static const auto *table = [] {
    auto *map = new llvm::StringMap<const Function *>();
    for (const Function &each : functions)
      (*map)[each.op] = &each;
    return map;
  }();
  const Function &function = *table->lookup(op->getName().getStringRef());
  NodeAttributes attributes;
  for (auto [ours, theirs] : function.attributes)
    if (auto value = op->getAttrOfType<FloatAttr>(ours))
      attributes.push_back({theirs, value.getValueAsDouble()});
  e.need(function.since);
  return e.result(function.onnx, e.operands(), attributes);
}

/// HardSwish, or x * hard_sigmoid(x) with its constants before version 14.
static LogicalResult writeHardSwish(NodeWriter &e, nn::HardSwishOp op) {
  if (e.version() >= 14)
    return e.result("HardSwish", e.operands());
  Name x = e.operand(op.getOperand());
  return e.result("Mul", {x, e.make("HardSigmoid", {x},
                                    {{"alpha", 1.0 / 6}, {"beta", 0.5}})});
}

static LogicalResult writeSilu(NodeWriter &e, nn::SiluOp op) {
  Name x = e.operand(op.getOperand()), inner = x;
  double alpha = op.getAlpha().convertToDouble();
  if (e.writer.isForRuntime() && elementOf(op).isF32())
    return e.runtimeResult("QuickGelu", {x}, {{"alpha", alpha}});
  if (e.version() >= 24)
    return e.result("Swish", {x}, {{"alpha", alpha}});
  if (alpha != 1)
    inner = e.make("Mul", {x, e.scalar(elementOf(op), alpha)});
  return e.result("Mul", {x, e.make("Sigmoid", {inner})});
}

static LogicalResult writeMish(NodeWriter &e, nn::MishOp op) {
  if (e.version() >= 18)
    return e.result("Mish", e.operands());
  Name x = e.operand(op.getOperand());
  return e.result("Mul", {x, e.make("Tanh", {e.make("Softplus", {x})})});
}

/// Gelu, or x / 2 * (1 + erf(x / sqrt(2))); its approximation is
/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))).
static LogicalResult writeGelu(NodeWriter &e, nn::GeluOp op) {
  if (e.writer.isForRuntime() && elementOf(op).isF32())
    return e.runtimeResult(op.getApproximate() ? "FastGelu" : "Gelu",
                           e.operands());
  if (e.version() >= 20)
    return e.result("Gelu", e.operands(),
                    {{"approximate", op.getApproximate() ? "tanh" : "none"}});
  Name x = e.operand(op.getOperand());
  auto number = [&](double value) { return e.scalar(elementOf(op), value); };
  Name bend;
  if (op.getApproximate()) {
    Name cube = e.make("Mul", {x, e.make("Mul", {x, x})});
    Name sum = e.make("Add", {x, e.make("Mul", {cube, number(0.044715)})});
    bend =
        e.make("Tanh", {e.make("Mul", {sum, number(0.79788456080286535588)})});
  } else {
    bend = e.make("Erf", {e.make("Mul", {x, number(0.70710678118654752440)})});
  }
  Name half = e.make("Mul", {x, number(0.5)});
  return e.result("Mul", {half, e.make("Add", {bend, number(1)})});
}

static LogicalResult writePRelu(NodeWriter &e, nn::PReluOp op) {
  return e.result("PRelu", e.operands());
}

/// Without `training_mode`, nothing is dropped.
static LogicalResult writeDropout(NodeWriter &e, nn::DropoutOp op) {
  Name x = e.operand(op.getOperand());
  const double ratio = op.getRatio().convertToDouble();
  if (!op.getMask() && e.version() < 12)
    return e.result("Dropout", {x}, {{"ratio", ratio}});
  Type single = Float32Type::get(op.getContext());
  if (!op.getMask())
    return e.result("Dropout", {x, e.scalar(single, ratio)});
  e.need(9);
  Name kept = e.make("Div", {x, e.scalar(elementOf(op), 1 - ratio)});
  return e.result("Where",
                  {e.operand(op.getMask()), kept, e.scalar(elementOf(op), 0)});
}

WriterRules activationRules() {
  static const std::vector<WriterRule> rules = [] {
    std::vector<WriterRule> all = {
        writerRule<writeHardSwish>(), writerRule<writeSilu>(),
        writerRule<writeMish>(),      writerRule<writeGelu>(),
        writerRule<writePRelu>(),     writerRule<writeDropout>()};
    for (const Function &each : functions)
      all.push_back({each.op, writeFunction});
    return all;
  }();
  return rules;
}

} // namespace sinter::onnx
