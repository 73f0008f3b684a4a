// ONNX Runtime's attentions of decoders, which keep keys and values of all
// tokens so far in a cache, and rotary positions. They are specified in its
// docs/ContribOperators.md.

#include "formats/import/Building.h"
#include "formats/import/SizeArithmetic.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/RuntimeAttention.h"

using namespace mlir;

namespace sinter::onnx {

using formats::AttentionParts;
using formats::AttentionScores;
using formats::joinHeads;
using formats::splitHeads;
using Direction = stablehlo::ComparisonDirection;

//===----------------------------------------------------------------------===//
// Rotary positions
//===----------------------------------------------------------------------===//

/// Rotates \p x [B, N, S, H] by the rows of the caches \p cosines and \p sines
/// [positions, R] at \p positions [B or 1, S].
static Value rotateAt(NodeContext &node, Value x, Value cosines, Value sines,
                      Value positions, bool interleaved) {
  if (!x || !cosines || !sines || !positions)
    return {};
  if (node.rank(cosines) != 2 || node.rank(sines) != 2)
    return node.fail("the cosines or sines are no matrix");
  auto rows = [&](Value cache) {
    return node.unsqueeze(node.op<nn::TakeOp>(cache, positions, uint64_t(0)),
                          {1});
  };
  return formats::rotatePairs(node, x, rows(cosines), rows(sines), interleaved);
}

/// \p start [1] or [B] and the numbers after it, for \p count rows: [1 or B,
/// count].
static Value countedFrom(NodeContext &node, Value start, const Dim &count) {
  return node.binary<stablehlo::AddOp>(
      node.unsqueeze(node.cast(start, node.i64()), {1}),
      formats::iota(node, Dims{1, count}, 1, node.i64()));
}

/// The rows of a cache [positions, R] at positions [3, B, S], of which each
/// column takes the one of \p streams: [B, S, R].
static Value mixedRows(NodeContext &node, Value cache, Value positions,
                       ArrayRef<int64_t> streams) {
  Value rows = node.op<nn::TakeOp>(cache, positions, uint64_t(0)), mixed;
  Value which = node.integers(streams);
  for (int64_t i : {0, 1, 2}) {
    Value own = node.squeeze(node.sliceAxis(rows, 0, i, i + 1), {0});
    Value isOwn = node.compare(
        which, node.scalar(node.i64(), static_cast<double>(i)), Direction::EQ);
    mixed = mixed ? formats::select(node, isOwn, own, mixed) : own;
  }
  return mixed;
}

/// Which of three positions each of \p pairs pairs is rotated by: sections one
/// after the other or, with mrope_layout 1, in turn.
static std::optional<Ints> streamsOf(NodeContext &node, int64_t pairs) {
  const Ints sections = node.getInts("mrope_section");
  if (sections.size() != 3 ||
      !llvm::all_of(sections,
                    [&](int64_t each) { return each >= 0 && each <= pairs; }) ||
      sections[0] + sections[1] + sections[2] != pairs)
    return node.fail("attribute 'mrope_section' is not three sizes of " +
                     Twine(pairs) + " pairs");
  const bool inTurn = node.getInt("mrope_layout", 0) == 1;
  Ints streams(pairs, 0);
  for (int64_t i = 0; i < pairs; ++i)
    if (inTurn)
      streams[i] = i % 3 != 0 && i < 3 * sections[i % 3] ? i % 3 : 0;
    else
      streams[i] = i < sections[0] ? 0 : i < sections[0] + sections[1] ? 1 : 2;
  return streams;
}

/// x [B, S, N * H] or [B, N, S, H]; positions [B, S] or that of the first row
/// or, of several streams, [3, B, S]; cosines; sines.
static LogicalResult importRuntimeRotaryEmbedding(NodeContext &node) {
  Value x = node.operand(0), positions = node.operand(1),
        cosines = node.operand(2), sines = node.operand(3);
  const int64_t rank = node.rank(x),
                width = node.getInt("rotary_embedding_dim", 0);
  const bool isMixed = node.hasAttribute("mrope_section");
  if (rank != 3 && rank != 4)
    return node.fail("the input has not three or four dimensions");
  if (node.rank(cosines) != 2 || node.rank(sines) != 2)
    return node.fail("the cosines or sines are no matrix");
  if (node.getBool("is_packed_batching", false))
    return node.unsupported("packed batches");
  if (const double scale = node.getFloat("scale", 1); scale != 1)
    return node.unsupported("a scale");
  const int64_t pairs = node.size(cosines, 1);
  int64_t heads = node.getInt("num_heads", 0);
  if (ShapedType::isDynamic(pairs))
    return node.unknown("the size of a head is known only at run time");
  if (rank == 3 && (heads == 0 || width == 0)) {
    const int64_t all = node.size(x, 2);
    if (ShapedType::isDynamic(all))
      return node.unknown("the size of a head is known only at run time");
    if (pairs < 1 || all % (2 * pairs) != 0)
      return node.fail(Twine(all) + " elements are no multiple of heads of " +
                       Twine(2 * pairs));
    heads = all / (2 * pairs);
  }
  if (width != 0 && pairs != width / 2)
    return node.fail("the cosines are not for rotary_embedding_dim elements");
  Value apart = rank == 3 ? splitHeads(node, x, heads) : x;
  if (!apart)
    return failure();
  positions = node.cast(positions, node.i64());
  const bool interleaved = node.getBool("interleaved", false);
  Value result;
  if (isMixed) {
    auto streams = streamsOf(node, pairs);
    if (!streams || node.rank(positions) != 3 || node.size(positions, 0) != 3)
      return node.failed()
                 ? failure()
                 : node.fail("position_ids is not [3, batch, length]");
    auto rows = [&](Value cache) {
      return node.unsqueeze(mixedRows(node, cache, positions, *streams), {1});
    };
    result = formats::rotatePairs(node, apart, rows(cosines), rows(sines),
                                  interleaved);
  } else {
    if (node.rank(positions) > 2)
      return node.fail("position_ids has more than two dimensions");
    if (node.rank(positions) < 2)
      positions = countedFrom(node, node.reshape(positions, Ints{1}),
                              node.dim(apart, 2));
    result = rotateAt(node, apart, cosines, sines, positions, interleaved);
  }
  return node.result(rank == 3 ? joinHeads(node, result) : result);
}

//===----------------------------------------------------------------------===//
// The cache
//===----------------------------------------------------------------------===//

namespace {
/// A cache [B, K, P, H] and where the new rows of a node go.
struct Cache {
  NodeContext &node;
  /// The number of new rows of each sequence.
  Dim fresh;
  /// How many rows the cache has after the node.
  Dim rows;
  /// How many rows of each sequence were filled before: i64 [B].
  Value filled;
  /// Whether that is 0 for all, for sure.
  bool isFirst = false;
  /// Whether all rows that were there were filled, for sure.
  bool isFull = false;

