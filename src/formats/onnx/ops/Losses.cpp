// Loss functions.

#include "formats/import/Building.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::onnx {

static Value total(NodeContext &node, Value x) {
  return x ? node.reduce<stablehlo::AddOp>(
                 x, llvm::to_vector(llvm::seq<int64_t>(0, node.rank(x))), 0,
                 false)
           : Value();
}

/// The weight of each target: 1 without weights, 0 for ignored targets. Null if
/// all are 1.
static Value targetWeights(NodeContext &node, Value weights, Value target,
                           Value ignored, Type element) {
  if (!weights && !ignored)
    return {};
  Value each = weights ? node.op<nn::TakeOp>(weights, target, uint64_t(0))
                       : node.scalar(element, 1);
  if (!ignored)
    return each;
  return select(node, ignored, node.scalar(element, 0), each);
}

/// -weight[target] * logProbability[target], reduced. The classes are dimension
/// 1 of \p logProbability, which the target lacks.
static Value negativeLogLikelihood(NodeContext &node, Value logProbability,
                                   Value target, Value weights) {
  if (!logProbability || !target)
    return {};
  if (node.rank(logProbability) < 2)
    return node.fail("the input has fewer than two dimensions");
  Type element = node.element(logProbability);
  target = node.cast(target, node.i64());
  Value zero = node.scalar(node.i64(), 0), ignored;
  if (node.hasAttribute("ignore_index")) {
    Value index = node.integers({node.getInt("ignore_index", 0)});
    ignored = node.compare(target, node.reshape(index, ArrayRef<int64_t>()),
                           ComparisonDirection::EQ);
    // An ignored target need not be a valid class.
    target = select(node, ignored, zero, target);
  }
  Value chosen = node.op<nn::TakeAlongOp>(
      logProbability, node.unsqueeze(target, {1}), uint64_t(1));
  Value loss = node.op<stablehlo::NegOp>(node.squeeze(chosen, {1}));
  // Rounded after the whole sum.
  const Type given = element;
  loss = widened(node, loss);
  if (weights)
    weights = widened(node, weights);
  element = loss ? node.element(loss) : given;
  Value scale = targetWeights(node, weights, target, ignored, element);
  if (scale)
    loss = node.binary<stablehlo::MulOp>(loss, scale);
  if (ignored)
    loss = select(node, ignored, node.scalar(element, 0), loss);
  std::string reduction = node.getString("reduction", "mean");
  if (reduction == "none" || !loss)
    return node.cast(loss, given);
  if (reduction == "sum")
    return node.cast(total(node, loss), given);
  if (reduction != "mean")
    return node.fail("attribute 'reduction' is not none, sum or mean");
  Value count =
      scale ? total(node, scale)
            : node.countAlong(
                  loss, llvm::to_vector(llvm::seq<int64_t>(0, node.rank(loss))),
                  element);
  return node.cast(node.binary<stablehlo::DivOp>(total(node, loss), count),
                   given);
}

static LogicalResult importNegativeLogLikelihood(NodeContext &node) {
  return node.result(negativeLogLikelihood(node, node.operand(0),
                                           node.operand(1), node.operand(2)));
}

static LogicalResult importSoftmaxCrossEntropy(NodeContext &node) {
  Value logProbability =
      node.op<nn::LogSoftmaxOp>(node.operand(0), ArrayRef<int64_t>{1});
  return node.results({negativeLogLikelihood(node, logProbability,
                                             node.operand(1), node.operand(2)),
                       logProbability});
}

llvm::ArrayRef<Operator> lossOperators() {
  static const Operator table[] = {
      {"NegativeLogLikelihoodLoss", "", 12, importNegativeLogLikelihood, 2, 3},
      {"SoftmaxCrossEntropyLoss", "", 12, importSoftmaxCrossEntropy, 2, 3},
  };
  return table;
}

} // namespace sinter::onnx
