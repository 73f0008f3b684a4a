// Quantised operators of ONNX Runtime's own domain. They are specified in its
// docs/ContribOperators.md: operands are dequantised, computed with like ONNX's
// operator, and quantised again; matmuls accumulate integers.

#include "formats/onnx/ops/RuntimeQuantized.h"
#include "formats/import/Products.h"
#include "formats/import/Windows.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Pooling.h"
#include "graph/nn/NnOps.h"

using namespace mlir;

namespace sinter::onnx {

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

Value requiredInput(NodeContext &node, int64_t index) {
  return node.has(index) ? node.operand(index)
                         : node.fail("input " + Twine(index) + " is missing");
}

Value scalarOperand(NodeContext &node, int64_t index) {
  if (!node.has(index))
    return {};
  Value value = node.operand(index);
  if (node.rank(value) > 1 ||
      (node.rank(value) == 1 && node.size(value, 0) != 1))
    return node.fail("input " + Twine(index) +
                     ", a scale or zero point, is not one number");
  return node.reshape(value, ArrayRef<int64_t>());
}

bool isByte(Type element) {
  return element.isInteger(8) && !element.isSignedInteger();
}

void checkZeroPoint(NodeContext &node, Value zeroPoint, Type element) {
  if (zeroPoint && node.element(zeroPoint) != element)
    node.fail("a zero point has another type than what it is the zero of");
}

QuantizedValue quantizedAt(NodeContext &node, int64_t first, bool areScalars) {
  QuantizedValue given;
  given.elements = requiredInput(node, first);
  if (areScalars) {
    given.scale = node.has(first + 1) ? scalarOperand(node, first + 1)
                                      : requiredInput(node, first + 1);
    given.zeroPoint = scalarOperand(node, first + 2);
  } else {
    given.scale = requiredInput(node, first + 1);
    given.zeroPoint = node.has(first + 2) ? node.operand(first + 2) : Value();
  }
  if (given.elements && !isByte(node.element(given.elements)))
    node.fail("input " + Twine(first) + " is not of u8 or i8");
  if (given.elements)
    checkZeroPoint(node, given.zeroPoint, node.element(given.elements));
  return given;
}

Value dequantized(NodeContext &node, const QuantizedValue &given) {
  return given.elements && given.scale
             ? dequantize(node, given.elements, given.scale, given.zeroPoint, 0,
                          0)
             : Value();
}

Value quantizedBy(NodeContext &node, Value numbers, int64_t first,
                  Type element) {
  Value scale =
      node.has(first) ? scalarOperand(node, first) : requiredInput(node, first);
  Value zeroPoint = scalarOperand(node, first + 1);
  checkZeroPoint(node, zeroPoint, element);
  return numbers && !node.failed()
             ? quantize(node, numbers, scale, zeroPoint, element, 0, 0)
             : Value();
}

//===----------------------------------------------------------------------===//
// Element-wise
//===----------------------------------------------------------------------===//

/// a, b and the result, each with its scale and zero point.
template <typename Op> static LogicalResult importBinary(NodeContext &node) {
  QuantizedValue a = quantizedAt(node, 0), b = quantizedAt(node, 3);
  if (node.failed())
    return failure();
  Type element = node.element(a.elements);
  if (node.element(b.elements) != element)
    return node.fail("the operands have different types");
  // Broadcast before dequantising, so that it applies to integers.
  Values both = node.broadcastTogether({a.elements, b.elements});
  if (both.empty())
    return failure();
  a.elements = both[0];
  b.elements = both[1];
  Value numbers = node.op<Op>(dequantized(node, a), dequantized(node, b));
  return node.result(quantizedBy(node, numbers, 6, element));
}

/// A unary function. Inputs: x, its scale and zero point; those of the result.
static LogicalResult
importUnary(NodeContext &node,
            llvm::function_ref<Value(const QuantizedValue &)> function) {
  const QuantizedValue x = quantizedAt(node, 0);
  if (node.failed())
    return failure();
  return node.result(
      quantizedBy(node, function(x), 3, node.element(x.elements)));
}

static LogicalResult importSigmoid(NodeContext &node) {
  return importUnary(node, [&](const QuantizedValue &x) {
    return node.unary<stablehlo::LogisticOp>(dequantized(node, x));
  });
}

static LogicalResult importQuantizedLeakyRelu(NodeContext &node) {
  return importUnary(node, [&](const QuantizedValue &x) {
    return node.op<nn::LeakyReluOp>(
        dequantized(node, x),
        node.builder().getF64FloatAttr(node.getFloat("alpha", 0.01)));
  });
}

/// Over one dimension, before version 13 over that and all after it.
static LogicalResult importQuantizedSoftmax(NodeContext &node) {
  return importUnary(node, [&](const QuantizedValue &x) -> Value {
    const int64_t rank = node.rank(x.elements);
    auto axis = node.axis(node.getInt("axis", -1), rank);
    if (!axis)
      return {};
    if (!node.hasAttribute("opset"))
      return node.fail("attribute 'opset' is missing");
    const int64_t end = node.getInt("opset", 13) < 13 ? rank : *axis + 1;
    Ints axes = llvm::to_vector(llvm::seq<int64_t>(*axis, end));
    return node.op<nn::SoftmaxOp>(dequantized(node, x),
                                  ArrayRef<int64_t>(axes));
  });
}

/// Inputs: the scale and zero point of the result, then each operand with its
/// own.
static LogicalResult importQuantizedConcat(NodeContext &node) {
  if (node.inputCount() % 3 != 2)
    return node.fail("the inputs are not two, and three for each part");
  if (!node.hasAttribute("axis"))
    return node.fail("attribute 'axis' is missing");
  Values pieces;
  for (int64_t i = 2; i < node.inputCount(); i += 3) {
    const QuantizedValue part = quantizedAt(node, i);
    if (node.failed())
      return failure();
    pieces.push_back(quantizedBy(node, dequantized(node, part), 0,
                                 node.element(part.elements)));
    if (!pieces.back())
      return failure();
  }
  auto axis = node.axis(node.getInt("axis", 0), node.rank(pieces.front()));
  return axis ? node.result(node.concatenate(pieces, *axis)) : failure();
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

/// Applies \p pool to x, whose channels may be its last dimension.
static LogicalResult importPool(NodeContext &node,
                                Value (*pool)(NodeContext &, Value)) {
  return importUnary(node, [&](QuantizedValue x) -> Value {
    if (node.rank(x.elements) < 3)
      return node.fail("the input is not of a batch, channels and spatial "
                       "dimensions");
    if (!node.getBool("channels_last", false))
      return pool(node, dequantized(node, x));
    x.elements = channelsFirst(node, x.elements);
    return channelsLast(node, pool(node, dequantized(node, x)));
  });
}

static LogicalResult importQuantizedAveragePool(NodeContext &node) {
  return importPool(node, averagePool);
}

static LogicalResult importQuantizedGlobalAveragePool(NodeContext &node) {
  return importPool(node, globalAveragePool);
}

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

Value integerMatmul(NodeContext &node, const QuantizedValue &lhs,
                    const QuantizedValue &rhs) {
  if (node.failed())
    return {};
  return matmul(
      node, centred(node, lhs.elements, lhs.zeroPoint, 0),
      centred(node, rhs.elements, rhs.zeroPoint, node.rank(rhs.elements) - 1));
}

Value scaledSum(NodeContext &node, Value sum, Value lhs, Value rhs) {
  if (!sum || !lhs || !rhs)
    return {};
  Type f32 = node.f32();
  Value factor =
      node.binary<stablehlo::MulOp>(node.cast(lhs, f32), node.cast(rhs, f32));
  Value scaled = node.binary<stablehlo::MulOp>(
      node.cast(sum, f32), spread(node, factor, sum, node.rank(sum) - 1, 0));
  return scaled ? node.cast(scaled, node.element(lhs)) : Value();
}

/// The dequantised matmul of \p lhs, with a per-tensor scale and zero point,
/// and \p rhs, plus a bias in input \p bias, if any.
static LogicalResult finishMatmul(NodeContext &node, const QuantizedValue &lhs,
                                  const QuantizedValue &rhs, int64_t bias) {
  Value product =
      scaledSum(node, integerMatmul(node, lhs, rhs), lhs.scale, rhs.scale);
  if (node.has(bias))
    product = node.binary<stablehlo::AddOp>(product, node.operand(bias));
  return node.result(product);
}

QuantizedValue weightAt(NodeContext &node, int64_t elements, int64_t scale,
                        int64_t zeroPoint) {
  QuantizedValue weight{
      requiredInput(node, elements), requiredInput(node, scale), {}};
  if (node.has(zeroPoint))
    weight.zeroPoint = node.operand(zeroPoint);
  if (weight.elements && !isByte(node.element(weight.elements)))
    node.fail("input " + Twine(elements) + " is not of u8 or i8");
  if (weight.elements)
    checkZeroPoint(node, weight.zeroPoint, node.element(weight.elements));
  return weight;
}

/// a, b, their scales, their zero points, bias.
static LogicalResult importMatMulIntegerToFloat(NodeContext &node) {
  QuantizedValue lhs{requiredInput(node, 0), scalarOperand(node, 2),
                     scalarOperand(node, 4)};
  const QuantizedValue rhs = weightAt(node, 1, 3, 5);
  if (!node.has(2))
    requiredInput(node, 2);
  if (lhs.elements && !isByte(node.element(lhs.elements)))
    return node.fail("input 0 is not of u8 or i8");
  if (lhs.elements)
    checkZeroPoint(node, lhs.zeroPoint, node.element(lhs.elements));
  return finishMatmul(node, lhs, rhs, 6);
}

/// a in floats, b, its scale and zero point, bias.
static LogicalResult importDynamicQuantizeMatMul(NodeContext &node) {
  const QuantizedValue rhs = weightAt(node, 1, 2, 3);
  if (node.failed())
    return failure();
  return finishMatmul(node, quantizeDynamically(node, node.operand(0)), rhs, 4);
}

/// a, its scale and zero point; b, its; a bias of integers; those of y, or
/// none: then it is of floats.
static LogicalResult importQGemm(NodeContext &node) {
  QuantizedValue lhs = quantizedAt(node, 0),
                 rhs = quantizedAt(node, 3, /*areScalars=*/false);
  if (node.failed())
    return failure();
  if (node.rank(lhs.elements) != 2 || node.rank(rhs.elements) != 2)
    return node.fail("A or B is not a matrix");
  if (node.has(7) != node.has(8))
    return node.fail("the result has a scale or a zero point, but not both");
  const bool isLeft = node.getBool("transA", false),
             isRight = node.getBool("transB", false);
  Value sum =
      dotGeneral(node, centred(node, lhs.elements, lhs.zeroPoint, 0),
                 centred(node, rhs.elements, rhs.zeroPoint, isRight ? 0 : 1),
                 {}, {}, {isLeft ? 0 : 1}, {isRight ? 1 : 0});
  if (node.has(6)) {
    Value bias = node.operand(6);
    if (!node.element(bias).isSignlessInteger(32))
      return node.fail("C is not of i32");
    sum = node.binary<stablehlo::AddOp>(sum, bias);
  }
  Value scale = lhs.scale;
  if (const double alpha = node.getFloat("alpha", 1); alpha != 1 && scale)
    scale = node.binary<stablehlo::MulOp>(
        scale, node.scalar(node.element(scale), alpha));
  if (!node.has(7))
    return node.result(scaledSum(node, sum, scale, rhs.scale));
  return node.result(requantize(node, sum, scale, rhs.scale,
                                scalarOperand(node, 7), scalarOperand(node, 8),
                                1));
}

llvm::ArrayRef<Operator> runtimeQuantizedOperators() {
  static const Operator table[] = {
      {"DequantizeLinear", runtimeDomain, 1, importDequantizeLinear, 2, 3,
       false, true},
      {"DynamicQuantizeMatMul", runtimeDomain, 1, importDynamicQuantizeMatMul,
       3, 5, false, true},
      {"MatMulIntegerToFloat", runtimeDomain, 1, importMatMulIntegerToFloat, 4,
       7, false, true},
      {"QGemm", runtimeDomain, 1, importQGemm, 6, 9, false, true},
      {"QLinearAdd", runtimeDomain, 1, importBinary<stablehlo::AddOp>, 2, 8,
       false, true},
      {"QLinearAveragePool", runtimeDomain, 1, importQuantizedAveragePool, 2, 5,
       false, true},
      {"QLinearConcat", runtimeDomain, 1, importQuantizedConcat, 5, anyNumber,
       false, true},
      {"QLinearGlobalAveragePool", runtimeDomain, 1,
       importQuantizedGlobalAveragePool, 5, 5, false, true},
      {"QLinearLeakyRelu", runtimeDomain, 1, importQuantizedLeakyRelu, 2, 5,
       false, true},
      {"QLinearMul", runtimeDomain, 1, importBinary<stablehlo::MulOp>, 2, 8,
       false, true},
      {"QLinearSigmoid", runtimeDomain, 1, importSigmoid, 2, 5, false, true},
      {"QLinearSoftmax", runtimeDomain, 1, importQuantizedSoftmax, 2, 5, false,
       true},
      {"QuantizeLinear", runtimeDomain, 1, importQuantizeLinear, 2, 3, false,
       true},
  };
  return table;
}

} // namespace sinter::onnx
