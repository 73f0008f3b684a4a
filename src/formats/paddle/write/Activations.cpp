// Activation functions.

#include "formats/paddle/write/WriterRules.h"
#include "graph/nn/NnDropout.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace sinter::paddle {

/// An op that Paddle has, with the same float attributes.
struct Function {
  StringRef op, paddle;
  /// Sinter's name of an attribute, and Paddle's.
  std::vector<std::pair<const char *, const char *>> attributes;
};

static const Function functions[] = {
    {"nn.acos", "acos", {}},
    {"nn.acosh", "acosh", {}},
    {"nn.asin", "asin", {}},
    {"nn.asinh", "asinh", {}},
    {"nn.atan", "atan", {}},
    {"nn.atanh", "atanh", {}},
    {"nn.cosh", "cosh", {}},
    {"nn.sinh", "sinh", {}},
    {"nn.erf", "erf", {}},
    {"nn.relu", "relu", {}},
    {"nn.leaky_relu", "leaky_relu", {{"alpha", "alpha"}}},
    {"nn.elu", "elu", {{"alpha", "alpha"}}},
    {"nn.celu", "celu", {{"alpha", "alpha"}}},
    {"nn.selu", "selu", {{"alpha", "alpha"}, {"gamma", "scale"}}},
    {"nn.thresholded_relu", "thresholded_relu", {{"alpha", "threshold"}}},
    {"nn.hard_sigmoid",
     "hard_sigmoid",
     {{"alpha", "slope"}, {"beta", "offset"}}},
    {"nn.silu", "swish", {{"alpha", "beta"}}},
    {"nn.softsign", "softsign", {}},
};

static LogicalResult writeFunction(OperatorWriter &e, mlir::Operation *op) {
  static const auto *table = [] {
    auto *map = new llvm::StringMap<const Function *>();
    for (const Function &each : functions)
      (*map)[each.op] = &each;
    return map;
  }();
  const Function &function = *table->lookup(op->getName().getStringRef());
  Settings settings;
  for (auto [ours, theirs] : function.attributes)
    if (auto value = op->getAttrOfType<FloatAttr>(ours))
      settings.push_back({theirs, value.getValueAsDouble()});
  return e.result(function.paddle, {{"X", e.operand(op->getOperand(0))}},
                  std::move(settings));
}

static LogicalResult writeHardSwish(OperatorWriter &e, nn::HardSwishOp op) {
  return e.result("hard_swish", {{"X", e.operand(op.getOperand())}},
                  {{"threshold", 6.0}, {"scale", 6.0}, {"offset", 3.0}});
}

static LogicalResult writeMish(OperatorWriter &e, nn::MishOp op) {
  return e.result("mish", {{"X", e.operand(op.getOperand())}},
                  {{"threshold", 20.0}});
}

/// With a threshold above which softplus(x) rounds to x.
static LogicalResult writeSoftplus(OperatorWriter &e, nn::SoftplusOp op) {
  return e.result(
      "softplus", {{"X", e.operand(op.getOperand())}},
      {{"beta", 1.0}, {"threshold", elementOf(op).isF64() ? 40.0 : 20.0}});
}

static LogicalResult writeGelu(OperatorWriter &e, nn::GeluOp op) {
  return e.result("gelu", {{"X", e.operand(op.getOperand())}},
                  {{"approximate", op.getApproximate()}});
}

static LogicalResult writeShrink(OperatorWriter &e, nn::ShrinkOp op) {
  const double bias = op.getBias().convertToDouble(),
               lambda = op.getLambda().convertToDouble();
  if (bias == 0)
    return e.result("hard_shrink", {{"X", e.operand(op.getOperand())}},
                    {{"threshold", lambda}});
  if (bias == lambda)
    return e.result("softshrink", {{"X", e.operand(op.getOperand())}},
                    {{"lambda", lambda}});
  return e.unsupported("with another bias than lambda");
}

/// One slope for all or one per channel.
static LogicalResult writePRelu(OperatorWriter &e, nn::PReluOp op) {
  auto type = tensorOf(op.getResult()), slope = tensorOf(op.getSlope());
  if (!slope.hasStaticShape())
    return e.unsupported("with slopes of an unknown number");
  const int64_t count = slope.getNumElements();
  const int64_t before = type.getRank() - slope.getRank();
  const bool isChannel = type.getRank() >= 2 && type.getDimSize(1) == count &&
                         before <= 1 && slope.getRank() > 0 &&
                         slope.getDimSize(1 - before) == count;
  if (count != 1 && !isChannel)
    return e.unsupported("with a slope that is not one a channel");
  return e.result(
      "prelu",
      {{"X", e.operand(op.getOperand())},
       {"Alpha", e.reshape(e.operand(op.getSlope()), {count})}},
      {{"mode", count == 1 ? "all" : "channel"}, {"data_format", "NCHW"}});
}

/// As at inference, where nothing is dropped. Fails if the mask is used.
static LogicalResult writeDropout(OperatorWriter &e, nn::DropoutOp op) {
  if (op.getMask())
    return e.unsupported("with a mask");
  return e.result("dropout", {{"X", e.operand(op.getOperand())}},
                  {{"dropout_prob", op.getRatio().convertToDouble()},
                   {"is_test", true},
                   {"dropout_implementation", "upscale_in_train"}});
}

WriterRules activationRules() {
  static const std::vector<WriterRule> rules = [] {
    std::vector<WriterRule> all = {
        writerRule<writeHardSwish>(), writerRule<writeMish>(),
        writerRule<writeSoftplus>(),  writerRule<writeGelu>(),
        writerRule<writeShrink>(),    writerRule<writePRelu>(),
        writerRule<writeDropout>()};
    for (const Function &each : functions)
      all.push_back({each.op, writeFunction});
    return all;
  }();
  return rules;
}

} // namespace sinter::paddle
