// Quantisation as arithmetic: divide, round, add the zero point, clamp.

#include "formats/onnx/ops/Quantization.h"

#include "formats/import/Building.h"
#include "formats/import/Products.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/file/DataTypes.h"
#include "formats/onnx/ops/Minifloats.h"
#include "formats/onnx/ops/Window.h"
#include "graph/Quantization.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::onnx {

Value spread(NodeContext &node, Value parameter, Value like, int64_t axis,
             int64_t blockSize) {
  if (!parameter || !like)
    return {};
  if (node.rank(parameter) == 1 && node.size(parameter, 0) == 1)
    parameter = node.reshape(parameter, ArrayRef<int64_t>());
  if (!parameter || node.rank(parameter) == 0)
    return parameter;
  auto normal = node.axis(axis, node.rank(like));
  if (!normal)
    return {};
  if (blockSize == 0)
    return node.rank(parameter) == 1
               ? node.alongDimension(parameter, like, *normal)
               : node.fail("the scale has more than one dimension");
  if (node.rank(parameter) != node.rank(like))
    return node.fail("the scale or zero point has not the dimensions of what "
                     "it is for");
  const int64_t size = node.size(like, *normal),
                blocks = node.size(parameter, *normal);
  if (ShapedType::isDynamic(size) || ShapedType::isDynamic(blocks))
    return node.unknown("the dimension of the blocks is unknown");
  if (blockSize < 0 || blocks != llvm::divideCeilSigned(size, blockSize))
    return node.fail(Twine(blocks) + " blocks of " + Twine(blockSize) +
                     " are not for " + Twine(size) + " elements");
  // One block broadcasts, and blocks of one element are the elements.
  if (blocks == 1 || blockSize == 1)
    return parameter;
  // Each element of the parameter applies to blockSize elements.
  Dims repeated, merged = node.dims(parameter);
  Ints dimensions;
  for (int64_t i = 0; i < node.rank(like); ++i) {
    dimensions.push_back(repeated.size());
    repeated.push_back(merged[i]);
    if (i == *normal)
      repeated.push_back(blockSize);
  }
  merged[*normal] = blocks * blockSize;
  Value whole = node.reshape(
      node.broadcastInDim(parameter, repeated, dimensions), merged);
  return blocks * blockSize == size ? whole
                                    : node.sliceAxis(whole, *normal, 0, size);
}

/// \p quotient rounded, plus the zero point, clamped.
static Value roundTo(NodeContext &node, Value quotient, Value zeroPoint,
                     Type element, int64_t axis, int64_t blockSize) {
  if (!quotient || !element)
    return {};
  Type wide = node.element(quotient);
  auto integer = dyn_cast<IntegerType>(element);
  if (integer && (integer.getWidth() < 2 || integer.getWidth() > 32))
    return node.fail("a quantised element has 2 to 32 bits, this one " +
                     std::to_string(integer.getWidth()));
  if (integer)
    quotient = node.unary<stablehlo::RoundNearestEvenOp>(quotient);
  if (zeroPoint && quotient)
    quotient = node.binary<stablehlo::AddOp>(
        quotient,
        spread(node, node.cast(zeroPoint, wide), quotient, axis, blockSize));
  if (!quotient)
    return {};
  if (!integer)
    return node.cast(node.getBool("saturate", true)
                         ? saturate(node, quotient, element)
                         : quotient,
                     element);
  const IntegerBounds bounds = boundsOf(integer);
  return node.cast(node.op<stablehlo::ClampOp>(
                       node.scalar(wide, static_cast<double>(bounds.least)),
                       quotient,
                       node.scalar(wide, static_cast<double>(bounds.greatest))),
                   element);
}

Value quantize(NodeContext &node, Value value, Value scale, Value zeroPoint,
               Type element, int64_t axis, int64_t blockSize) {
  if (!value || !scale)
    return {};
  value = node.cast(value, node.element(scale));
  Value quotient = node.binary<stablehlo::DivOp>(
      value, spread(node, scale, value, axis, blockSize));
  return roundTo(node, quotient, zeroPoint, element, axis, blockSize);
}