  /// \p past with the rows of \p added in their place, zeros after them.
  Value append(Value past, Value added) const;
  /// The rows of \p past and \p added, by their places.
  Value merged(Value past, Value added) const;
};
} // namespace

Value Cache::merged(Value past, Value added) const {
  Value both = node.concatenate({past, added}, 2);
  const int64_t heads = node.size(added, 1), width = node.size(added, 3);
  if (!both)
    return {};
  if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(width))
    return node.unknown("the size of a head is known only at run time");
  Type index = node.i64();
  Value place = formats::iota(node, Dims{1, rows}, 1, index);
  Value from = node.unsqueeze(filled, {1});
  Value behind = node.binary<stablehlo::SubtractOp>(place, from);
  Value before = node.compare(place, from, Direction::LT);
  Value length = formats::sizeScalar(node, node.dim(past, 2), index);
  Value source = formats::select(node, before, place,
                                 node.binary<stablehlo::AddOp>(behind, length));
  auto numbers = stablehlo::GatherDimensionNumbersAttr::get(
      node.context(), /*offsetDims=*/{1, 3}, /*collapsedSliceDims=*/{2},
      /*operandBatchingDims=*/{0}, /*startIndicesBatchingDims=*/{0},
      /*startIndexMap=*/{2}, /*indexVectorDim=*/2);
  Value taken =
      node.op<stablehlo::GatherOp>(both, node.unsqueeze(source, {2}), numbers,
                                   ArrayRef<int64_t>{1, heads, 1, width});
  // What is behind them may be anything in a buffer for more tokens.
  Value isFilled = node.compare(behind, formats::sizeScalar(node, fresh, index),
                                Direction::LT);
  return formats::select(node, node.unsqueeze(isFilled, {1, 3}), taken,
                         node.scalar(node.element(taken), 0));
}

