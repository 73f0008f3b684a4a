// Bernoulli, Multinomial, Dropout, and tensors of random values. The generator:
// import/Draws.h.

#include "formats/import/Building.h"
#include "formats/import/Draws.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Inputs.h"
#include "graph/nn/NnDropout.h"

using namespace mlir;
using sinter::formats::Draws;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::onnx {

/// The random generator of \p node.
static Draws drawsOf(NodeContext &node) {
  // Dropout's seed is an integer, all others' are floats.
  std::optional<int64_t> seed;
  if (const AttributeProto *given = node.attribute("seed")) {
    const bool isInteger = given->type() == AttributeProto::INT;
    const double number = isInteger
                              ? static_cast<double>(node.getInt("seed", 0))
                              : node.getFloat("seed", 0);
    if (std::abs(number) < 0x1p53)
      seed = static_cast<int64_t>(number);
  }
  return Draws(node, seed);
}

/// A constant f64 tensor of \p shape, drawn uniformly from [0, 1).
static std::optional<Tensor> uniformDraws(NodeContext &node,
                                          ArrayRef<int64_t> shape) {
  auto draws = drawsOf(node).uniformTensor(node, shape);
  if (draws)
    node.noteDraw();
  return draws;
}
static std::optional<Tensor> normalDraws(NodeContext &node,
                                         ArrayRef<int64_t> shape) {
  auto draws = drawsOf(node).normalTensor(node, shape);
  if (draws)
    node.noteDraw();
  return draws;
}

/// The element type given by attribute `dtype`, or \p otherwise.
static Type wantedElement(NodeContext &node, Type otherwise) {
  return node.hasAttribute("dtype") ? node.numberType(node.getInt("dtype", 0))
                                    : otherwise;
}

static LogicalResult uniform(NodeContext &node, ArrayRef<int64_t> shape,
                             Type element) {
  double low = node.getFloat("low", 0), high = node.getFloat("high", 1);
  return node.result(
      spreadDraws(node, uniformDraws(node, shape), low, high - low, element));
}

static LogicalResult normal(NodeContext &node, ArrayRef<int64_t> shape,
                            Type element) {
  return node.result(spreadDraws(node, normalDraws(node, shape),
                                 node.getFloat("mean", 0),
                                 node.getFloat("scale", 1), element));
}

using Fill = LogicalResult (*)(NodeContext &, ArrayRef<int64_t>, Type);

/// Random values in the shape given by an attribute.
template <Fill fill> static LogicalResult importRandom(NodeContext &node) {
  if (!node.hasAttribute("shape"))
    return node.fail("attribute 'shape' is missing");
  return fill(node, node.getInts("shape"), wantedElement(node, node.f32()));
}

/// Random values in the input's shape and, without `dtype`, type.
template <Fill fill> static LogicalResult importRandomLike(NodeContext &node) {
  Value like = node.operand(0);
  if (!like)
    return failure();
  return fill(node, node.shape(like), wantedElement(node, node.element(like)));
}

/// 1 if a draw lies in the top fraction `p` of [0, 1); for p above one half the
/// zeros are drawn, as in NumPy.
static LogicalResult importBernoulli(NodeContext &node) {
  Value p = node.operand(0);
  if (!p)
    return failure();
  auto draws = uniformDraws(node, node.shape(p));
  Type element = wantedElement(node, node.element(p));
  if (!draws || !element)
    return failure();
  Type f64 = node.builder().getF64Type();
  Value wide = node.cast(p, f64), u = node.constant(*draws);
  Value rare = node.compare(
      u, node.binary<stablehlo::SubtractOp>(node.one(wide, 1), wide),
      ComparisonDirection::GT);
  Value often = node.compare(u, wide, ComparisonDirection::LE);
  Value isRare =
      node.compare(wide, node.one(wide, 0.5), ComparisonDirection::LE);
  return node.result(node.cast(select(node, isRare, rare, often), element));
}

/// Draws classes by their unnormalised log-probabilities: the class is the
/// number of partial sums that a draw reaches.
static LogicalResult importMultinomial(NodeContext &node) {
  Value x = node.operand(0);
  if (!x)
    return failure();
  if (node.rank(x) != 2)
    return node.fail("the input has not two dimensions");
  int64_t rows = node.size(x, 0), classes = node.size(x, 1),
          count = node.getInt("sample_size", 1);
  Type element = wantedElement(node, IntegerType::get(node.context(), 32));
  if (count < 1 || classes == 0)
    return node.fail("there is nothing to draw, or to draw from");
  if (ShapedType::isDynamic(classes))
    return node.fail("draws from an unknown number of classes");
  auto draws = uniformDraws(node, {rows, count});
  if (!draws || !element)
    return failure();
  Value sums = node.op<nn::CumulativeSumOp>(
      node.op<nn::SoftmaxOp>(node.cast(x, node.builder().getF64Type()),
                             ArrayRef<int64_t>{1}),
      uint64_t(1), false, false);
  Value reached = node.compare(node.unsqueeze(sums, {1}),
                               node.unsqueeze(node.constant(*draws), {2}),
                               ComparisonDirection::LE);
  Value counted = node.reduce<stablehlo::AddOp>(node.cast(reached, node.i64()),
                                                {2}, 0, false);
  // Rounding may leave the last sum a little below one.
  counted = node.binary<stablehlo::MinOp>(
      counted, node.one(counted, static_cast<double>(classes - 1)));
  return node.result(node.cast(counted, element));
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

/// Whether the node drops anything; fails if that is known only at run time.
static std::optional<bool> isTraining(NodeContext &node) {
  if (node.version() < 7)
    return node.getInt("is_test", 0) == 0;
  if (node.version() < 12 || !node.has(2))
    return false;
  auto mode = node.knownScalar(node.operand(2));
  if (!mode)
    return node.unknown("training_mode is known only at run time");
  return *mode != 0;
}

/// The threshold that a draw must reach for its element to stay, as f64 scalar.
static Value dropRatio(NodeContext &node) {
  Type f64 = node.builder().getF64Type();
  if (node.version() >= 12 && node.has(1))
    return node.cast(scalarInput(node, 1), f64);
  return node.scalar(f64,
                     node.version() < 12 ? node.getFloat("ratio", 0.5) : 0.5);
}

/// Inference returns the input; training keeps the elements whose draw reaches
/// the ratio, divided by the share that is kept. The mask marks these.
static LogicalResult importDropout(NodeContext &node) {
  Value data = node.operand(0);
  auto training = isTraining(node);
  if (!data || !training)
    return failure();
  Type maskElement = node.version() < 10 ? node.element(data) : node.i1();
  Value ratio = dropRatio(node);
  auto known = node.knownScalar(ratio);
  if (!*training || (known && *known == 0)) {
    Value mask;
    if (node.wants(1)) {
      Value one = node.scalar(maskElement, 1);
      mask = node.isStatic(data)
                 ? node.splat(maskElement, 1, node.shape(data))
                 : node.op<nn::BroadcastLikeOp>(one, ValueRange(data));
    }
    // The ratio in training. An unknown ratio is an input, and models with one
    // are not trained.
    if (known && *known > 0 && *known <= 1)
      data = node.op<nn::DropoutOp>(data, MaybeValue{},
                                    node.builder().getF64FloatAttr(*known));
    return node.results({data, mask});
  }
  if (known && !(*known > 0 && *known <= 1))
    return node.fail("the ratio is not between 0 and 1");
  auto draws = uniformDraws(node, node.shape(data));
  if (!draws)
    return failure();
  Value mask =
      node.compare(node.constant(*draws), ratio, ComparisonDirection::GE);
  if (known && isa<FloatType>(node.element(data)))
    return node.results(
        {node.op<nn::DropoutOp>(data, MaybeValue{mask},
                                node.builder().getF64FloatAttr(*known)),
         node.cast(mask, maskElement)});
  Value share = node.binary<stablehlo::SubtractOp>(node.one(ratio, 1), ratio);
  Value kept =
      node.binary<stablehlo::DivOp>(data, node.cast(share, node.element(data)));
  Value result = select(node, mask, kept, node.one(kept, 0));
  return node.results({result, node.cast(mask, maskElement)});
}

llvm::ArrayRef<Operator> randomOperators() {
  static const Operator table[] = {
      {"Bernoulli", "", 15, importBernoulli, 1, 1},
      {"Dropout", "", 1, importDropout, 1, 3},
      {"Multinomial", "", 7, importMultinomial, 1, 1},
      {"RandomNormal", "", 1, importRandom<normal>, 0, 0},
      {"RandomNormalLike", "", 1, importRandomLike<normal>, 1, 1},
      {"RandomUniform", "", 1, importRandom<uniform>, 0, 0},
      {"RandomUniformLike", "", 1, importRandomLike<uniform>, 1, 1},
  };
  return table;
}

} // namespace sinter::onnx
