// Attention and the rotation of its queries and keys.

#include "formats/import/Attention.h"
#include "formats/import/Building.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Bodies.h"
#include "graph/stablehlo/Sums.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace sinter::onnx {

using formats::AttentionParts;
using formats::AttentionScores;
using formats::AttentionWindow;

namespace {
/// The inputs of an Attention with heads apart and the past before the keys.
struct Operands {
  Value query, key, value;
  /// The keys before those of this node.
  Dim past = 0;
  /// The keys of this node.
  Dim given = 0;
  /// Whether inputs and output are [N, L, heads * D].
  bool areJoined = false;
};
} // namespace

static std::optional<Operands> readOperands(NodeContext &node) {
  Operands all{node.operand(0), node.operand(1), node.operand(2)};
  if (node.failed())
    return std::nullopt;
  const int64_t rank = node.rank(all.query);
  if (rank != 3 && rank != 4)
    return node.fail("the query has not three or four dimensions");
  for (Value each : {all.key, all.value})
    if (node.rank(each) != rank)
      return node.fail("query, key and value differ in rank");
  if (node.has(4) != node.has(5))
    return node.fail("there is only one of past_key and past_value");
  if (node.has(6) && (node.has(4) || node.wants(1) || node.wants(2)))
    return node.fail("nonpad_kv_seqlen is given beside past or present keys");
  all.areJoined = rank == 3;
  if (all.areJoined) {
    const int64_t heads = node.getInt("kv_num_heads", 0);
    all.query =
        formats::splitHeads(node, all.query, node.getInt("q_num_heads", 0));
    all.key = formats::splitHeads(node, all.key, heads);
    all.value = formats::splitHeads(node, all.value, heads);
  } else if (node.version() >= 25 && (node.hasAttribute("q_num_heads") ||
                                      node.hasAttribute("kv_num_heads"))) {
    return node.fail("a number of heads is given for inputs of four "
                     "dimensions");
  }
  if (node.failed())
    return std::nullopt;
  all.given = node.dim(all.key, 2);
  if (node.has(4)) {
    all.key = formats::concatenatePast(node, node.operand(4), all.key);
    all.value = formats::concatenatePast(node, node.operand(5), all.value);
    all.past = node.dim(node.operand(4), 2);
  }
  if (node.failed())
    return std::nullopt;
  return all;
}

/// The mask with a value for each key: where it has fewer, those left out are
/// not seen.
static Value readMask(NodeContext &node, Value key) {
  Value mask = node.operand(3);
  if (!mask)
    return {};
  if (node.rank(mask) < 1 || node.rank(mask) > 4)
    return node.fail("the mask has not one to four dimensions");
  const int64_t last = node.rank(mask) - 1;
  if (node.version() < 24 || node.known().sameSize(mask, last, key, 2))
    return mask;
  const Dim length = node.dim(mask, last), keys = node.dim(key, 2);
  const double blank =
      node.isBool(mask) ? 0 : -std::numeric_limits<double>::infinity();
  Ints none(last + 1, 0);
  if (length.isStatic() && keys.isStatic()) {
    Ints high(none);
    high[last] = keys.size - length.size;
    return high[last] < 0 ? node.fail("the mask is longer than the keys")
                          : node.pad(mask, blank, none, high);
  }
  Dims high(last + 1, Dim(0));
  high[last] = Dim(
      ShapedType::kDynamic,
      node.op<stablehlo::SubtractOp>(node.extents(keys), node.extents(length)));
  Ints shape(node.shape(mask));
  shape[last] = keys.size;
  return node.typed<stablehlo::DynamicPadOp>(
      node.tensorType(shape, node.element(mask)), mask,
      node.scalar(node.element(mask), blank), node.integers(none),
      node.extents(high), node.integers(none));
}

/// The position of the first query, as what is added to those of all: the
/// length of the past, or how many keys there are before the queries.
static Value readOffset(NodeContext &node, const Operands &all) {
  if (node.has(6)) {
    Value counts =
        node.unsqueeze(node.cast(node.operand(6), node.i64()), {1, 2, 3});
    return node.binary<stablehlo::SubtractOp>(
        counts, formats::sizeScalar(node, node.dim(all.query, 2), node.i64()));
  }
  if (all.past.isStatic() && all.past.size == 0)
    return {};
  return node.alignRank(formats::sizeScalar(node, all.past, node.i64()), 4);
}