Value Cache::append(Value past, Value added) const {
  if (past && node.rank(past) != 4)
    return node.fail("past keys or values have not four dimensions");
  if (!added || !past || node.size(past, 2) == 0)
    return added;
  if (isFull)
    return node.concatenate({past, added}, 2);
  if (isFirst && rows.isStatic() && fresh.isStatic()) {
    Ints none(4, 0), more(4, 0);
    more[2] = rows.size - fresh.size;
    return node.pad(added, 0, none, more);
  }
  return merged(past, added);
}

/// The cache of past keys \p past (null or [B, K, P, H]) for rows \p added [B,
/// K, S, H]: \p lengths [B] rows of each sequence are filled afterwards, \p
/// total at most. Where all are new, there may be fewer than S.
static Cache cacheOf(NodeContext &node, Value past, Value added, Value lengths,
                     Value total) {
  Cache cache{node, node.dim(added, 2), node.dim(added, 2), {}};
  lengths =
      node.cast(node.reshape(lengths, Dims{node.dim(added, 0)}), node.i64());
  Value zeros = node.binary<stablehlo::SubtractOp>(lengths, lengths);
  if (!past || node.size(past, 2) == 0) {
    cache.isFirst = true;
    cache.filled = zeros;
    return cache;
  }
  const Dim before = node.dim(past, 2), all = sizeOf(node, total);
  auto isFirst = areEqual(all, cache.fresh);
  if (before.isStatic() && all.isStatic())
    cache.rows = std::max(before.size, all.size);
  else
    cache.rows = formats::SizeArithmetic(node).max(all, before);
  cache.isFirst = isFirst.value_or(false);
  cache.isFull = node.size(added, 0) == 1 && all.isStatic() &&
                 before.isStatic() && cache.fresh.isStatic() &&
                 all.size == before.size + cache.fresh.size;
  Value earlier = node.binary<stablehlo::SubtractOp>(
      lengths, formats::sizeScalar(node, cache.fresh, node.i64()));
  if (cache.isFirst) {
    cache.filled = zeros;
  } else if (isFirst) {
    cache.filled = earlier;
  } else {
    Value same = node.compare(
        formats::sizeScalar(node, all, node.i64()),
        formats::sizeScalar(node, cache.fresh, node.i64()), Direction::EQ);
    cache.filled = formats::select(node, same, zeros, earlier);
  }
  return cache;
}

//===----------------------------------------------------------------------===//
// Query, keys and values
//===----------------------------------------------------------------------===//

namespace {
/// The new rows of a node, [B, N, S, H] and [B, K, S, H] each.
struct FreshRows {
  Value query, key, value;
};
} // namespace

/// Inputs 0 to 2, or input 0 alone, which then has all.
static std::optional<FreshRows> readFreshRows(NodeContext &node) {
  auto heads = headsOf(node, "num_heads"),
       fewer = headsOf(node, "kv_num_heads");
  if (!heads || !fewer)
    return std::nullopt;
  if (*heads % *fewer != 0)
    return node.fail("num_heads is no multiple of kv_num_heads");
  if (node.has(1) != node.has(2))
    return node.fail("key or value is missing");
  Value query = node.operand(0);
  FreshRows rows;
  if (node.has(1)) {
    rows = {splitHeads(node, query, *heads),
            splitHeads(node, node.operand(1), *fewer),
            splitHeads(node, node.operand(2), *fewer)};
  } else if (Value all = splitHeads(node, query, *heads + 2 * *fewer)) {
    auto part = [&](int64_t first, int64_t count) {
      return node.sliceAxis(all, 1, first, first + count);
    };
    rows = {part(0, *heads), part(*heads, *fewer),
            part(*heads + *fewer, *fewer)};
  }
  return node.failed() ? std::nullopt : std::optional(rows);
}

/// Root-mean-square norms of the rows of \p x, with input \p weight.
static void normRows(NodeContext &node, Value &x, int64_t weight) {
  if (!node.has(weight))
    return;
  const double epsilon = node.getFloat("qk_norm_epsilon", 1e-6f);
  Type wide = node.element(x).isF64() ? node.element(x) : node.f32();
  x = node.op<nn::RmsNormOp>(x, node.operand(weight), uint64_t(3),
                             APFloat(epsilon), wide);
}

