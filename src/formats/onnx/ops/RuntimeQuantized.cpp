// Quantised operators of ONNX Runtime's own domain. They are specified in its
// docs/ContribOperators.md: operands are dequantised, computed with like ONNX's
// operator, and quantised again; matmuls accumulate integers.

#include "formats/import/Products.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Pooling.h"
#include "formats/onnx/ops/Quantization.h"
#include "graph/nn/NnOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::onnx {

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// Input \p index; fails if it is absent.
static Value needed(NodeContext &node, int64_t index) {
  return node.has(index) ? node.operand(index)
                         : node.fail("input " + Twine(index) + " is missing");
}

/// Input \p index, of one element, as a scalar; null if it is absent.
static Value scalarOperand(NodeContext &node, int64_t index) {
  if (!node.has(index))
    return {};
  Value value = node.operand(index);
  if (node.rank(value) > 1 ||
      (node.rank(value) == 1 && node.shape(value)[0] != 1))
    return node.fail("input " + Twine(index) +
                     ", a scale or zero point, is not one number");
  return node.reshape(value, ArrayRef<int64_t>());
}

static bool isByte(Type element) {
  return element.isInteger(8) && !element.isSignedInteger();
}

/// Fails unless \p zeroPoint, which may be null, has elements of \p element.
static void checkZeroPoint(NodeContext &node, Value zeroPoint, Type element) {
  if (zeroPoint && node.element(zeroPoint) != element)
    node.fail("a zero point has another type than what it is the zero of");
}

/// Elements, scale and zero point: inputs \p first and the next two. The scale
/// and zero point are scalars if \p areScalars, else may be per axis.
static QuantizedValue quantizedAt(NodeContext &node, int64_t first,
                                  bool areScalars = true) {
  QuantizedValue given;
  given.elements = needed(node, first);
  if (areScalars) {
    given.scale = node.has(first + 1) ? scalarOperand(node, first + 1)
                                      : needed(node, first + 1);
    given.zeroPoint = scalarOperand(node, first + 2);
  } else {
    given.scale = needed(node, first + 1);
    given.zeroPoint = node.has(first + 2) ? node.operand(first + 2) : Value();
  }
  if (given.elements && !isByte(node.element(given.elements)))
    node.fail("input " + Twine(first) + " is not of u8 or i8");
  if (given.elements)
    checkZeroPoint(node, given.zeroPoint, node.element(given.elements));
  return given;
}

static Value dequantized(NodeContext &node, const QuantizedValue &given) {
  return given.elements && given.scale
             ? dequantize(node, given.elements, given.scale, given.zeroPoint, 0,
                          0)
             : Value();
}

