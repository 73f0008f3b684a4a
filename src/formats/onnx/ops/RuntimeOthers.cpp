// Operators of ONNX Runtime's domain that fuse nothing: distances, inverses,
// hashes, positions. They are specified in its docs/ContribOperators.md.

#include "formats/import/Building.h"
#include "formats/import/Indexing.h"
#include "formats/import/Products.h"
#include "formats/import/Unique.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Inputs.h"
#include "formats/onnx/ops/RuntimeAttention.h"
#include "formats/onnx/ops/TokenScores.h"

using namespace mlir;

namespace sinter::onnx {

using Direction = stablehlo::ComparisonDirection;

static Value sumOfProducts(NodeContext &node, Value a, Value b, int64_t axis,
                           bool keep = false) {
  return node.reduce<stablehlo::AddOp>(node.binary<stablehlo::MulOp>(a, b),
                                       {axis}, 0, keep);
}

/// The Euclidean distance, or its square, of each row of A [M, N] to each of B
/// [K, N].
static LogicalResult importCDist(NodeContext &node) {
  Value a = node.operand(0), b = node.operand(1);
  const std::string metric = node.getString("metric", "sqeuclidean");
  if (metric != "sqeuclidean" && metric != "euclidean")
    return node.unsupported("metric '" + metric + "'");
  if (node.rank(a) != 2 || node.rank(b) != 2)
    return node.fail("A or B is not a matrix");
  Value apart = node.binary<stablehlo::SubtractOp>(node.unsqueeze(a, {1}),
                                                   node.unsqueeze(b, {0}));
  Value sum = sumOfProducts(node, apart, apart, 2);
  return node.result(metric == "euclidean" ? node.unary<stablehlo::SqrtOp>(sum)
                                           : sum);
}

static LogicalResult importExpandDims(NodeContext &node) {
  auto given = node.knownIntegers(node.operand(1));
  if (!given)
    return node.unknown("the axis is known only at run time");
  if (given->size() != 1)
    return node.fail("axis is not one number");
  auto axis = node.axis(given->front(), node.rank(node.operand(0)) + 1);
  return axis ? node.result(node.unsqueeze(node.operand(0), {*axis}))
              : failure();
}

/// The distinct elements of a list in the order of their first occurrences, the
/// index among them of each of its elements, how often each occurs.
static LogicalResult importRuntimeUnique(NodeContext &node) {
  if (node.rank(node.operand(0)) != 1)
    return node.fail("the input is no list");
  auto found = uniqueSlices(node, node.operand(0), std::nullopt,
                            /*isSorted=*/false);
  return found ? node.results({found->slices, found->inverse, found->counts})
               : failure();
}

/// Whether all elements of all inputs are finite; with isinf_only only
/// infinities count, with isnan_only only NaN.
static LogicalResult importIsAllFinite(NodeContext &node) {
  const bool infinities = node.getBool("isinf_only", false),
             nans = node.getBool("isnan_only", false);
  if (infinities && nans)
    return node.fail("attributes 'isinf_only' and 'isnan_only' are both set");
  Value all = node.scalar(node.i1(), 1);
  for (Value x : node.operands()) {
    Value isNumber = node.compare(x, x, Direction::EQ);
    Value isFinite = node.unary<stablehlo::IsFiniteOp>(x);
    if (infinities)
      isFinite = node.binary<stablehlo::OrOp>(
          isFinite, node.unary<stablehlo::NotOp>(isNumber));
    Value good = nans ? isNumber : isFinite;
    Ints axes = llvm::to_vector(llvm::seq<int64_t>(0, node.rank(x)));
    all = node.binary<stablehlo::AndOp>(
        all, node.reduce<stablehlo::AndOp>(good, axes, 1, false));
  }
  return node.result(all);
}

//===----------------------------------------------------------------------===//
// Inverses
//===----------------------------------------------------------------------===//

namespace {
/// A matrix beside the identity, [..., n, 2 n], and its elimination by Gauss
/// and Jordan with the greatest pivots.
struct Elimination {
  NodeContext &node;
  int64_t rank, size;
  Value matrix;