/// What each query sees by its position, in \p parts.
static void readPositions(NodeContext &node, const Operands &all,
                          AttentionParts &parts) {
  AttentionWindow window;
  if (node.version() >= 25) {
    window.left = node.getInt("left_window_size", -1);
    window.right = node.getInt("right_window_size", -1);
    if (window.left < -1 || window.right < -1) {
      node.fail("a window is smaller than -1");
      return;
    }
  }
  const int64_t isCausal = node.getInt("is_causal", 0);
  if (isCausal == 1)
    window.right = 0;
  if (!window.isBounded())
    return;
  const Dim queries = node.dim(all.query, 2), keys = node.dim(all.key, 2);
  window.offset = readOffset(node, all);
  const bool isLast = !node.has(6) && queries.isStatic() &&
                      all.given.isStatic() && queries.size == 1 &&
                      all.given.size == 1;
  // One query, whose key is the last one, sees all keys up to it.
  if (window.right >= 0 && isLast)
    window.right = -1;
  if (window.left < 0 && window.right == 0 && !window.offset)
    parts.causal = true;
  else
    parts.allowed = formats::visibleKeys(node, queries, keys, window);
}

/// The type in which the softmax is computed at least.
static Type softmaxType(NodeContext &node) {
  if (!node.hasAttribute("softmax_precision"))
    return {};
  Type type = node.numberType(node.getInt("softmax_precision", 0));
  if (type && !isa<FloatType>(type))
    node.fail("attribute 'softmax_precision' is no floating-point type");
  return type;
}

/// Output 3: the scores at one of four stages.
static void askScores(NodeContext &node, AttentionScores &scores) {
  if (!node.wants(3))
    return;
  const int64_t mode = node.getInt("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) {
    node.fail("attribute 'qk_matmul_output_mode' is not 0 to 3");
    return;
  }
  scores.wantsProduct = mode == 0;
  scores.wantsCapped = mode == 1;
  scores.wantsBiased = mode == 2;
  scores.wantsWeights = mode == 3;
}

static Value scoresOf(const AttentionScores &scores) {
  for (Value each :
       {scores.product, scores.capped, scores.biased, scores.weights})
    if (each)
      return each;
  return {};
}

static std::optional<double> scaleOf(NodeContext &node, Value query) {
  return node.hasAttribute("scale") ? node.getFloat("scale", 1)
                                    : formats::defaultScale(node, query);
}

static LogicalResult importAttention(NodeContext &node) {
  auto all = readOperands(node);
  if (!all)
    return failure();
  auto scale = scaleOf(node, all->query);
  if (!scale)
    return failure();
  AttentionParts parts;
  parts.query = all->query;
  parts.key = all->key;
  parts.value = all->value;
  parts.scale = *scale;
  parts.softcap = node.getFloat("softcap", 0);
  parts.softmaxElement = softmaxType(node);
  readPositions(node, *all, parts);
  auto allow = [&](Value also) {
    parts.allowed = formats::conjunction(node, parts.allowed, also);
  };
  if (node.has(3)) {
    Value mask = readMask(node, all->key);
    if (mask && node.isBool(mask))
      allow(mask);
    else
      parts.bias = mask;
  }
  if (node.has(6)) {
    if (node.rank(node.operand(6)) != 1)
      return node.fail("nonpad_kv_seqlen is no vector");
    allow(formats::firstKeys(node, node.dim(all->key, 2), node.operand(6)));
  }
  AttentionScores scores;
  askScores(node, scores);
  if (node.failed())
    return failure();
  Value result = formats::attend(node, parts, &scores);
  if (all->areJoined)
    result = formats::joinHeads(node, result);
  return node.results({result, all->key, all->value, scoresOf(scores)});
}

//===----------------------------------------------------------------------===//
// FlexAttention
//===----------------------------------------------------------------------===//

/// \p x as the graph in attribute \p name, if there is one, changes it.
static Value modified(NodeContext &node, StringRef name, Value x) {
  if (!x || !node.hasAttribute(name))
    return x;
  const GraphProto *graph = node.getGraph(name);
  if (!graph)
    return {};
  if (graph->input_size() != 1 || graph->output_size() != 1)
    return node.fail("attribute '" + name +
                     "' is no graph of one input and one output");
  auto outputs = node.importer.importGraph(
      *graph, node.frame, {Bound(x)},
      cast<NameLoc>(node.location()).getName().str() + "/" + name.str() + "/");
  if (!outputs)
    return {};
  auto values = tensorsOf(node, *outputs);
  if (!values)
    return {};
  Value changed = values->front();
  if (node.element(changed) != node.element(x) || node.rank(changed) != 4 ||
      failed(verifyCompatibleShape(node.shape(changed), node.shape(x))))
    return node.fail("attribute '" + name +
                     "' changes the shape or the element type");
  return changed;
}

