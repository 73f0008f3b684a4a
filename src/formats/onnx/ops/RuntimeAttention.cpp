// ONNX Runtime's attentions over whole sequences. They are specified in its
// docs/ContribOperators.md.

#include "formats/onnx/ops/RuntimeAttention.h"

#include "formats/import/Building.h"
#include "formats/import/Indexing.h"
#include "formats/import/Products.h"
#include "formats/import/SizeArithmetic.h"
#include "formats/onnx/Operators.h"

using namespace mlir;

namespace sinter::onnx {

using formats::AttentionParts;
using formats::AttentionScores;
using formats::concatenatePast;
using formats::joinHeads;
using formats::splitHeads;
using Direction = stablehlo::ComparisonDirection;

//===----------------------------------------------------------------------===//
// What they share
//===----------------------------------------------------------------------===//

std::optional<int64_t> headsOf(NodeContext &node, StringRef name) {
  constexpr int64_t most = 1 << 20;
  if (!node.hasAttribute(name))
    return node.fail("attribute '" + name + "' is missing");
  const int64_t heads = node.getInt(name, 0);
  if (heads < 1 || heads > most)
    return node.fail("attribute '" + name + "' is not a number of heads");
  return heads;
}

double attentionScale(NodeContext &node, Value query) {
  const double given = node.getFloat("scale", 0);
  return given != 0 || !query
             ? given
             : formats::defaultScale(node, query).value_or(given);
}

Dim sizeOf(NodeContext &node, Value value) {
  constexpr int64_t most = int64_t(1) << 40;
  Value list = node.reshape(value, Ints{1});
  if (auto known = node.knownIntegers(list)) {
    const int64_t size = known->front();
    if (size >= 0 && size <= most)
      return size;
    node.fail(Twine(size) + " is not a length");
    return 0;
  }
  return Dim(ShapedType::kDynamic, node.cast(list, node.i64()));
}

std::optional<bool> areEqual(const Dim &a, const Dim &b) {
  if (a.isStatic() && b.isStatic())
    return a.size == b.size;
  return std::nullopt;
}

Value firstRows(NodeContext &node, Value x, int64_t axis, const Dim &count) {
  if (!x || areEqual(node.dim(x, axis), count).value_or(false))
    return x;
  Dims limits = node.dims(x);
  limits[axis] = count;
  Ints shape(node.shape(x));
  shape[axis] = count.size;
  return node.typed<stablehlo::RealDynamicSliceOp>(
      node.tensorType(shape, node.element(x)), x,
      node.integers(Ints(node.rank(x), 0)), node.extents(limits),
      node.integers(Ints(node.rank(x), 1)));
}

/// Whether \p mask, a list, has \p factor elements for each of a batch, as far
/// as that is known.
static bool hasPerBatch(NodeContext &node, Value mask, Value query,
                        int64_t factor, int64_t more) {
  const int64_t count = node.size(mask, 0), batch = node.size(query, 0);
  if (ShapedType::isDynamic(count) || ShapedType::isDynamic(batch))
    return factor == 1 && more == 0 && node.known().sameSize(mask, 0, query, 0);
  return count == factor * batch + more;
}

/// Which keys a list of lengths, or of ends and starts, leaves: [B, 1, 1, T].
static Value keysBetween(NodeContext &node, Value mask, Value query,
                         const Dim &keys) {
  if (hasPerBatch(node, mask, query, 1, 0))
    return formats::firstKeys(node, keys, mask);
  const bool hasStarts = hasPerBatch(node, mask, query, 2, 0);
  if (!hasStarts && !hasPerBatch(node, mask, query, 3, 2))
    return node.isStatic(mask) && !ShapedType::isDynamic(node.size(query, 0))
               ? node.fail("the mask has not one element for each of the batch")
               : node.unknown("the length of the mask is known only at run "
                              "time");
  const int64_t batch = node.size(query, 0);
  Value ends =
      formats::firstKeys(node, keys, node.sliceAxis(mask, 0, 0, batch));
  if (!hasStarts)
    return ends;
  Value before =
      formats::firstKeys(node, keys, node.sliceAxis(mask, 0, batch, 2 * batch));
  return node.binary<stablehlo::AndOp>(ends,
                                       node.unary<stablehlo::NotOp>(before));
}

Value paddingBias(NodeContext &node, Value mask, Value query, const Dim &keys) {
  if (!mask || !query)
    return {};
  const int64_t rank = node.rank(mask);
  if (!node.element(mask).isInteger(32))
    return node.fail("the mask is not of i32");
  if (rank == 4)
    return node.unsupported("a mask with four dimensions");
  if (rank < 1 || rank > 3)
    return node.fail("the mask has not one, two or three dimensions");
  Value sees;
  if (rank == 1) {
    sees = keysBetween(node, mask, query, keys);
  } else {
    Ints units = rank == 2 ? Ints{1, 2} : Ints{1};
    sees = node.unsqueeze(node.compare(mask, node.one(mask, 0), Direction::GT),
                          units);
  }
  Type element = node.element(query);
  return formats::select(
      node, sees, node.scalar(element, 0),
      node.scalar(element, node.getFloat("mask_filter_value", -10000)));
}

Value sumOfBiases(NodeContext &node, Value a, Value b) {
  return a && b ? node.binary<stablehlo::AddOp>(a, b) : a ? a : b;
}

void hideLaterKeys(NodeContext &node, AttentionParts &parts, const Dim &past) {
  if (!parts.query || !parts.key)
    return;
  if (past.isStatic() && past.size == 0) {
    parts.causal = true;
    return;
  }
  formats::AttentionWindow window;
  window.right = 0;
  window.offset = node.reshape(formats::sizeScalar(node, past, node.i64()),
                               ArrayRef<int64_t>{1, 1, 1, 1});
  parts.allowed = formats::visibleKeys(node, node.dim(parts.query, 2),
                                       node.dim(parts.key, 2), window);
}

Values partsOfLast(NodeContext &node, Value x, ArrayRef<int64_t> widths) {
  Values parts;
  int64_t start = 0;
  for (int64_t width : widths) {
    parts.push_back(node.sliceAxis(x, node.rank(x) - 1, start, start + width));
    start += width;
  }
  return parts;
}

std::optional<Ints> projectedWidths(NodeContext &node, int64_t width) {
  Ints widths = node.getInts("qkv_hidden_sizes");
  if (node.failed())
    return std::nullopt;
  if (ShapedType::isDynamic(width))
    return node.unknown("the width of the weights is known only at run time");
  if (widths.empty() && width % 3 != 0)
    return node.fail("the weights have " + Twine(width) +
                     " columns, no multiple of 3");
  if (widths.empty())
    return Ints(3, width / 3);
  int64_t rest = width;
  for (int64_t each : widths)
    rest -= each < 0 || each > rest ? rest + 1 : each;
  if (widths.size() != 3 || rest != 0 || widths[0] != widths[1])
    return node.fail("attribute 'qkv_hidden_sizes' is not the sizes of Q, K "
                     "and V in " +
                     Twine(width) + " columns");
  return widths;
}

/// Element \p index along the first dimension of the pair \p past, or null.
static Value halfOfPast(NodeContext &node, Value past, int64_t index) {
  if (!past)
    return {};
  if (node.rank(past) != 5 || node.size(past, 0) != 2)
    return node.fail("past is not [2, batch, heads, length, head size]");
  return node.squeeze(node.sliceAxis(past, 0, index, index + 1), {0});
}

LogicalResult attendProjected(NodeContext &node, Value query, Value key,
                              Value value, int64_t mask, int64_t past,
                              int64_t bias) {
  auto optional = [&](int64_t input) {
    return input >= 0 && node.has(input) ? node.operand(input) : Value();
  };
  auto heads = headsOf(node, "num_heads");
  if (!heads)
    return failure();
  Value before = optional(past);
  AttentionParts parts;
  parts.blankRowsAreZero = false;
  parts.query = splitHeads(node, query, *heads);
  parts.key = concatenatePast(node, halfOfPast(node, before, 0),
                              splitHeads(node, key, *heads));
  parts.value = concatenatePast(node, halfOfPast(node, before, 1),
                                splitHeads(node, value, *heads));
  if (node.failed())
    return failure();
  parts.scale = attentionScale(node, parts.query);
  parts.bias = sumOfBiases(
      node, optional(bias),
      paddingBias(node, optional(mask), parts.query, node.dim(parts.key, 2)));
  if (node.getBool("unidirectional", false))
    hideLaterKeys(node, parts, before ? node.dim(before, 3) : Dim(0));
  Value result = joinHeads(node, attend(node, parts));
  if (!node.wants(1))
    return node.result(result);
  return node.results(
      {result, node.concatenate({node.unsqueeze(parts.key, {0}),
                                 node.unsqueeze(parts.value, {0})},
                                0)});
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// x . weights + bias, which may be absent, in the parts of query, key, value.
static Values project(NodeContext &node, Value bias) {
  Value weights = node.operand(1);
  if (node.rank(weights) != 2) {
    node.fail("the weights are no matrix");
    return {};
  }
  auto widths = projectedWidths(node, node.size(weights, 1));
  if (!widths)
    return {};
  Value product = formats::matmul(node, node.operand(0), weights);
  if (bias)
    product = node.binary<stablehlo::AddOp>(product, bias);
  return partsOfLast(node, product, *widths);
}

/// x; weights [D, 3 D] of query, key and value; bias; a mask; past; a bias of
/// the scores.
static LogicalResult importRuntimeAttention(NodeContext &node) {
  if (node.getBool("past_present_share_buffer", false))
    return node.unsupported("past and present in one buffer");
  if (node.getBool("do_rotary", false))
    return node.unsupported("rotary positions");
  Values all = project(node, node.has(2) ? node.operand(2) : Value());
  if (all.size() != 3)
    return failure();
  return attendProjected(node, all[0], all[1], all[2], 3, 4, 5);
}

//===----------------------------------------------------------------------===//
// MultiHeadAttention
//===----------------------------------------------------------------------===//

namespace {
/// Query, keys and values of a node: [B, S, D], or keys and values [B, N, L,
/// H].
struct Projections {
  Value query, key, value;
};
} // namespace

/// Part \p index of \p x [B, S, N, parts, H], as [B, S, N * H].
static Value packedPart(NodeContext &node, Value x, int64_t index) {
  Value part = node.sliceAxis(x, 3, index, index + 1);
  if (!part)
    return {};
  Dims sizes = node.dims(part);
  return node.reshape(
      part, Dims{sizes[0], sizes[1], node.product({sizes[2], sizes[4]})});
}

/// The inputs 0 to 2, where the first ones may hold the later ones, too.
static std::optional<Projections> readProjections(NodeContext &node) {
  Value query = node.operand(0), key = node.has(1) ? node.operand(1) : Value(),
        value = node.has(2) ? node.operand(2) : Value();
  auto isPacked = [&](Value x, int64_t parts) {
    return x && node.rank(x) == 5 && node.size(x, 3) == parts;
  };
  if (!key && !value && isPacked(query, 3))
    return Projections{packedPart(node, query, 0), packedPart(node, query, 1),
                       packedPart(node, query, 2)};
  if (isPacked(key, 2) && !value)
    return Projections{query, packedPart(node, key, 0),
                       packedPart(node, key, 1)};
  if (!key || !value)
    return node.fail("key or value is missing");
  return Projections{query, key, value};
}

/// Adds the parts of input \p index, a bias for query, keys and values, to
/// each.
static void addBiases(NodeContext &node, Projections &all, int64_t index) {
  if (!node.has(index))
    return;
  Value bias = node.operand(index);
  Ints widths;
  for (Value each : {all.query, all.key, all.value}) {
    if (!each || node.rank(each) != 3)
      return void(node.fail("a bias needs queries, keys and values with three "
                            "dimensions"));
    widths.push_back(node.size(each, 2));
  }
  if (ShapedType::isDynamicShape(widths))
    return void(node.unknown("the widths are known only at run time"));
  if (node.rank(bias) != 1 ||
      node.size(bias, 0) != widths[0] + widths[1] + widths[2])
    return void(node.fail("the bias has not one element for each of query, "
                          "key and value"));
  Values parts = partsOfLast(node, bias, widths);
  all.query = node.binary<stablehlo::AddOp>(all.query, parts[0]);
  all.key = node.binary<stablehlo::AddOp>(all.key, parts[1]);
  all.value = node.binary<stablehlo::AddOp>(all.value, parts[2]);
}

namespace {
/// The inputs that differ between MultiHeadAttention and the one of decoders.
struct ExtraInputs {
  int64_t bias, mask, scoreBias, pastKey, pastValue, pastLength;
};

/// Keys or values: what a node gives of them, and what it attends to.
struct CachedRows {
  Value all, seen;
};
} // namespace

/// \p fresh [B, N, L, H] behind input \p past; or in it, after as many rows as
/// input \p length says, which are all that is seen, with it.
static CachedRows cached(NodeContext &node, int64_t past, int64_t length,
                         Value fresh) {
  if (!node.has(past) || !node.has(length)) {
    Value all = concatenatePast(
        node, node.has(past) ? node.operand(past) : Value(), fresh);
    return {all, all};
  }
  const Dim before = sizeOf(node, node.operand(length));
  Value none = node.scalar(node.i64(), 0);
  Value all = node.op<stablehlo::DynamicUpdateSliceOp>(
      node.operand(past), fresh,
      Values{none, none, formats::sizeScalar(node, before, node.i64()), none});
  formats::SizeArithmetic sizes(node);
  const Dim count = node.dim(fresh, 2);
  const bool isKnown = before.isStatic() && count.isStatic();
  return {all, firstRows(node, all, 2,
                         isKnown ? Dim(before.size + count.size)
                                 : sizes.add(before, count))};
}

/// Attention of what \p all projects, after past keys and values.
static LogicalResult attendWithPast(NodeContext &node, Projections all,
                                    const ExtraInputs &at) {
  auto heads = headsOf(node, "num_heads");
  addBiases(node, all, at.bias);
  if (!heads || node.failed())
    return failure();
  auto optional = [&](int64_t input) {
    return node.has(input) ? node.operand(input) : Value();
  };
  auto split = [&](Value x) {
    return node.rank(x) == 4 ? x : splitHeads(node, x, *heads);
  };
  if (node.has(at.pastKey) != node.has(at.pastValue))
    return node.fail("there are past keys or values, but not both");
  if (node.has(at.pastKey) && node.rank(all.key) == 4)
    return node.fail("keys with four dimensions have no past");
  AttentionParts parts;
  parts.blankRowsAreZero = false;
  parts.query = splitHeads(node, all.query, *heads);
  const CachedRows keys =
                       cached(node, at.pastKey, at.pastLength, split(all.key)),
                   values = cached(node, at.pastValue, at.pastLength,
                                   split(all.value));
  parts.key = keys.seen;
  parts.value = values.seen;
  if (node.failed())
    return failure();
  parts.scale = attentionScale(node, parts.query);
  parts.bias = sumOfBiases(node, optional(at.scoreBias),
                           paddingBias(node, optional(at.mask), parts.query,
                                       node.dim(parts.key, 2)));
  if (node.getBool("unidirectional", false)) {
    const Dim past = !node.has(at.pastKey) ? Dim(0)
                     : node.has(at.pastLength)
                         ? sizeOf(node, node.operand(at.pastLength))
                         : node.dim(node.operand(at.pastKey), 2);
    hideLaterKeys(node, parts, past);
  }
  AttentionScores scores;
  scores.wantsBiased = node.wants(3);
  Value result = joinHeads(node, attend(node, parts, &scores));
  return node.results({result, keys.all, values.all, scores.biased});
}

/// Query, keys, values; bias; a mask of keys; a bias of scores; past keys,
/// values; how many of them are filled.
static LogicalResult importMultiHeadAttention(NodeContext &node) {
  if (node.has(9))
    return node.unsupported("several beams in one cache");
  auto all = readProjections(node);
  return all ? attendWithPast(node, *all, {3, 4, 5, 6, 7, 8}) : failure();
}

/// The same for one row of the query: query, keys, values; a mask; a bias of
/// scores; past keys, values; how many of them are filled; how many beams;
/// bias.
static LogicalResult importDecoderAttention(NodeContext &node) {
  const ExtraInputs at = {10, 3, 4, 5, 6, 7};
  if (node.has(9))
    return node.unsupported("several beams in one cache");
  if (node.rank(node.operand(0)) != 3 || node.size(node.operand(0), 1) != 1)
    return node.fail("the query is not [batch, 1, width]");
  if (!node.has(1) && !node.has(2)) {
    auto widths = projectedWidths(node, node.size(node.operand(0), 2));
    if (!widths)
      return failure();
    Values parts = partsOfLast(node, node.operand(0), *widths);
    return attendWithPast(node, {parts[0], parts[1], parts[2]}, at);
  }
  auto all = readProjections(node);
  return all ? attendWithPast(node, *all, at) : failure();
}

//===----------------------------------------------------------------------===//
// Rows of several sequences without padding
//===----------------------------------------------------------------------===//

std::optional<PackedRows> PackedRows::of(NodeContext &node, Value rows,
                                         Value places) {
  if (node.rank(places) != 2 || node.rank(rows) < 2)
    return node.fail("the rows or their places have not two dimensions");
  const int64_t count = node.size(rows, 0);
  if (ShapedType::isDynamic(count))
    return node.unknown("the number of tokens is known only at run time");
  Dims sizes = node.dims(places);
  Value list = node.reshape(places, Dims{node.product(sizes)});
  return PackedRows{
      node, node.unsqueeze(node.sliceAxis(list, 0, 0, count), {1}), sizes};
}

Value PackedRows::unpack(Value rows) const {
  if (!rows || node.rank(rows) != 2)
    return node.fail("packed rows have not two dimensions");
  Dims whole = {node.product(sizes), node.dim(rows, 1)};
  Value zeros =
      node.broadcastInDim(node.scalar(node.element(rows), 0), whole, {});
  return node.reshape(formats::scatterTuples(node, zeros, places, rows,
                                             formats::Combine::Replace),
                      Dims{sizes[0], sizes[1], whole[1]});
}

Value PackedRows::pack(Value padded) const {
  if (!padded)
    return {};
  Value rows =
      node.reshape(padded, Dims{node.product(sizes), node.dim(padded, 2)});
  return formats::gatherTuples(node, rows, places, 0);
}

namespace {
/// Packed rows with how many tokens each sequence has.
struct PackedSequences {
  PackedRows rows;
  Value lengths;
};
} // namespace

/// From \p offset [B, S], where the tokens of all sequences are, then the
/// padding; and \p sums [B + 1], the tokens before each sequence.
static std::optional<PackedSequences>
readPackedRows(NodeContext &node, Value tokens, int64_t offset, int64_t sums) {
  auto rows = PackedRows::of(node, tokens, node.operand(offset));
  Value before = node.operand(sums);
  if (!rows)
    return std::nullopt;
  if (!rows->sizes[0].isStatic())
    return node.unknown("the number of sequences is known only at run time");
  const int64_t batch = rows->sizes[0].size;
  if (node.rank(before) != 1 || node.size(before, 0) != batch + 1)
    return node.fail("cumulative_sequence_length has not one element more than "
                     "there are sequences");
  Value lengths = node.binary<stablehlo::SubtractOp>(
      node.sliceAxis(before, 0, 1, batch + 1),
      node.sliceAxis(before, 0, 0, batch));
  return PackedSequences{*rows, lengths};
}

/// Attention within each sequence of rows \p all [tokens, D].
static LogicalResult attendPacked(NodeContext &node,
                                  const PackedSequences &sequences,
                                  const Projections &all, int64_t bias) {
  const PackedRows &rows = sequences.rows;
  auto heads = headsOf(node, "num_heads");
  if (!heads || node.failed())
    return failure();
  AttentionParts parts;
  parts.blankRowsAreZero = false;
  parts.query = splitHeads(node, rows.unpack(all.query), *heads);
  parts.key = splitHeads(node, rows.unpack(all.key), *heads);
  parts.value = splitHeads(node, rows.unpack(all.value), *heads);
  if (node.failed())
    return failure();
  parts.scale = attentionScale(node, parts.query);
  parts.bias = sumOfBiases(
      node, node.has(bias) ? node.operand(bias) : Value(),
      paddingBias(node, sequences.lengths, parts.query, rows.sizes[1]));
  return node.result(rows.pack(joinHeads(node, attend(node, parts))));
}

/// x [tokens, D]; weights; bias; token_offset; cumulative_sequence_length; a
/// bias of scores.
static LogicalResult importPackedAttention(NodeContext &node) {
  auto rows = readPackedRows(node, node.operand(0), 3, 4);
  Values all = project(node, node.operand(2));
  if (!rows || all.size() != 3)
    return failure();
  return attendPacked(node, *rows, {all[0], all[1], all[2]}, 5);
}

/// Query, keys, values [tokens, D] or all in one [tokens, N, 3, H]; bias;
/// token_offset; cumulative_sequence_length; a bias of scores.
static LogicalResult importPackedMultiHeadAttention(NodeContext &node) {
  auto rows = readPackedRows(node, node.operand(0), 4, 5);
  if (!rows)
    return failure();
  Value query = node.operand(0);
  Projections all{query, node.has(1) ? node.operand(1) : Value(),
                  node.has(2) ? node.operand(2) : Value()};
  if (node.rank(query) == 4) {
    if (node.size(query, 2) != 3)
      return node.fail("a query with keys and values is not [tokens, heads, 3, "
                       "head size]");
    Value whole = node.unsqueeze(query, {0});
    auto part = [&](int64_t index) {
      return node.squeeze(packedPart(node, whole, index), {0});
    };
    all = {part(0), part(1), part(2)};
  }
  if (!all.key || !all.value)
    return node.fail("key or value is missing");
  auto lift = [&](Value &x) { x = node.unsqueeze(x, {0}); };
  auto lower = [&](Value &x) { x = node.squeeze(x, {0}); };
  for (Value *each : {&all.query, &all.key, &all.value})
    lift(*each);
  addBiases(node, all, 3);
  for (Value *each : {&all.query, &all.key, &all.value})
    lower(*each);
  return attendPacked(node, *rows, all, 6);
}

llvm::ArrayRef<Operator> runtimeAttentionOperators() {
  static const Operator table[] = {
      {"Attention", runtimeDomain, 1, importRuntimeAttention, 2, 7, false,
       true},
      {"DecoderMaskedMultiHeadAttention", runtimeDomain, 1,
       importDecoderAttention, 1, 11, false, true},
      {"MultiHeadAttention", runtimeDomain, 1, importMultiHeadAttention, 1, 10,
       false, true},
      {"PackedAttention", runtimeDomain, 1, importPackedAttention, 5, 6, false,
       true},
      {"PackedMultiHeadAttention", runtimeDomain, 1,
       importPackedMultiHeadAttention, 1, 7, false, true},
  };
  return table;
}

} // namespace sinter::onnx