/// With do_rotary, rotates the new rows by their \p positions with the caches
/// in inputs \p cosines and the next.
static void rotateRows(NodeContext &node, FreshRows &rows, int64_t cosines,
                       Value positions) {
  if (!node.getBool("do_rotary", false))
    return;
  if (!node.has(cosines) || !node.has(cosines + 1))
    return void(node.fail("do_rotary needs cosines and sines"));
  const bool interleaved = node.getBool("rotary_interleaved", false);
  for (Value *each : {&rows.query, &rows.key})
    *each = rotateAt(node, *each, node.operand(cosines),
                     node.operand(cosines + 1), positions, interleaved);
}

/// The positions of the new rows [B, S]: input \p index, if it is there, of
/// which a first prompt has but the first.
static Value positionsOf(NodeContext &node, const Cache &cache, int64_t index,
                         Value isFirst) {
  Value counted = countedFrom(node, cache.filled, cache.fresh);
  if (!node.has(index))
    return counted;
  Value given = node.cast(node.operand(index), node.i64());
  if (node.rank(given) != 2)
    return node.fail("position_ids is not [batch, length]");
  Value start = node.reshape(
      node.sliceAxis(node.sliceAxis(given, 0, 0, 1), 1, 0, 1), Ints{1});
  return formats::select(node, isFirst, countedFrom(node, start, cache.fresh),
                         given);
}

//===----------------------------------------------------------------------===//
// GroupQueryAttention
//===----------------------------------------------------------------------===//

/// \p x with one more row of zeros along dimension 2.
static Value withZeroRow(NodeContext &node, Value x) {
  if (!x)
    return {};
  Dims row = node.dims(x);
  row[2] = 1;
  Value zeros = node.broadcastInDim(node.scalar(node.element(x), 0), row, {});
  return node.concatenate({x, zeros}, 2);
}

/// \p x, a bias or a mask of four dimensions, with \p more, which broadcasts to
/// its shape, as one more key.
static Value withKey(NodeContext &node, Value x, Value more) {
  if (!x || !more)
    return {};
  Dims sizes = node.dims(x);
  sizes[3] = 1;
  return node.concatenate({x, node.broadcastInDim(more, sizes, {0, 1, 2, 3})},
                          3);
}

/// Adds exp(\p sink) [1, N, 1, 1] to what each row's weights are divided by: a
/// key that all rows see, with that score and a value of zeros.
static void addSink(NodeContext &node, AttentionParts &parts, Value sink) {
  if (!parts.query || !parts.key || !sink)
    return;
  Type element = node.element(parts.query);
  Dims sizes = {1, node.dim(parts.query, 1), 1, node.dim(parts.key, 2)};
  formats::applyCausalMask(node, parts);
  Value bias = node.broadcastInDim(node.scalar(element, 0), sizes, {});
  if (parts.bias)
    bias = node.binary<stablehlo::AddOp>(parts.bias, bias);
  parts.bias = withKey(node, bias, node.cast(sink, element));
  if (parts.allowed)
    parts.allowed = withKey(node, parts.allowed,
                            node.splat(node.i1(), 1, Ints{1, 1, 1, 1}));
  parts.key = withZeroRow(node, parts.key);
  parts.value = withZeroRow(node, parts.value);
}

/// What of it is not read.
static LogicalResult refuseVariants(NodeContext &node) {
  if (node.getBool("sliding_window_cache", false))
    return node.unsupported("a cache that slides");
  for (StringRef name : {"k_quant_type", "v_quant_type"})
    if (node.getString(name, "NONE") != "NONE")
      return node.unsupported("a quantised cache");
  if (node.getBool("qk_output", false) != node.wants(3))
    return node.fail("output 3 and attribute 'qk_output' do not agree");
  return success(!node.failed());
}