/// Quantises \p numbers to type \p element, with the scale in input \p first
/// and the zero point in the next.
static Value quantizedBy(NodeContext &node, Value numbers, int64_t first,
                         Type element) {
  Value scale =
      node.has(first) ? scalarOperand(node, first) : needed(node, first);
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
    const int64_t rank = node.rank(x.elements);
    const bool isLast = node.getBool("channels_last", false);
    if (rank < 3)
      return node.fail("the input is not of a batch, channels and spatial "
                       "dimensions");
    Ints first = {0, rank - 1}, last = {0};
    for (int64_t i = 1; i < rank - 1; ++i) {
      first.push_back(i);
      last.push_back(i + 1);
    }
    last.push_back(1);
    if (isLast)
      x.elements = node.transpose(x.elements, first);
    Value pooled = pool(node, dequantized(node, x));
    return pooled && isLast ? node.transpose(pooled, last) : pooled;
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

/// The i32 matmul of two integer tensors; the right one may have a zero point
/// per column.
static Value integerMatmul(NodeContext &node, const QuantizedValue &lhs,
                           const QuantizedValue &rhs) {
  if (node.failed())
    return {};
  return matmul(
      node, centred(node, lhs.elements, lhs.zeroPoint, 0),
      centred(node, rhs.elements, rhs.zeroPoint, node.rank(rhs.elements) - 1));
}

/// Dequantises an i32 accumulator to the scales' type; narrow floats cannot
/// represent the accumulator itself.
static Value scaledSum(NodeContext &node, Value sum, Value lhs, Value rhs) {
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

/// Input \p elements with inputs \p scale and \p zeroPoint, which may be
/// absent, along its last dimension.
static QuantizedValue weightAt(NodeContext &node, int64_t elements,
                               int64_t scale, int64_t zeroPoint) {
  QuantizedValue weight{needed(node, elements), needed(node, scale), {}};
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
  QuantizedValue lhs{needed(node, 0), scalarOperand(node, 2),
                     scalarOperand(node, 4)};
  const QuantizedValue rhs = weightAt(node, 1, 3, 5);
  if (!node.has(2))
    needed(node, 2);
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

//===----------------------------------------------------------------------===//
// Low-bit weights
//===----------------------------------------------------------------------===//

/// Unpacks the bytes \p packed along their last dimension to elements of
/// \p bits bits, the lowest bits first.
static Value unpacked(NodeContext &node, Value packed, int64_t bits) {
  if (bits == 8 || !packed)
    return packed;
  const int64_t rank = node.rank(packed);
  Type byte = node.element(packed);
  Values pieces;
  for (int64_t shift = 0; shift < 8; shift += bits)
    pieces.push_back(node.unsqueeze(
        node.binary<stablehlo::AndOp>(
            node.binary<stablehlo::ShiftRightLogicalOp>(
                packed, node.scalar(byte, static_cast<double>(shift))),
            node.scalar(byte, static_cast<double>((1 << bits) - 1))),
        {rank}));
  if (llvm::is_contained(pieces, Value()))
    return {};
  Ints shape(node.shape(packed));
  shape.back() *= 8 / bits;
  return node.reshape(node.concatenate(pieces, rank), shape);
}

namespace {
/// The dimensions of a MatMulNBits.
struct WeightBlocks {
  int64_t columns, sums, bits, size;
  int64_t count() const { return llvm::divideCeil(sums, size); }
  int64_t bytes(int64_t elements) const {
    return llvm::divideCeil(elements * bits, 8);
  }
};
} // namespace

/// \p value in the shape \p shape, if it has as many elements.
static Value inShape(NodeContext &node, Value value, ArrayRef<int64_t> shape,
                     StringRef name) {
  if (!node.isStatic(value))
    return node.unsupported("the shape of " + name + " is not known");
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  if (node.type(value).getNumElements() != count)
    return node.fail(name + " has " + Twine(node.type(value).getNumElements()) +
                     " elements instead of " + Twine(count));
  return node.reshape(value, shape);
}

/// Zero points [columns, blocks] in \p element: packed like the weights,
/// unpacked in that type, or by default the middle of the range.
static Value zeroPointsOf(NodeContext &node, const WeightBlocks &blocks,
                          Type element) {
  if (!node.has(3))
    return node.scalar(element, static_cast<double>(1 << (blocks.bits - 1)));
  Value zero = node.operand(3);
  if (node.element(zero) == element)
    return inShape(node, zero, {blocks.columns, blocks.count()}, "zero_points");
  if (!node.element(zero).isUnsignedInteger(8))
    return node.fail("zero_points are neither of u8 nor of A's type");
  Value packed =
      inShape(node, zero, {blocks.columns, blocks.bytes(blocks.count())},
              "zero_points");
  Value whole = unpacked(node, packed, blocks.bits);
  return whole ? node.cast(node.sliceAxis(whole, 1, 0, blocks.count()), element)
               : Value();
}

/// Repeats per-block elements for each element of the block.
static Value overBlocks(NodeContext &node, Value value,
                        const WeightBlocks &blocks) {
  if (!value || node.rank(value) == 0)
    return value;
  Value repeated = node.broadcastInDim(
      value, Dims{blocks.columns, blocks.count(), blocks.size}, {0, 1});
  return repeated ? node.reshape(repeated, Ints{blocks.columns,
                                                blocks.count() * blocks.size})
                  : Value();
}

static std::optional<WeightBlocks> blocksOf(NodeContext &node) {
  for (StringRef name : {"K", "N", "block_size"})
    if (!node.hasAttribute(name))
      return node.fail("attribute '" + name + "' is missing");
  const WeightBlocks blocks{node.getInt("N", 0), node.getInt("K", 0),
                            node.getInt("bits", 4),
                            node.getInt("block_size", 0)};
  constexpr int64_t most = int64_t(1) << 31;
  if (blocks.columns < 1 || blocks.sums < 1 || blocks.columns > most ||
      blocks.sums > most)
    return node.fail("K or N is not a size");
  if (!llvm::is_contained({2, 4, 8}, blocks.bits))
    return node.unsupported("weights of " + Twine(blocks.bits) + " bits");
  if (blocks.size < 16 || blocks.size > most ||
      !llvm::isPowerOf2_64(blocks.size))
    return node.fail("block_size is not a power of 2 from 16 on");
  return blocks;
}

/// The block of each index along K, from g_idx; null if blocks are contiguous.
/// Padding after K has no effect.
static Value blockIndices(NodeContext &node, const WeightBlocks &blocks) {
  if (!node.has(4))
    return {};
  Value given = node.operand(4);
  if (!node.element(given).isInteger(32))
    return node.fail("g_idx is not of i32");
  if (!node.isStatic(given))
    return node.unsupported("the shape of g_idx is not known");
  const int64_t size = node.type(given).getNumElements();
  if (node.rank(given) != 1 ||
      (size != blocks.sums && size != blocks.count() * blocks.size))
    return node.fail("g_idx is not one number for each of K");
  return node.sliceAxis(given, 0, 0, blocks.sums);
}

/// The permutation of K that sorts indices by block; nothing if a block does
/// not have its number of elements, or if g_idx is not known.
static std::optional<Ints> orderOfBlocks(NodeContext &node, Value indices,
                                         const WeightBlocks &blocks) {
  std::optional<Ints> known = node.knownIntegers(indices);
  if (!known)
    return std::nullopt;
  for (int64_t each : *known)
    if (each < 0 || each >= blocks.count())
      return node.fail("g_idx names a block that there is not: " + Twine(each));
  Ints order = llvm::to_vector(llvm::seq<int64_t>(0, blocks.sums));
  llvm::stable_sort(
      order, [&](int64_t a, int64_t b) { return (*known)[a] < (*known)[b]; });
  for (int64_t i = 0; i < blocks.sums; ++i)
    if ((*known)[order[i]] != i / blocks.size)
      return std::nullopt;
  return order;
}

namespace {
/// The operands of a MatMulNBits: data and weights [columns, K], with the
/// scales and zero points of blocks.
struct LowBitMatmul {
  Value data, numbers, scales, zero;
  WeightBlocks blocks;
  /// Whether scales and zero points are per index along K, not per block.
  bool areLookedUp = false;

  /// Permutes K so that blocks are contiguous and weights stay low-bit, or else
  /// looks up each index's scale and zero point.
  void followIndices(NodeContext &node, Value indices);
  /// The dequantised weights, of type \p wide.
  Value weights(NodeContext &node, Type wide) const;
};
} // namespace

void LowBitMatmul::followIndices(NodeContext &node, Value indices) {
  if (!indices || node.failed())
    return;
  std::optional<Ints> order = orderOfBlocks(node, indices, blocks);
  if (node.failed() || (order && llvm::is_sorted(*order)))
    return;
  numbers = node.sliceAxis(numbers, 1, 0, blocks.sums);
  auto take = [&](Value from, Value places, int64_t axis) -> Value {
    return node.op<nn::TakeOp>(from, places, static_cast<uint64_t>(axis));
  };
  if (order) {
    Value places = node.integers(*order);
    data = take(data, places, node.rank(data) - 1);
    numbers = take(numbers, places, 1);
    return;
  }
  areLookedUp = true;
  scales = take(scales, indices, 1);
  if (node.rank(zero) != 0)
    zero = take(zero, indices, 1);
}

Value LowBitMatmul::weights(NodeContext &node, Type wide) const {
  auto spread = [&](Value value) {
    Value cast = node.cast(value, wide);
    return areLookedUp ? cast : overBlocks(node, cast, blocks);
  };
  Value given = numbers;
  // The last block may extend beyond K.
  const int64_t filled = blocks.count() * blocks.size;
  if (!areLookedUp && node.shape(given)[1] != filled)
    given = node.pad(given, 0, {0, 0}, {0, filled - blocks.sums});
  Value weight = node.binary<stablehlo::MulOp>(
      node.binary<stablehlo::SubtractOp>(node.cast(given, wide), spread(zero)),
      spread(scales));
  if (weight && node.shape(weight)[1] != blocks.sums)
    weight = node.sliceAxis(weight, 1, 0, blocks.sums);
  return weight;
}

/// a; the bits of b [N, K], in blocks along K; a scale and a zero point for
/// each block; the block of each index along K; bias. Weights and accumulators
/// are f32, as in ONNX Runtime.
static LogicalResult importMatMulNBits(NodeContext &node) {
  auto blocks = blocksOf(node);
  Value data = node.operand(0), packed = node.operand(1);
  if (!blocks)
    return failure();
  if (!node.isFloat(data) || !node.element(packed).isUnsignedInteger(8))
    return node.fail("A is not of floats or B is not of u8");
  Type element = node.element(data);
  const int64_t count = blocks->count();
  if (node.element(needed(node, 2)) != element)
    return node.fail("scales are not of A's type");
  Type wide = element.isF64() ? element : node.builder().getF32Type();
  Value bytes =
      inShape(node, packed,
              {blocks->columns, count * blocks->bytes(blocks->size)}, "B");
  Value scales =
      inShape(node, needed(node, 2), {blocks->columns, count}, "scales");
  Value zero = zeroPointsOf(node, *blocks, element);
  Value numbers = unpacked(node, bytes, blocks->bits);
  Value indices = blockIndices(node, *blocks);
  if (node.failed())
    return failure();
  LowBitMatmul product{data, numbers, scales, zero, *blocks};
  product.followIndices(node, indices);
  Value weight = node.failed() ? Value() : product.weights(node, wide);
  if (!weight)
    return failure();
  Value sums = matmul(node, node.cast(product.data, wide),
                      node.transpose(weight, {1, 0}));
  if (node.has(5))
    sums =
        node.binary<stablehlo::AddOp>(sums, node.cast(node.operand(5), wide));
  return node.result(sums ? node.cast(sums, element) : Value());
}

llvm::ArrayRef<Operator> runtimeQuantizedOperators() {
  static constexpr StringLiteral domain = "com.microsoft";
  static const Operator table[] = {
      {"DequantizeLinear", domain, 1, importDequantizeLinear, 2, 3, false,
       true},
      {"DynamicQuantizeMatMul", domain, 1, importDynamicQuantizeMatMul, 3, 5,
       false, true},
      {"MatMulIntegerToFloat", domain, 1, importMatMulIntegerToFloat, 4, 7,
       false, true},
      {"MatMulNBits", domain, 1, importMatMulNBits, 3, 6, false, true},
      {"QGemm", domain, 1, importQGemm, 6, 9, false, true},
      {"QLinearAdd", domain, 1, importBinary<stablehlo::AddOp>, 2, 8, false,
       true},
      {"QLinearAveragePool", domain, 1, importQuantizedAveragePool, 2, 5, false,
       true},
      {"QLinearConcat", domain, 1, importQuantizedConcat, 5, anyNumber, false,
       true},
      {"QLinearGlobalAveragePool", domain, 1, importQuantizedGlobalAveragePool,
       5, 5, false, true},
      {"QLinearLeakyRelu", domain, 1, importQuantizedLeakyRelu, 2, 5, false,
       true},
      {"QLinearMul", domain, 1, importBinary<stablehlo::MulOp>, 2, 8, false,
       true},
      {"QLinearSigmoid", domain, 1, importSigmoid, 2, 5, false, true},
      {"QLinearSoftmax", domain, 1, importQuantizedSoftmax, 2, 5, false, true},
      {"QuantizeLinear", domain, 1, importQuantizeLinear, 2, 3, false, true},
  };
  return table;
}

} // namespace sinter::onnx