static LogicalResult importFlexAttention(NodeContext &node) {
  Value query = node.operand(0), key = node.operand(1), value = node.operand(2);
  formats::checkHeads(node, query, key, value);
  if (node.failed())
    return failure();
  auto scale = scaleOf(node, query);
  Type element = node.element(value), given = softmaxType(node);
  Type wide = given                         ? given
              : node.element(query).isF64() ? node.element(query)
                                            : node.f32();
  if (!scale || node.failed())
    return failure();
  if (!node.hasAttribute("score_mod") && !node.hasAttribute("prob_mod")) {
    AttentionParts parts;
    parts.query = query;
    parts.key = key;
    parts.value = value;
    parts.scale = *scale;
    parts.softmaxElement = wide;
    return node.result(node.cast(formats::attend(node, parts), element));
  }
  // Narrow scores are rounded once, after the scale.
  Type sums = stablehlo::isNarrowFloat(wide) ? node.f32() : wide;
  Value scores = node.binary<stablehlo::MulOp>(
      formats::productOfHeads(node, node.cast(query, sums),
                              node.cast(key, sums), true, sums),
      node.scalar(sums, *scale));
  scores = modified(node, "score_mod", node.cast(scores, wide));
  Value weights = node.op<nn::SoftmaxOp>(scores, ArrayRef<int64_t>{3});
  weights = modified(node, "prob_mod", weights);
  Value result = formats::productOfHeads(node, weights, node.cast(value, wide),
                                         false, wide);
  return node.result(node.cast(result, element));
}

//===----------------------------------------------------------------------===//
// RotaryEmbedding
//===----------------------------------------------------------------------===//

/// Cosines or sines of each pair's angle: [N, L, R / 2], by positions if there
/// are any, with a dimension for the heads.
static Value anglesOf(NodeContext &node, int64_t input, int64_t headAxis,
                      int64_t rotated) {
  Value table = node.operand(input);
  if (!table)
    return {};
  const bool byPosition = node.has(3);
  if (node.rank(table) != (byPosition ? 2 : 3))
    return node.fail("input " + Twine(input) + " has not " +
                     Twine(byPosition ? 2 : 3) + " dimensions");
  if (byPosition) {
    Value positions = node.operand(3);
    if (node.rank(positions) != 2 ||
        !formats::indicesFit(node, positions, table, 0))
      return node.fail("position_ids has not two dimensions");
    table = node.op<nn::TakeOp>(table, positions, uint64_t(0));
  }
  if (!table)
    return {};
  const int64_t last = node.rank(table) - 1, size = node.size(table, last);
  if (!ShapedType::isDynamic(size) && size < rotated / 2)
    return node.fail("input " + Twine(input) + " has fewer than " +
                     Twine(rotated / 2) + " elements a position");
  if (size != rotated / 2)
    table = node.sliceAxis(table, last, 0, rotated / 2);
  return node.unsqueeze(table, {headAxis});
}

static LogicalResult importRotaryEmbedding(NodeContext &node) {
  Value x = node.operand(0);
  const int64_t rank = node.rank(x);
  if (rank != 3 && rank != 4)
    return node.fail("the input has not three or four dimensions");
  Dims dims = node.dims(x);
  // [N, L, heads, D], or [N, heads, L, D].
  if (rank == 3) {
    const int64_t heads = node.getInt("num_heads", 0), hidden = dims[2].size;
    if (heads < 1)
      return node.fail("the number of heads is not positive");
    if (ShapedType::isDynamic(hidden))
      return node.unknown("the size of the heads is unknown");
    if (hidden % heads != 0)
      return node.fail("the last dimension is no multiple of the number of "
                       "heads");
    x = node.reshape(x,
                     ArrayRef<Dim>({dims[0], dims[1], heads, hidden / heads}));
  }
  const int64_t size = node.size(x, 3);
  int64_t rotated = node.getInt("rotary_embedding_dim", 0);
  if (rotated == 0)
    rotated = size;
  if (ShapedType::isDynamic(rotated))
    return node.unknown("the size of the heads is unknown");
  if (rotated < 0 || rotated % 2 != 0)
    return node.fail("the number of rotated elements is not even");
  const int64_t headAxis = rank == 3 ? 2 : 1;
  Value cosines = anglesOf(node, 1, headAxis, rotated),
        sines = anglesOf(node, 2, headAxis, rotated);
  Value result = formats::rotatePairs(node, x, cosines, sines,
                                      node.getBool("interleaved", false));
  return node.result(rank == 3 ? node.reshape(result, dims) : result);
}

llvm::ArrayRef<Operator> attentionOperators() {
  static const Operator table[] = {
      {"Attention", "", 23, importAttention, 3, 7, false, true},
      {"FlexAttention", "ai.onnx.preview", 1, importFlexAttention, 3, 3, false,
       true},
      {"RotaryEmbedding", "", 23, importRotaryEmbedding, 3, 4, false, true},
  };
  return table;
}

} // namespace sinter::onnx
