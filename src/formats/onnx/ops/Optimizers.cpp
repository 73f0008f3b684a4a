// ai.onnx.preview.training: the optimisers, one step each, and gradients.

#include "formats/import/Building.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"
#include "graph/Source.h"
#include "graph/interfaces/Differentiable.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::onnx {

namespace {
/// Arithmetic of f32 tensors and scalars, with broadcasting.
class Arithmetic {
public:
  explicit Arithmetic(NodeContext &node) : node(node) {}
  Value add(Value a, Value b) { return node.binary<stablehlo::AddOp>(a, b); }
  Value sub(Value a, Value b) {
    return node.binary<stablehlo::SubtractOp>(a, b);
  }
  Value mul(Value a, Value b) { return node.binary<stablehlo::MulOp>(a, b); }
  Value div(Value a, Value b) { return node.binary<stablehlo::DivOp>(a, b); }
  Value add(Value a, double b) { return add(a, number(a, b)); }
  Value mul(Value a, double b) { return mul(a, number(a, b)); }
  Value sub(double a, Value b) { return sub(number(b, a), b); }
  Value pow(double a, Value b) {
    return node.binary<stablehlo::PowOp>(number(b, a), b);
  }
  Value sqrt(Value a) { return node.op<stablehlo::SqrtOp>(a); }
  Value number(Value like, double value) {
    return like ? node.scalar(node.element(like), value) : Value();
  }

private:
  NodeContext &node;
};

/// Learning rate, step count, and \p lists tensors for each parameter, list by
/// list.
struct Step {
  Value rate, count;
  int64_t parameters = 0;
};
} // namespace

static std::optional<Step> readStep(NodeContext &node, int64_t lists) {
  int64_t rest = node.inputCount() - 2;
  if (rest <= 0 || rest % lists != 0)
    return node.fail("it has not " + Twine(lists) + " inputs a parameter");
  Step step{node.operand(0), node.operand(1), rest / lists};
  node.operands();
  if (node.failed())
    return std::nullopt;
  return step;
}

/// Tensor \p list of parameter \p i.
static Value tensorOf(NodeContext &node, const Step &step, int64_t list,
                      int64_t i) {
  return node.operand(2 + list * step.parameters + i);
}

/// The gradient plus that of norm_coefficient / 2 * |x|^2.
static Value gradientOf(NodeContext &node, const Step &step, int64_t i) {
  Arithmetic a(node);
  return a.add(
      a.mul(tensorOf(node, step, 0, i), node.getFloat("norm_coefficient", 0)),
      tensorOf(node, step, 1, i));
}

/// \p first in the first step, else \p value.
static Value afterFirst(NodeContext &node, const Step &step, Value value,
                        Value first) {
  Value zero = node.scalar(node.element(step.count), 0);
  Value later = node.compare(step.count, zero, ComparisonDirection::GT);
  return select(node, later, value, first);
}

static LogicalResult importAdagrad(NodeContext &node) {
  auto step = readStep(node, 3);
  if (!step)
    return failure();
  Arithmetic a(node);
  Value decay = a.mul(node.cast(step->count, node.element(step->rate)),
                      node.getFloat("decay_factor", 0));
  Value rate = a.div(step->rate, a.add(decay, 1));
  Values parameters, squares;
  for (int64_t i = 0; i < step->parameters; ++i) {
    Value gradient = gradientOf(node, *step, i);
    Value square =
        a.add(tensorOf(node, *step, 2, i), a.mul(gradient, gradient));
    Value scale = a.add(a.sqrt(square), node.getFloat("epsilon", 1e-6));
    parameters.push_back(a.sub(tensorOf(node, *step, 0, i),
                               a.div(a.mul(gradient, rate), scale)));
    squares.push_back(square);
  }
  parameters.append(squares);
  return node.results(ArrayRef<Value>(parameters));
}

