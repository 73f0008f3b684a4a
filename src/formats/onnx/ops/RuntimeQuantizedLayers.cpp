// Quantised layers of ONNX Runtime's own domain: pools, means, attention,
// recurrence, and the ones whose matrices are in orders of cuBLASLt. They are
// specified in its docs/ContribOperators.md.

#include "formats/import/Building.h"
#include "formats/import/Products.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Recurrent.h"
#include "formats/onnx/ops/RuntimeAttention.h"
#include "formats/onnx/ops/RuntimeQuantized.h"
#include "formats/onnx/ops/Window.h"
#include <limits>

using namespace mlir;

namespace sinter::onnx {

//===----------------------------------------------------------------------===//
// Means, choices, pools
//===----------------------------------------------------------------------===//

/// The mean of x along `axes`: x, its scale and zero point; those of the
/// result.
static LogicalResult importQuantizedReduceMean(NodeContext &node) {
  const QuantizedValue x = quantizedAt(node, 0);
  if (node.failed())
    return failure();
  const int64_t rank = node.rank(x.elements);
  auto axes = node.axes(
      node.getInts("axes", llvm::to_vector(llvm::seq<int64_t>(0, rank))), rank);
  Value numbers = dequantized(node, x);
  if (!axes || !numbers)
    return failure();
  const bool keeps = node.getBool("keepdims", true);
  Value sum = node.reduce<stablehlo::AddOp>(numbers, *axes, 0, keeps);
  Value mean = node.binary<stablehlo::DivOp>(
      sum, node.countAlong(numbers, *axes, node.element(numbers)));
  return node.result(quantizedBy(node, mean, 3, node.element(x.elements)));
}

/// x where the condition holds, else y, each with its scale and zero point; the
/// last are those of the result.
static LogicalResult importQuantizedWhere(NodeContext &node) {
  const QuantizedValue x = quantizedAt(node, 1), y = quantizedAt(node, 4);
  if (node.failed())
    return failure();
  Type element = node.element(x.elements);
  if (node.element(y.elements) != element)
    return node.fail("the operands have different types");
  Value numbers = formats::select(node, requiredInput(node, 0),
                                  dequantized(node, x), dequantized(node, y));
  return node.result(quantizedBy(node, numbers, 7, element));
}

static LogicalResult importNhwcMaxPool(NodeContext &node) {
  Value x = channelsFirst(node, node.operand(0));
  if (!x)
    return failure();
  auto window = readWindow(node, x);
  return window ? node.result(
                      channelsLast(node, formats::maxPool(node, x, *window)))
                : failure();
}

/// An i32 product of integers.
static LogicalResult importMatMulInteger16(NodeContext &node) {
  Type i32 = node.builder().getI32Type();
  return node.result(formats::matmul(node, node.cast(node.operand(0), i32),
                                     node.cast(node.operand(1), i32)));
}

/// The i32 product of a and b, each minus its zero point: a, its zero point; b,
/// its.
static LogicalResult importMulInteger(NodeContext &node) {
  auto operand = [&](int64_t input) {
    return centred(node, node.operand(input), scalarOperand(node, input + 1),
                   0);
  };
  return node.result(node.binary<stablehlo::MulOp>(operand(0), operand(2)));
}

/// The sum along `axes` in 32 bits.
static LogicalResult importReduceSumInteger(NodeContext &node) {
  Value x = node.operand(0);
  auto axes = node.axes(node.getInts("axes"), node.rank(x));
  if (!axes)
    return failure();
  Type wide = node.isUnsigned(x) ? node.builder().getIntegerType(32, false)
                                 : Type(node.builder().getI32Type());
  return node.result(node.reduce<stablehlo::AddOp>(
      node.cast(x, wide), *axes, 0, node.getBool("keepdims", true)));
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// x; weights of query, key and value; bias; the scales of x, of the weights; a
/// mask; the zero points of x, of the weights; past.
static LogicalResult importQuantizedAttention(NodeContext &node) {
  if (node.getBool("do_rotary", false))
    return node.unsupported("rotary positions");
  QuantizedValue x{node.operand(0), scalarOperand(node, 3),
                   scalarOperand(node, 6)};
  const QuantizedValue weights = weightAt(node, 1, 4, 7);
  if (node.failed())
    return failure();
  if (!isByte(node.element(x.elements)) || node.rank(weights.elements) != 2)
    return node.fail(
        "input 0 is not of u8 or i8, or the weights are no matrix");
  checkZeroPoint(node, x.zeroPoint, node.element(x.elements));
  auto widths = projectedWidths(node, node.size(weights.elements, 1));
  Value sums =
      scaledSum(node, integerMatmul(node, x, weights), x.scale, weights.scale);
  Value rows = node.binary<stablehlo::AddOp>(sums, node.operand(2));
  if (!widths || !rows)
    return failure();
  Values parts = partsOfLast(node, rows, *widths);
  return attendProjected(node, parts[0], parts[1], parts[2], 5, 8, -1);
}

//===----------------------------------------------------------------------===//
// Recurrence
//===----------------------------------------------------------------------===//

/// Weights [D, I, 4 H] as floats [D, 4 H, I]: a scale, and a zero point, for
/// each direction or each of its columns.
static Value recurrentWeights(NodeContext &node, int64_t weights,
                              int64_t scales) {
  Value x = node.operand(weights), scale = requiredInput(node, scales),
        zero = requiredInput(node, scales + 1);
  if (!x || !scale || !zero)
    return {};
  if (node.rank(x) != 3 || !isByte(node.element(x)))
    return node.fail("the weights are not [directions, rows, columns] of u8 or "
                     "i8");
  auto spread = [&](Value value) -> Value {
    if (node.rank(value) == 1)
      return node.unsqueeze(value, {1, 2});
    if (node.rank(value) == 2)
      return node.unsqueeze(value, {1});
    return node.fail("a scale or zero point has more than two dimensions");
  };
  Type wide = node.element(scale);
  Value numbers = node.binary<stablehlo::MulOp>(
      node.binary<stablehlo::SubtractOp>(node.cast(x, wide),
                                         spread(node.cast(zero, wide))),
      spread(scale));
  return node.transpose(numbers, {0, 2, 1});
}

/// LSTM with weights of bytes. X is rounded to 8 bits as a whole; the hidden
/// state, which ONNX Runtime rounds at every step, is not.
static LogicalResult importDynamicQuantizeLstm(NodeContext &node) {
  LstmInputs inputs;
  const QuantizedValue x = quantizeDynamically(node, node.operand(0));
  inputs.x = dequantized(node, x);
  inputs.w = recurrentWeights(node, 1, 8);
  inputs.r = recurrentWeights(node, 2, 10);
  return node.failed() ? failure() : importLstmOf(node, inputs);
}

//===----------------------------------------------------------------------===//
// Matrices in orders of cuBLASLt
//===----------------------------------------------------------------------===//

namespace {
enum Order : int64_t { Columns = 0, Rows = 1, Columns32 = 2 };
} // namespace

/// Attribute \p name, an order that is read.
static std::optional<int64_t> orderOf(NodeContext &node, StringRef name) {
  const int64_t order = node.getInt(name, Rows);
  if (order < Columns || order > 4)
    return node.fail("attribute '" + name + "' is no order of a matrix");
  if (order > Columns32)
    return node.unsupported("matrices in order " + Twine(order));
  return order;
}

/// The elements of \p x [..., R, C], which lie in \p order, row by row; or,
/// with
/// \p isBack, from rows into that order.
static Value reordered(NodeContext &node, Value x, int64_t order, bool isBack) {
  if (!x || order == Rows)
    return x;
  const int64_t rank = node.rank(x);
  if (rank < 2)
    return node.fail("a matrix has less than two dimensions");
  const int64_t width = order == Columns ? 1 : 32;
  Dims sizes = node.dims(x);
  if (!sizes.back().isStatic() || sizes.back().size % width != 0)
    return node.fail("the columns of a matrix are no multiple of " +
                     Twine(width));
  Dims apart(sizes.begin(), sizes.end() - 2);
  const Dim rows = sizes[rank - 2], groups = sizes.back().size / width;
  if (isBack)
    llvm::append_range(apart, Dims{rows, groups, Dim(width)});
  else
    llvm::append_range(apart, Dims{groups, rows, Dim(width)});
  auto order3 = llvm::to_vector(llvm::seq<int64_t>(0, rank + 1));
  std::swap(order3[rank - 2], order3[rank - 1]);
  return node.reshape(node.transpose(node.reshape(x, apart), order3), sizes);
}

/// Input \p index, of i8 in the order that attribute \p name says, as floats by
/// the scale in input \p scaleIndex, which may be one for each column.
static Value orderedAt(NodeContext &node, int64_t index, int64_t scaleIndex,
                       StringRef name) {
  auto order = orderOf(node, name);
  Value x = order ? reordered(node, requiredInput(node, index), *order, false)
                  : Value();
  Value scale = requiredInput(node, scaleIndex);
  return x && scale ? node.binary<stablehlo::MulOp>(
                          node.cast(x, node.element(scale)), scale)
                    : Value();
}

/// \p numbers as i8 by the scale in input \p scale, in the order that attribute
/// \p name says.
static Value orderedBy(NodeContext &node, Value numbers, int64_t scale,
                       StringRef name) {
  auto order = orderOf(node, name);
  if (!order || !numbers)
    return {};
  Value factor = scalarOperand(node, scale);
  Value rounded = quantize(node, node.cast(numbers, node.f32()), factor, {},
                           node.builder().getIntegerType(8), 0, 0);
  return reordered(node, rounded, *order, true);
}

static LogicalResult importQuantizeWithOrder(NodeContext &node) {
  auto order = orderOf(node, "order_input");
  if (!order)
    return failure();
  Value x = reordered(node, node.operand(0), *order, false);
  return node.result(orderedBy(node, x, 1, "order_output"));
}

static LogicalResult importDequantizeWithOrder(NodeContext &node) {
  Value x = orderedAt(node, 0, 1, "order_input");
  auto order = orderOf(node, "order_output");
  Type element = node.numberType(node.getInt("to", TensorProto::FLOAT));
  return order && element
             ? node.result(reordered(node, node.cast(x, element), *order, true))
             : failure();
}

/// A, its scale; B, its; that of Y; bias; C, its scale.
static LogicalResult importQOrderedMatMul(NodeContext &node) {
  Value sum = formats::matmul(node, orderedAt(node, 0, 1, "order_A"),
                              orderedAt(node, 2, 3, "order_B"));
  if (node.has(5))
    sum = node.binary<stablehlo::AddOp>(sum, node.operand(5));
  if (node.has(6))
    sum = node.binary<stablehlo::AddOp>(sum, orderedAt(node, 6, 7, "order_Y"));
  return node.result(orderedBy(node, sum, 4, "order_Y"));
}

static LogicalResult importQOrderedGelu(NodeContext &node) {
  Value bent = node.op<nn::GeluOp>(orderedAt(node, 0, 1, "order_X"),
                                   node.builder().getBoolAttr(false));
  return node.result(orderedBy(node, bent, 2, "order_X"));
}

/// X, its scale; gamma; beta; the scale of Y.
static LogicalResult importQOrderedLayerNormalization(NodeContext &node) {
  Value x = orderedAt(node, 0, 1, "order_X");
  if (!x)
    return failure();
  auto axis = node.axis(node.getInt("axis", -1), node.rank(x));
  if (!axis)
    return failure();
  auto vector = [&](int64_t input) {
    return node.has(input) ? node.cast(node.operand(input), node.f32())
                           : Value();
  };
  Value norm = node.op<nn::LayerNormOp>(
      x, vector(2), MaybeValue{vector(3)}, static_cast<uint64_t>(*axis),
      APFloat(node.getFloat("epsilon", 1e-5f)), node.f32());
  return node.result(orderedBy(node, norm, 4, "order_Y"));
}

/// \p numbers as they are after rounding to i8 by the scale in input \p scale,
/// if there is one.
static Value roundedBy(NodeContext &node, Value numbers, int64_t scale) {
  if (!numbers || !node.has(scale))
    return numbers;
  Value factor = scalarOperand(node, scale);
  return node.binary<stablehlo::MulOp>(
      node.cast(quantize(node, node.cast(numbers, node.f32()), factor, {},
                         node.builder().getIntegerType(8), 0, 0),
                node.f32()),
      factor);
}

/// Part \p part of query, key and value, with the heads apart: the input's
/// product with the weights, plus a bias, rounded.
static Value orderedPart(NodeContext &node, Value x, int64_t part,
                         int64_t heads) {
  Value sum = node.binary<stablehlo::AddOp>(
      formats::matmul(node, x,
                      orderedAt(node, 5 + part, 8 + part, "order_weight")),
      requiredInput(node, 11 + part));
  return formats::splitHeads(node, roundedBy(node, sum, 2 + part), heads);
}

/// The input and its scale; the scales of query, key, value; their weights; the
/// scales of these; their biases; the scales of the scores before and after the
/// softmax, and of the result; a mask.
static LogicalResult importQOrderedAttention(NodeContext &node) {
  auto heads = headsOf(node, "num_heads");
  for (int64_t input : {18, 19})
    if (node.has(input))
      return node.unsupported("past keys or a bias of the scores");
  Value x = orderedAt(node, 0, 1, "order_input");
  if (!heads || !x)
    return failure();
  if (node.rank(x) != 3)
    return node.fail("the input is not [batch, length, width]");
  formats::AttentionParts parts;
  parts.query = orderedPart(node, x, 0, *heads);
  parts.key = orderedPart(node, x, 1, *heads);
  parts.value = orderedPart(node, x, 2, *heads);
  if (node.failed())
    return failure();
  Value scores =
      roundedBy(node,
                formats::matmul(node, parts.query,
                                node.transpose(parts.key, {0, 1, 3, 2})),
                14);
  scores = node.binary<stablehlo::MulOp>(
      scores, node.scalar(node.f32(), attentionScale(node, parts.query)));
  if (Value bias = paddingBias(node, node.has(17) ? node.operand(17) : Value(),
                               parts.query, node.dim(parts.key, 2)))
    scores = node.binary<stablehlo::AddOp>(scores, bias);
  if (node.getBool("unidirectional", false)) {
    hideLaterKeys(node, parts, 0);
    applyCausalMask(node, parts);
    scores = formats::select(
        node, parts.allowed, scores,
        node.scalar(node.f32(), -std::numeric_limits<double>::infinity()));
  }
  Value weights =
      roundedBy(node, node.op<nn::SoftmaxOp>(scores, ArrayRef<int64_t>{3}), 15);
  Value rows =
      formats::joinHeads(node, formats::matmul(node, weights, parts.value));
  return node.result(orderedBy(node, rows, 16, "order_output"));
}

llvm::ArrayRef<Operator> runtimeQuantizedLayerOperators() {
  static const Operator table[] = {
      {"DequantizeWithOrder", runtimeDomain, 1, importDequantizeWithOrder, 2, 2,
       false, true},
      {"DynamicQuantizeLSTM", runtimeDomain, 1, importDynamicQuantizeLstm, 3,
       12, false, true},
      {"MatMulInteger16", runtimeDomain, 1, importMatMulInteger16, 2, 2, false,
       true},
      {"MulInteger", runtimeDomain, 1, importMulInteger, 3, 4, false, true},
      {"NhwcMaxPool", runtimeDomain, 1, importNhwcMaxPool, 1, 1, false, true},
      {"QAttention", runtimeDomain, 1, importQuantizedAttention, 5, 9, false,
       true},
      {"QLinearReduceMean", runtimeDomain, 1, importQuantizedReduceMean, 2, 5,
       false, true},
      {"QLinearWhere", runtimeDomain, 1, importQuantizedWhere, 3, 9, false,
       true},
      {"QOrderedAttention", runtimeDomain, 1, importQOrderedAttention, 14, 20,
       false, true},
      {"QOrderedGelu", runtimeDomain, 1, importQOrderedGelu, 3, 3, false, true},
      {"QOrderedLayerNormalization", runtimeDomain, 1,
       importQOrderedLayerNormalization, 3, 5, false, true},
      {"QOrderedMatMul", runtimeDomain, 1, importQOrderedMatMul, 5, 8, false,
       true},
      {"QuantizeWithOrder", runtimeDomain, 1, importQuantizeWithOrder, 2, 2,
       false, true},
      {"ReduceSumInteger", runtimeDomain, 1, importReduceSumInteger, 1, 1,
       false, true},
  };
  return table;
}

} // namespace sinter::onnx