/// Query, keys, values; past keys, values; the lengths of the sequences - 1;
/// the greatest length; cosines, sines; positions; a bias of scores; sinks;
/// scales of keys, values; norms of queries, keys.
static LogicalResult importGroupQueryAttention(NodeContext &node) {
  auto rows = readFreshRows(node);
  if (!rows || failed(refuseVariants(node)))
    return failure();
  if (node.has(3) != node.has(4))
    return node.fail("there are past keys or values, but not both");
  if (!node.has(5) || !node.has(6))
    return node.fail("seqlens_k or total_sequence_length is missing");
  Value past = node.has(3) ? node.operand(3) : Value();
  if (past && node.rank(past) != 4)
    return node.fail("past keys or values have not four dimensions");
  Value lengths = node.binary<stablehlo::AddOp>(node.operand(5),
                                                node.one(node.operand(5), 1));
  const Cache cache = cacheOf(node, past, rows->key, lengths, node.operand(6));
  normRows(node, rows->query, 14);
  normRows(node, rows->key, 15);
  Dim total = past ? sizeOf(node, node.operand(6)) : cache.fresh;
  Value isFirst = node.compare(
      formats::sizeScalar(node, total, node.i64()),
      formats::sizeScalar(node, cache.fresh, node.i64()), Direction::EQ);
  rotateRows(node, *rows, 7, positionsOf(node, cache, 9, isFirst));
  if (node.failed())
    return failure();
  Value keys = cache.append(past, rows->key),
        values = cache.append(past ? node.operand(4) : Value(), rows->value);
  if (node.failed())
    return failure();
  AttentionParts parts;
  parts.blankRowsAreZero = false;
  parts.query = rows->query;
  parts.key = keys;
  parts.value = values;
  if (node.has(10) || node.wants(3)) {
    parts.key = firstRows(node, keys, 2, total);
    parts.value = firstRows(node, values, 2, total);
  }
  if (node.has(10))
    parts.bias = node.operand(10);
  parts.scale = attentionScale(node, parts.query);
  parts.softcap = node.getFloat("softcap", 0);
  formats::AttentionWindow window;
  window.offset = node.unsqueeze(cache.filled, {1, 2, 3});
  const int64_t size = node.getInt("local_window_size", -1);
  if (!node.getBool("causal", true)) {
    if (size != -1)
      return node.fail("a window without 'causal'");
    parts.allowed = formats::firstKeys(
        node, node.dim(parts.key, 2),
        node.binary<stablehlo::AddOp>(
            cache.filled, formats::sizeScalar(node, cache.fresh, node.i64())));
  } else if (cache.isFirst && size < 1) {
    parts.causal = true;
  } else {
    window.right = 0;
    window.left = size > 0 ? size - 1 : -1;
    parts.allowed =
        formats::visibleKeys(node, cache.fresh, node.dim(parts.key, 2), window);
  }
  const Dim seen = node.dim(parts.key, 2);
  const bool isBefore = node.getInt("qk_output", 0) == 1;
  if (node.has(11))
    addSink(node, parts,
            node.reshape(node.operand(11),
                         Dims{1, node.dim(parts.query, 1), 1, 1}));
  else if (node.getInt("smooth_softmax", 0) == 1)
    addSink(node, parts,
            node.splat(node.element(parts.query), 0,
                       {1, node.size(parts.query, 1), 1, 1}));
  AttentionScores scores;
  scores.wantsBiased = node.wants(3) && isBefore;
  scores.wantsWeights = node.wants(3) && !isBefore;
  Value result = joinHeads(node, attend(node, parts, &scores));
  Value stage = isBefore ? scores.biased : scores.weights;
  return node.results(
      {result, keys, values, stage ? firstRows(node, stage, 3, seen) : stage});
}

//===----------------------------------------------------------------------===//
// SparseAttention
//===----------------------------------------------------------------------===//