/// Input 1, the scale; exponents as f32.
static Value scaleInput(NodeContext &node) {
  return isCoded(node, 1) ? numbersOf(node, 1, node.f32()) : node.operand(1);
}

LogicalResult importQuantizeLinear(NodeContext &node) {
  const int64_t axis = node.getInt("axis", 1);
  const int64_t blockSize = node.getInt("block_size", 0);
  const int64_t type = node.getInt("output_dtype", 0);
  Value scale = scaleInput(node);
  Value x = node.operand(0);
  if (!scale || !x)
    return failure();
  if (int64_t precision = node.getInt("precision", 0)) {
    Type wide = node.numberType(precision);
    if (wide && !isa<FloatType>(wide))
      return node.fail("attribute 'precision' is no floating-point type");
    scale = node.cast(scale, wide);
  }
  if (isCoded(node, 2) || (!node.has(2) && llvm::isInt<32>(type) &&
                           codeTypeOf(static_cast<int32_t>(type)))) {
    const int32_t coded =
        isCoded(node, 2) ? node.bound(2).dataType : static_cast<int32_t>(type);
    Value quotient =
        node.binary<stablehlo::DivOp>(node.cast(x, node.element(scale)),
                                      spread(node, scale, x, axis, blockSize));
    // A zero point of floats is 0.
    return codedResult(node, codesOf(node, quotient, coded), coded);
  }
  Value zeroPoint = node.operand(2);
  Type element = node.builder().getIntegerType(8, false);
  if (zeroPoint)
    element = node.element(zeroPoint);
  else if (type)
    element = node.numberType(type);
  return node.result(
      quantize(node, x, scale, zeroPoint, element, axis, blockSize));
}

Value dequantize(NodeContext &node, Value value, Value scale, Value zeroPoint,
                 int64_t axis, int64_t blockSize) {
  if (!value || !scale)
    return {};
  Type wide = node.element(scale);
  Value number = node.cast(value, wide);
  if (zeroPoint)
    number = node.binary<stablehlo::SubtractOp>(
        number,
        spread(node, node.cast(zeroPoint, wide), value, axis, blockSize));
  return node.binary<stablehlo::MulOp>(
      number, spread(node, scale, value, axis, blockSize));
}

LogicalResult importDequantizeLinear(NodeContext &node) {
  Value scale = scaleInput(node);
  if (!scale)
    return failure();
  auto numbers = [&](int64_t input) {
    return isCoded(node, input) ? numbersOf(node, input, node.element(scale))
                                : node.operand(input);
  };
  Value result =
      dequantize(node, numbers(0), scale, numbers(2), node.getInt("axis", 1),
                 node.getInt("block_size", 0));
  if (int64_t type = node.getInt("output_dtype", 0))
    result = node.cast(result, node.numberType(type));
  return node.result(result);
}

QuantizedValue quantizeDynamically(NodeContext &node, Value data) {
  Type element = node.element(data);
  Type byte = node.builder().getIntegerType(8, false);
  Ints axes = llvm::to_vector(llvm::seq<int64_t>(0, node.rank(data)));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value zero = node.scalar(element, 0);
  Value least = node.binary<stablehlo::MinOp>(
      node.reduce<stablehlo::MinOp>(data, axes, infinity, false), zero);
  Value greatest = node.binary<stablehlo::MaxOp>(
      node.reduce<stablehlo::MaxOp>(data, axes, -infinity, false), zero);
  Value scale = node.binary<stablehlo::DivOp>(
      node.binary<stablehlo::SubtractOp>(greatest, least),
      node.scalar(element, 255));
  Value offset = node.binary<stablehlo::DivOp>(
      node.binary<stablehlo::SubtractOp>(zero, least), scale);
  Value zeroPoint = node.cast(
      node.unary<stablehlo::RoundNearestEvenOp>(
          node.op<stablehlo::ClampOp>(zero, offset, node.scalar(element, 255))),
      byte);
  return {quantize(node, data, scale, zeroPoint, byte, 0, 0), scale, zeroPoint};
}

