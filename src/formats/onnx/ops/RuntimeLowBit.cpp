// Operators of ONNX Runtime with weights of few bits, quantised in blocks. They
// are specified in its docs/ContribOperators.md.

#include "formats/import/Products.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/RuntimeQuantized.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::onnx {

Value unpacked(NodeContext &node, Value packed, int64_t bits) {
  if (bits == 8 || !packed)
    return packed;
  const int64_t rank = node.rank(packed);
  if (rank == 0)
    return node.fail("packed elements are a scalar");
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
  Dims sizes = node.dims(packed);
  if (!sizes.back().isStatic())
    return node.unknown("the last dimension is unknown");
  sizes.back().size *= 8 / bits;
  return node.reshape(node.concatenate(pieces, rank), sizes);
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
  const auto count = elementCount(shape);
  if (!count)
    return node.fail(name + " would have too many elements");
  if (node.type(value).getNumElements() != *count)
    return node.fail(name + " has " + Twine(node.type(value).getNumElements()) +
                     " elements instead of " + Twine(*count));
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
  Value weight = dequantize(node, numbers, node.cast(scales, wide), zero, 1,
                            areLookedUp ? 1 : blocks.size);
  // The last block may extend beyond K.
  return weight && node.size(weight, 1) != blocks.sums
             ? node.sliceAxis(weight, 1, 0, blocks.sums)
             : weight;
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
  if (node.element(requiredInput(node, 2)) != element)
    return node.fail("scales are not of A's type");
  Type wide = element.isF64() ? element : node.builder().getF32Type();
  Value bytes =
      inShape(node, packed,
              {blocks->columns, count * blocks->bytes(blocks->size)}, "B");
  Value scales =
      inShape(node, requiredInput(node, 2), {blocks->columns, count}, "scales");
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

//===----------------------------------------------------------------------===//
// Rows of low-bit tables
//===----------------------------------------------------------------------===//

/// Rows of data, which is quantised in blocks along quantize_axis, as floats:
/// data; indices; scales and zero points of blocks.
static LogicalResult importGatherBlockQuantized(NodeContext &node) {
  Value data = node.operand(0), indices = node.operand(1),
        scales = node.operand(2);
  const int64_t rank = node.rank(data), bits = node.getInt("bits", 4),
                block = node.getInt("block_size", 128);
  auto gathered = node.axis(node.getInt("gather_axis", 0), rank),
       quantized = node.axis(node.getInt("quantize_axis", 1), rank);
  if (!gathered || !quantized || !indices || !scales)
    return failure();
  if (block < 16 || block > (int64_t(1) << 31) || !llvm::isPowerOf2_64(block))
    return node.fail("block_size is not a power of 2 from 16 on");
  if (*gathered == *quantized)
    return node.unsupported("blocks along the dimension of the indices");
  if (node.rank(scales) != rank ||
      (node.has(3) && node.rank(node.operand(3)) != rank))
    return node.fail("the scales or zero points have not the dimensions of the "
                     "data");
  const bool isPacked = node.element(data).isUnsignedInteger(8);
  if (isPacked && !llvm::is_contained({2, 4, 8}, bits))
    return node.unsupported("elements of " + Twine(bits) + " bits");
  if (isPacked && *gathered == rank - 1)
    return node.fail("bytes are not gathered along their last dimension");
  auto rowsOf = [&](Value table) -> Value {
    return node.op<nn::TakeOp>(table, indices,
                               static_cast<uint64_t>(*gathered));
  };
  Value rows = rowsOf(data), scale = rowsOf(scales), zero;
  if (node.has(3))
    zero = rowsOf(node.operand(3));
  const int64_t axis =
      *quantized > *gathered ? *quantized + node.rank(indices) - 1 : *quantized;
  if (isPacked) {
    rows = unpacked(node, rows, bits);
    if (zero) {
      zero = unpacked(node, zero, bits);
      const int64_t count = node.size(scale, -1);
      if (ShapedType::isDynamic(count))
        return node.unknown("the number of blocks is unknown");
      zero = node.sliceAxis(zero, -1, 0, count);
    } else {
      zero = node.scalar(node.element(scale), 1 << (bits - 1));
    }
  }
  if (node.failed())
    return failure();
  return node.result(dequantize(node, rows, scale, zero, axis, block));
}

llvm::ArrayRef<Operator> runtimeLowBitOperators() {
  static const Operator table[] = {
      {"GatherBlockQuantized", runtimeDomain, 1, importGatherBlockQuantized, 3,
       4, false, true},
      {"MatMulNBits", runtimeDomain, 1, importMatMulNBits, 3, 6, false, true},
  };
  return table;
}

} // namespace sinter::onnx