/// Whether position i sees position j, by the blocks of each layout: [1, N, S,
/// T]. Rows of \p ends [layouts, blocks + 1] say where in \p columns [layouts,
/// most] those of a row of blocks begin; \p row [B, 1, S, 1] and \p key [1, 1,
/// 1, T] are positions.
static Value visibleBlocks(NodeContext &node, Value row, Value key,
                           int64_t heads) {
  Value ends = node.operand(5), columns = node.operand(6);
  const int64_t size = node.getInt("sparse_block_size", 0);
  if (size < 1)
    return node.fail("attribute 'sparse_block_size' is not positive");
  if (node.rank(ends) != 2 || node.rank(columns) != 2 || !node.isStatic(ends) ||
      !node.isStatic(columns) || node.size(ends, 0) < 1 ||
      node.size(ends, 1) < 2)
    return node.fail("the indices of blocks are no matrices of known size");
  const int64_t layouts = node.size(ends, 0), blocks = node.size(ends, 1) - 1,
                most = node.size(columns, 1);
  if (node.size(columns, 0) != layouts || heads % layouts != 0 ||
      blocks > (1 << 12))
    return node.fail("the layouts do not fit the heads");
  // [layouts, blocks, blocks, most]: whether an entry of the row names the
  // column.
  auto bound = [&](int64_t first) {
    return node.unsqueeze(node.sliceAxis(ends, 1, first, first + blocks),
                          {2, 3});
  };
  Type i32 = node.builder().getI32Type();
  Value entry = formats::iota(node, Dims{1, 1, 1, most}, 3, i32);
  Value isOwn = node.binary<stablehlo::AndOp>(
      node.compare(entry, bound(0), Direction::GE),
      node.compare(entry, bound(1), Direction::LT));
  Value isNamed = node.compare(
      node.unsqueeze(columns, {1, 2}),
      formats::iota(node, Dims{1, 1, blocks, 1}, 2, i32), Direction::EQ);
  Value both = node.binary<stablehlo::AndOp>(isOwn, isNamed);
  Value layout = node.reduce<stablehlo::OrOp>(both, {3}, 0, false);
  // [heads, S, T] of one sequence, by rows and columns of blocks.
  auto blockOf = [&](Value position) {
    return node.binary<stablehlo::DivOp>(
        position, node.scalar(node.i64(), static_cast<double>(size)));
  };
  Value flatRow = blockOf(row), flatKey = blockOf(key);
  Value which = node.binary<stablehlo::AddOp>(
      node.binary<stablehlo::MulOp>(
          flatRow, node.scalar(node.i64(), static_cast<double>(blocks))),
      flatKey);
  Value flat = node.reshape(layout, Ints{layouts, blocks * blocks});
  // [layouts, B, 1, S, T] -> [B, layouts, S, T] -> heads, layout by layout.
  Value taken = node.op<nn::TakeOp>(flat, which, uint64_t(1));
  if (!taken)
    return {};
  Dims sizes = node.dims(taken);
  Value apart = node.transpose(node.squeeze(taken, {2}), {1, 0, 2, 3});
  Dims wide = {sizes[1], heads / layouts, layouts, sizes[3], sizes[4]};
  return node.reshape(node.broadcastInDim(apart, wide, {0, 2, 3, 4}),
                      Dims{sizes[1], heads, sizes[3], sizes[4]});
}

/// Query, keys, values; past keys, values; where rows of blocks begin, and
/// their columns; the greatest length, those of the sequences; cosines, sines.
static LogicalResult importSparseAttention(NodeContext &node) {
  auto rows = readFreshRows(node);
  if (!rows)
    return failure();
  Value past = node.operand(3);
  if (node.rank(past) != 4)
    return node.fail("past keys or values have not four dimensions");
  const Cache cache =
      cacheOf(node, past, rows->key, node.operand(8), node.operand(7));
  rotateRows(node, *rows, 9, countedFrom(node, cache.filled, cache.fresh));
  if (node.failed())
    return failure();
  Value keys = cache.append(past, rows->key),
        values = cache.append(node.operand(4), rows->value);
  if (node.failed())
    return failure();
  AttentionParts parts;
  parts.blankRowsAreZero = false;
  parts.query = rows->query;
  parts.key = keys;
  parts.value = values;
  parts.scale = attentionScale(node, parts.query);
  formats::AttentionWindow window;
  window.right = 0;
  window.offset = node.unsqueeze(cache.filled, {1, 2, 3});
  Value upTo = formats::visibleKeys(node, cache.fresh, cache.rows, window);
  Value row = node.binary<stablehlo::AddOp>(
      window.offset,
      formats::iota(node, Dims{1, 1, cache.fresh, 1}, 2, node.i64()));
  Value key = formats::iota(node, Dims{1, 1, 1, cache.rows}, 3, node.i64());
  Value blocks = visibleBlocks(node, row, key, node.size(rows->query, 1));
  parts.allowed = formats::conjunction(node, blocks, upTo);
  return node.results({joinHeads(node, attend(node, parts)), keys, values});
}

llvm::ArrayRef<Operator> runtimeCachedAttentionOperators() {
  static const Operator table[] = {
      {"GroupQueryAttention", runtimeDomain, 1, importGroupQueryAttention, 1,
       16, false, true},
      {"MRotaryEmbedding", runtimeDomain, 1, importRuntimeRotaryEmbedding, 4, 4,
       false, true},
      {"RotaryEmbedding", runtimeDomain, 1, importRuntimeRotaryEmbedding, 4, 4,
       false, true},
      {"SparseAttention", runtimeDomain, 1, importSparseAttention, 9, 11, false,
       true},
  };
  return table;
}

} // namespace sinter::onnx