static LogicalResult importDynamicQuantizeLinear(NodeContext &node) {
  const QuantizedValue result = quantizeDynamically(node, node.operand(0));
  return node.results({result.elements, result.scale, result.zeroPoint});
}

Value centred(NodeContext &node, Value value, Value zeroPoint, int64_t axis) {
  Type i32 = node.builder().getI32Type();
  Value wide = node.cast(value, i32);
  if (!zeroPoint)
    return wide;
  return node.binary<stablehlo::SubtractOp>(
      wide, spread(node, node.cast(zeroPoint, i32), value, axis, 0));
}

Value requantize(NodeContext &node, Value sum, Value lhs, Value rhs, Value out,
                 Value zeroPoint, int64_t axis) {
  if (!sum || !zeroPoint || !lhs)
    return {};
  Type wide = node.element(lhs);
  auto scalarOf = [&](Value value) {
    return node.reshape(value, ArrayRef<int64_t>());
  };
  Value factor = node.binary<stablehlo::DivOp>(
      node.binary<stablehlo::MulOp>(scalarOf(lhs), rhs), scalarOf(out));
  Value scaled = node.binary<stablehlo::MulOp>(
      node.cast(sum, wide), spread(node, factor, sum, axis, 0));
  return roundTo(node, scaled, scalarOf(zeroPoint), node.element(zeroPoint), 0,
                 0);
}

/// x, its scale and zero point; w, its; those of y; bias. In ONNX Runtime's
/// domain the channels of x and y may be last.
static LogicalResult importQLinearConv(NodeContext &node) {
  Value input = node.operand(0), weight = node.operand(3);
  const bool isLast = node.getBool("channels_last", false);
  if (isLast)
    input = channelsFirst(node, input);
  if (node.rank(input) < 3 || node.rank(weight) != node.rank(input))
    return node.fail("the input is not [N, C, spatial...] or the weight has "
                     "another rank");
  auto window = readWindow(node, input, node.shape(weight).drop_front(2));
  if (!window)
    return failure();
  Value sum = convolve(node, centred(node, input, node.operand(2), 1),
                       centred(node, weight, node.operand(5), 0), *window,
                       node.getInt("group", 1));
  if (node.has(8))
    sum = node.binary<stablehlo::AddOp>(
        sum,
        node.alongDimension(
            node.cast(node.operand(8), node.builder().getI32Type()), sum, 1));
  Value result = requantize(node, sum, node.operand(1), node.operand(4),
                            node.operand(6), node.operand(7), 1);
  return node.result(isLast ? channelsLast(node, result) : result);
}

/// a, its scale and zero point; b, its; those of y.
static LogicalResult importQLinearMatMul(NodeContext &node) {
  Value lhs = node.operand(0), rhs = node.operand(3);
  auto isScalar = [&](int64_t input) {
    return node.type(node.operand(input)).hasStaticShape() &&
           node.type(node.operand(input)).getNumElements() == 1;
  };
  if (!isScalar(1) || !isScalar(2))
    return node.unsupported("a scale for each row of the left operand");
  Value sum = matmul(node, centred(node, lhs, node.operand(2), 0),
                     centred(node, rhs, node.operand(5), node.rank(rhs) - 1));
  if (!sum)
    return failure();
  return node.result(requantize(node, sum, node.operand(1), node.operand(4),
                                node.operand(6), node.operand(7),
                                node.rank(sum) - 1));
}

llvm::ArrayRef<Operator> quantizationOperators() {
  static const Operator table[] = {
      {"DequantizeLinear", "", 10, importDequantizeLinear, 2, 3, false, true},
      {"DynamicQuantizeLinear", "", 11, importDynamicQuantizeLinear, 1, 1,
       false, true},
      {"QLinearConv", "", 10, importQLinearConv, 8, 9, false, true},
      {"QLinearConv", runtimeDomain, 1, importQLinearConv, 8, 9, false, true},
      {"QLinearMatMul", "", 10, importQLinearMatMul, 8, 8, false, true},
      {"QuantizeLinear", "", 10, importQuantizeLinear, 2, 3, false, true},
  };
  return table;
}

} // namespace sinter::onnx