static LogicalResult importAdam(NodeContext &node) {
  auto step = readStep(node, 4);
  if (!step)
    return failure();
  Arithmetic a(node);
  double alpha = node.getFloat("alpha", 0.9),
         beta = node.getFloat("beta", 0.999);
  Value count = node.cast(step->count, node.element(step->rate));
  Value corrected =
      a.mul(step->rate, a.div(a.sqrt(a.sub(1, a.pow(beta, count))),
                              a.sub(1, a.pow(alpha, count))));
  Value rate = afterFirst(node, *step, corrected, step->rate);
  Values parameters, means, squares;
  for (int64_t i = 0; i < step->parameters; ++i) {
    Value gradient = gradientOf(node, *step, i);
    Value mean = a.add(a.mul(tensorOf(node, *step, 2, i), alpha),
                       a.mul(gradient, 1 - alpha));
    Value square = a.add(a.mul(tensorOf(node, *step, 3, i), beta),
                         a.mul(a.mul(gradient, gradient), 1 - beta));
    Value scale = a.add(a.sqrt(square), node.getFloat("epsilon", 1e-6));
    Value moved =
        a.sub(tensorOf(node, *step, 0, i), a.div(a.mul(mean, rate), scale));
    parameters.push_back(
        a.mul(moved, 1 - node.getFloat("norm_coefficient_post", 0)));
    means.push_back(mean);
    squares.push_back(square);
  }
  parameters.append(means);
  parameters.append(squares);
  return node.results(ArrayRef<Value>(parameters));
}

static LogicalResult importMomentum(NodeContext &node) {
  auto step = readStep(node, 3);
  if (!step)
    return failure();
  Arithmetic a(node);
  std::string mode = node.getString("mode", "standard");
  if (mode != "standard" && mode != "nesterov")
    return node.fail("attribute 'mode' is not standard or nesterov");
  double alpha = node.getFloat("alpha", 0);
  Type element = node.element(step->rate);
  Value beta =
      afterFirst(node, *step, node.scalar(element, node.getFloat("beta", 0)),
                 node.scalar(element, 1));
  Values parameters, momenta;
  for (int64_t i = 0; i < step->parameters; ++i) {
    Value gradient = gradientOf(node, *step, i);
    Value momentum =
        a.add(a.mul(tensorOf(node, *step, 2, i), alpha), a.mul(gradient, beta));
    Value direction =
        mode == "standard" ? momentum : a.add(gradient, a.mul(momentum, alpha));
    parameters.push_back(
        a.sub(tensorOf(node, *step, 0, i), a.mul(direction, step->rate)));
    momenta.push_back(momentum);
  }
  parameters.append(momenta);
  return node.results(ArrayRef<Value>(parameters));
}

//===----------------------------------------------------------------------===//
// Gradient
//===----------------------------------------------------------------------===//

/// The tensor called \p name, in the block of the node.
static Value tensorNamed(NodeContext &node, StringRef name) {
  const Bound *bound = node.importer.lookup(node.frame, name);
  if (!bound)
    return node.fail("there is no tensor '" + name + "'");
  if (bound->kind == Bound::Poisoned)
    return node.unsupported("a gradient of what is not supported");
  if (bound->kind != Bound::Tensor ||
      !isa<FloatType>(node.element(bound->value)))
    return node.unsupported("a gradient of what is no tensor of floats");
  Value value = bound->value;
  if (value.getParentBlock() != node.builder().getInsertionBlock())
    return node.unsupported("a gradient by a tensor of another graph");
  return value;
}

/// What a Gradient is of: the tensors that the file names, and the values that
/// stand for them.
namespace {
struct Variables {
  Values tensors, values;
  /// The number of those that derivatives are taken by.
  int64_t count = 0;
  Value target;
};
} // namespace

static std::optional<Variables> readVariables(NodeContext &node) {
  Variables all;
  const std::vector<std::string> by = node.getStrings("xs"),
                                 fixed = node.getStrings("zs");
  all.count = static_cast<int64_t>(by.size());
  if (node.inputCount() != static_cast<int64_t>(by.size() + fixed.size()))
    return node.fail("it has not one input for each of 'xs' and 'zs'");
  if (!node.hasAttribute("y"))
    return node.fail("attribute 'y' is missing");
  for (const auto *names : {&by, &fixed})
    for (const std::string &name : *names)
      all.tensors.push_back(tensorNamed(node, name));
  all.target = tensorNamed(node, node.getString("y", ""));
  all.values = node.operands();
  if (node.failed())
    return std::nullopt;
  for (auto [tensor, value] : llvm::zip_equal(all.tensors, all.values))
    if (tensor.getType() != value.getType())
      return node.fail("an input has not the type of its tensor");
  return all;
}