  /// The number of the row, [n, 1].
  Value rows() const {
    return formats::iota(node, Dims{size, 1}, 0, node.builder().getI32Type());
  }
  Value index(int64_t value) const {
    return node.scalar(node.builder().getI32Type(), static_cast<double>(value));
  }
  /// The row of the greatest element of \p column [..., n, 1] from row \p first
  /// on: [..., 1, 1].
  Value pivotRow(Value column, int64_t first) const {
    Type element = node.element(column);
    Value size = formats::select(
        node, node.compare(rows(), index(first), Direction::LT),
        node.scalar(element, -1), node.unary<stablehlo::AbsOp>(column));
    Value most = node.reduce<stablehlo::MaxOp>(size, {rank - 2}, -1, true);
    Value candidate =
        formats::select(node, node.compare(size, most, Direction::GE), rows(),
                        index(this->size - 1));
    return node.reduce<stablehlo::MinOp>(
        candidate, {rank - 2}, static_cast<double>(this->size - 1), true);
  }
  void eliminate(int64_t step) {
    Value column = node.sliceAxis(matrix, rank - 1, step, step + 1);
    Value isPivot = node.compare(rows(), pivotRow(column, step), Direction::EQ);
    Value isStep = node.compare(rows(), index(step), Direction::EQ);
    Value zero = node.scalar(node.element(matrix), 0);
    Value pivot = node.reduce<stablehlo::AddOp>(
        formats::select(node, isPivot, matrix, zero), {rank - 2}, 0, true);
    Value replaced = node.sliceAxis(matrix, rank - 2, step, step + 1);
    Value swapped = formats::select(
        node, isStep, pivot, formats::select(node, isPivot, replaced, matrix));
    Value row = node.binary<stablehlo::DivOp>(
        pivot, node.sliceAxis(pivot, rank - 1, step, step + 1));
    Value factor = node.sliceAxis(swapped, rank - 1, step, step + 1);
    Value rest = node.binary<stablehlo::SubtractOp>(
        swapped, node.binary<stablehlo::MulOp>(factor, row));
    matrix = formats::select(node, isStep, row, rest);
  }
};
} // namespace

/// The inverse of each matrix [..., n, n].
static LogicalResult importInverse(NodeContext &node) {
  constexpr int64_t largest = 32;
  Value x = formats::widened(node, node.operand(0));
  const int64_t rank = node.rank(x);
  if (rank < 2)
    return node.fail("the input is no matrix");
  const int64_t size = node.size(x, rank - 1);
  if (size != node.size(x, rank - 2))
    return node.fail("the matrices are not square");
  if (ShapedType::isDynamic(size) || size < 1 || size > largest)
    return node.unsupported("matrices of more than " + Twine(largest) +
                            " rows, or of unknown size");
  Elimination elimination{node, rank, size, {}};
  Value isDiagonal = node.compare(
      elimination.rows(),
      formats::iota(node, Dims{1, size}, 1, node.builder().getI32Type()),
      Direction::EQ);
  Value identity =
      formats::select(node, isDiagonal, node.scalar(node.element(x), 1),
                      node.scalar(node.element(x), 0));
  Dims shape = node.dims(x);
  Ints last = {rank - 2, rank - 1};
  elimination.matrix = node.concatenate(
      {x, node.broadcastInDim(identity, shape, last)}, rank - 1);
  for (int64_t step = 0; step < size && !node.failed(); ++step)
    elimination.eliminate(step);
  return node.result(
      node.cast(node.sliceAxis(elimination.matrix, rank - 1, size, 2 * size),
                node.element(node.operand(0))));
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

/// Scores [B, V] with -inf for each token that would end an n-gram which is in
/// the ids [B, S] already.
static LogicalResult importNGramRepeatBlock(NodeContext &node) {
  Value ids = node.operand(0), scores = node.operand(1);
  const int64_t size = node.getInt("ngram_size", 0);
  if (size < 1 || size > largestNGram)
    return node.fail("attribute 'ngram_size' is not from 1 to " +
                     Twine(largestNGram));
  if (node.rank(ids) != 2 || node.rank(scores) != 2)
    return node.fail("the ids or scores are not [batch, ...]");
  const int64_t length = node.size(ids, 1);
  if (ShapedType::isDynamic(length))
    return node.unknown("the number of ids is known only at run time");
  return node.result(limitRepeats(
      node, scores, ids, node.scalar(node.i64(), static_cast<double>(length)),
      size, -std::numeric_limits<double>::infinity()));
}

namespace {
/// MurmurHash3 for 32 bits (Austin Appleby, public domain) of whole words.
struct MurmurHash {
  NodeContext &node;
  Type word;

  Value number(uint32_t value) const { return node.scalar(word, value); }
  Value times(Value x, uint32_t factor) const {
    return node.binary<stablehlo::MulOp>(x, number(factor));
  }
  Value exclusive(Value a, Value b) const {
    return node.binary<stablehlo::XorOp>(a, b);
  }
  Value shifted(Value x, int64_t bits) const {
    return node.binary<stablehlo::ShiftRightLogicalOp>(
        x, number(static_cast<uint32_t>(bits)));
  }
  Value rotated(Value x, int64_t bits) const {
    return node.binary<stablehlo::OrOp>(
        node.binary<stablehlo::ShiftLeftOp>(
            x, number(static_cast<uint32_t>(bits))),
        shifted(x, 32 - bits));
  }
  Value mixed(Value hash, Value block) const {
    Value k = times(rotated(times(block, 0xcc9e2d51), 15), 0x1b873593);
    Value h = times(rotated(exclusive(hash, k), 13), 5);
    return node.binary<stablehlo::AddOp>(h, number(0xe6546b64));
  }
  Value finished(Value hash, uint32_t bytes) const {
    Value h = exclusive(hash, number(bytes));
    h = times(exclusive(h, shifted(h, 16)), 0x85ebca6b);
    h = times(exclusive(h, shifted(h, 13)), 0xc2b2ae35);
    return exclusive(h, shifted(h, 16));
  }
};
} // namespace

/// The hash of the bytes of each element.
static LogicalResult importMurmurHash3(NodeContext &node) {
  Value x = node.operand(0);
  Type given = node.element(x);
  if (!given.isIntOrFloat() || given.getIntOrFloatBitWidth() % 32 != 0)
    return node.unsupported("elements that are not of 32 or 64 bits");
  Type word = node.builder().getIntegerType(32, false);
  const int64_t words = given.getIntOrFloatBitWidth() / 32;
  Ints shape(node.shape(x));
  if (words > 1)
    shape.push_back(words);
  Value bits =
      node.typed<stablehlo::BitcastConvertOp>(node.tensorType(shape, word), x);
  const MurmurHash murmur{node, word};
  Value hash = murmur.number(static_cast<uint32_t>(node.getInt("seed", 0)));
  for (int64_t i = 0; i < words; ++i) {
    Value block = bits;
    if (words > 1)
      block = node.squeeze(node.sliceAxis(bits, node.rank(x), i, i + 1),
                           {node.rank(x)});
    hash = murmur.mixed(hash, block);
  }
  hash = murmur.finished(hash, static_cast<uint32_t>(4 * words));
  if (node.getBool("positive", true) || !hash)
    return node.result(hash);
  return node.result(node.typed<stablehlo::BitcastConvertOp>(
      node.type(hash).clone(node.builder().getI32Type()), hash));
}

//===----------------------------------------------------------------------===//
// Relative positions
//===----------------------------------------------------------------------===//

/// T5's bucket of each distance \p apart, key minus query, of i64: half of the
/// buckets of a direction are for the nearest, the others grow with the
/// logarithm, up to \p most.
static Value bucketOf(NodeContext &node, Value apart, int64_t buckets,
                      int64_t most, bool isBoth) {
  Type index = node.i64();
  auto number = [&](int64_t value) {
    return node.scalar(index, static_cast<double>(value));
  };
  Value base = number(0);
  Value distance = node.unary<stablehlo::NegOp>(apart);
  if (isBoth) {
    buckets /= 2;
    base = formats::select(node, node.compare(apart, number(0), Direction::GT),
                           number(buckets), number(0));
    distance = node.unary<stablehlo::AbsOp>(apart);
  } else {
    distance = node.binary<stablehlo::MaxOp>(distance, number(0));
  }
  const int64_t near = buckets / 2;
  Type f32 = node.f32();
  Value ratio = node.binary<stablehlo::DivOp>(
      node.cast(node.binary<stablehlo::MaxOp>(distance, number(1)), f32),
      node.scalar(f32, static_cast<double>(near)));
  const double step =
      static_cast<double>(buckets - near) /
      std::log(static_cast<double>(most) / static_cast<double>(near));
  Value far = node.binary<stablehlo::AddOp>(
      node.cast(
          node.binary<stablehlo::MulOp>(node.unary<stablehlo::LogOp>(ratio),
                                        node.scalar(f32, step)),
          index),
      number(near));
  far = node.binary<stablehlo::MinOp>(far, number(buckets - 1));
  Value isNear = node.compare(distance, number(near), Direction::LT);
  return node.binary<stablehlo::AddOp>(
      base, formats::select(node, isNear, distance, far));
}

/// A table [buckets, heads], the lengths of query and key: [1, heads, query,
/// key].
static LogicalResult importRelativePositionBias(NodeContext &node) {
  Value table = node.operand(0);
  if (node.rank(table) != 2 || ShapedType::isDynamic(node.size(table, 0)))
    return node.fail("the table is no matrix of known size");
  const int64_t buckets = node.size(table, 0),
                most = node.getInt("max_distance", 0);
  const bool isBoth = node.getBool("is_bidirectional", false);
  const int64_t near = buckets / (isBoth ? 4 : 2);
  if (near < 1 || most <= near || most > (int64_t(1) << 31))
    return node.fail("max_distance or the number of buckets is out of range");
  const Dim query = sizeOf(node, node.operand(1)),
            key = sizeOf(node, node.operand(2));
  Value apart = node.binary<stablehlo::SubtractOp>(
      formats::iota(node, Dims{1, key}, 1, node.i64()),
      formats::iota(node, Dims{query, 1}, 0, node.i64()));
  Value rows = node.op<nn::TakeOp>(
      table, bucketOf(node, apart, buckets, most, isBoth), uint64_t(0));
  return node.result(node.unsqueeze(node.transpose(rows, {2, 0, 1}), {0}));
}

/// Query [B, S, N * D], its bias, positions [1, N, S, S], weight [D, U], its
/// bias, eco_a [1, N, 1, 1]: (u * (r * eco_a - 1) + 2) * positions, where u and
/// r are the sigmoids of the sums of both halves of query . weight + bias.
static LogicalResult importGatedRelativePositionBias(NodeContext &node) {
  auto heads = headsOf(node, "num_heads");
  if (node.has(6))
    return node.unsupported("packed tokens");
  Value query = node.binary<stablehlo::AddOp>(node.operand(0), node.operand(1));
  if (!heads || !query)
    return failure();
  const Type wide = formats::sumElement(node, query);
  auto input = [&](int64_t index) {
    return node.cast(node.operand(index), wide);
  };
  Value rows = node.cast(formats::splitHeads(node, query, *heads), wide);
  Value sums = node.binary<stablehlo::AddOp>(
      formats::matmul(node, rows, input(3)), input(4));
  if (!sums)
    return failure();
  if (node.rank(sums) != 4)
    return node.fail("the weight is no matrix, or its bias no vector");
  const int64_t width = node.size(sums, 3);
  if (ShapedType::isDynamic(width) || width % 2 != 0)
    return node.fail("the weight has an odd number of columns");
  auto gate = [&](int64_t start) {
    Value half = node.sliceAxis(sums, 3, start, start + width / 2);
    return node.unary<stablehlo::LogisticOp>(
        node.reduce<stablehlo::AddOp>(half, {3}, 0, true));
  };
  Value inner = node.binary<stablehlo::SubtractOp>(
      node.binary<stablehlo::MulOp>(gate(width / 2), input(5)),
      node.scalar(wide, 1));
  Value factor = node.binary<stablehlo::AddOp>(
      node.binary<stablehlo::MulOp>(gate(0), inner), node.scalar(wide, 2));
  Value result = node.binary<stablehlo::MulOp>(factor, input(2));
  return node.result(node.cast(result, node.element(query)));
}

llvm::ArrayRef<Operator> runtimeOtherOperators() {
  static const Operator table[] = {
      {"CDist", runtimeDomain, 1, importCDist, 2, 2, false, true},
      {"ExpandDims", runtimeDomain, 1, importExpandDims, 2, 2, false, true},
      {"GatedRelativePositionBias", runtimeDomain, 1,
       importGatedRelativePositionBias, 6, 7, false, true},
      {"Inverse", runtimeDomain, 1, importInverse, 1, 1, false, true},
      {"IsAllFinite", runtimeDomain, 1, importIsAllFinite, 1, anyNumber, false,
       true},
      {"MurmurHash3", runtimeDomain, 1, importMurmurHash3, 1, 1, false, true},
      {"NGramRepeatBlock", runtimeDomain, 1, importNGramRepeatBlock, 2, 2,
       false, true},
      {"RelativePositionBias", runtimeDomain, 1, importRelativePositionBias, 3,
       3, false, true},
      {"Unique", runtimeDomain, 1, importRuntimeUnique, 1, 1, false, true},
  };
  return table;
}

} // namespace sinter::onnx