/// The operations that depend on \p tensors, in order.
static std::vector<Operation *> dependents(NodeContext &node,
                                           ArrayRef<Value> tensors) {
  llvm::DenseSet<Value> reached(tensors.begin(), tensors.end());
  std::vector<Operation *> after;
  for (Operation &op : *node.builder().getInsertionBlock()) {
    const bool isReached =
        op.walk([&](Operation *inner) {
            return llvm::any_of(
                       inner->getOperands(),
                       [&](Value each) { return reached.contains(each); })
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          }).wasInterrupted();
    if (!isReached)
      continue;
    after.push_back(&op);
    reached.insert(op.result_begin(), op.result_end());
  }
  return after;
}

/// Those of \p after that \p target depends on.
static std::vector<Operation *> upTo(Value target,
                                     ArrayRef<Operation *> after) {
  llvm::DenseSet<Operation *> needed;
  if (Operation *op = target.getDefiningOp())
    needed.insert(op);
  std::vector<Operation *> path;
  for (Operation *op : llvm::reverse(after)) {
    if (!needed.contains(op))
      continue;
    path.push_back(op);
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *giver = operand.getDefiningOp())
          needed.insert(giver);
    });
  }
  std::reverse(path.begin(), path.end());
  return path;
}

/// The target computed again of the values that stand for the tensors.
static Value computedAgain(NodeContext &node, const Variables &all,
                           ArrayRef<Operation *> after) {
  if (llvm::equal(all.tensors, all.values))
    return all.target;
  IRMapping mapping;
  for (auto [tensor, value] : llvm::zip_equal(all.tensors, all.values))
    mapping.map(tensor, value);
  for (Operation *op : upTo(all.target, after)) {
    Operation *copy = node.builder().clone(*op, mapping);
    copy->walk([](Operation *inner) { inner->removeAttr(sourceAttribute); });
    node.known().observe(copy);
  }
  return mapping.lookupOrDefault(all.target);
}

/// The derivative of `y` by each of `xs`, at the inputs' values; the tensors
/// `zs` stay as they are.
static LogicalResult importGradient(NodeContext &node) {
  auto all = readVariables(node);
  if (!all)
    return failure();
  const std::vector<Operation *> after = dependents(node, all->tensors);
  for (Value tensor : all->tensors)
    if (llvm::is_contained(after, tensor.getDefiningOp()))
      return node.unsupported("variables that depend on each other");
  Value target = computedAgain(node, *all, after);
  if (!node.isStatic(target))
    return node.unknown("a gradient of a tensor whose size is unknown");
  Value seed = node.splat(node.element(target), 1, node.shape(target));
  auto gradients = backpropagate(node.builder(), target, seed,
                                 ArrayRef(all->values).take_front(all->count));
  if (failed(gradients)) {
    std::string reason = node.importer.diagnostics().take();
    return node.unsupported("no gradient: " + reason);
  }
  for (auto [gradient, value] : llvm::zip(*gradients, all->values))
    if (!gradient)
      gradient = node.isStatic(value)
                     ? node.splat(node.element(value), 0, node.shape(value))
                     : node.unknown("the size of a gradient is unknown");
  return node.results(Values(gradients->begin(), gradients->end()));
}

llvm::ArrayRef<Operator> optimizerOperators() {
  static const Operator table[] = {
      {"Adagrad", "ai.onnx.preview.training", 1, importAdagrad, 5, anyNumber},
      {"Adam", "ai.onnx.preview.training", 1, importAdam, 6, anyNumber},
      {"Gradient", "ai.onnx.preview.training", 1, importGradient, 1, anyNumber},
      {"Momentum", "ai.onnx.preview.training", 1, importMomentum, 5, anyNumber},
  };
  return table;
}

} // namespace sinter::onnx
