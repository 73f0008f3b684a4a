#include "formats/import/Attention.h"

#include "formats/import/Building.h"
#include "formats/import/Products.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::formats {

constexpr double minusInfinity = -std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

Value splitHeads(GraphBuilder &builder, Value x, int64_t heads) {
  if (!x)
    return {};
  if (builder.rank(x) != 3)
    return builder.fail("a tensor of heads has not three dimensions");
  const int64_t hidden = builder.size(x, 2);
  if (heads < 1)
    return builder.fail("the number of heads is not positive");
  if (ShapedType::isDynamic(hidden))
    return builder.unknown("the size of the heads is unknown");
  if (hidden % heads != 0)
    return builder.fail("a dimension of " + Twine(hidden) +
                        " is no multiple of the number of heads, " +
                        Twine(heads));
  Value apart =
      builder.reshape(x, ArrayRef<Dim>({builder.dim(x, 0), builder.dim(x, 1),
                                        heads, hidden / heads}));
  return builder.transpose(apart, {0, 2, 1, 3});
}

Value joinHeads(GraphBuilder &builder, Value x) {
  if (!x)
    return {};
  Dims dims = builder.dims(x);
  return builder.reshape(
      builder.transpose(x, {0, 2, 1, 3}),
      ArrayRef<Dim>({dims[0], dims[2], builder.product({dims[1], dims[3]})}));
}

Value concatenatePast(GraphBuilder &builder, Value past, Value fresh) {
  if (!past || !fresh)
    return fresh;
  if (builder.rank(past) != 4)
    return builder.fail("past keys or values have not four dimensions");
  return builder.concatenate({past, fresh}, 2);
}

std::optional<double> defaultScale(GraphBuilder &builder, Value query) {
  const int64_t width = builder.size(query, -1);
  if (ShapedType::isDynamic(width))
    return builder.unknown("the size of a head is known only at run time");
  return 1 / std::sqrt(static_cast<double>(std::max<int64_t>(width, 1)));
}

//===----------------------------------------------------------------------===//
// What a query sees
//===----------------------------------------------------------------------===//

Value conjunction(GraphBuilder &builder, Value a, Value b) {
  return a && b ? builder.binary<stablehlo::AndOp>(a, b) : a ? a : b;
}

Value visibleKeys(GraphBuilder &builder, const Dim &queries, const Dim &keys,
                  const AttentionWindow &window) {
  if (!window.isBounded())
    return {};
  Value position = iota(builder, {1, 1, queries, 1}, 2, builder.i64());
  Value key = iota(builder, {1, 1, 1, keys}, 3, builder.i64());
  if (window.offset)
    position = builder.binary<stablehlo::AddOp>(position, window.offset);
  Value seen;
  auto bound = [&](int64_t distance, bool isLeft) {
    if (distance < 0)
      return;
    Value edge = position;
    if (distance > 0)
      edge = builder.binary<stablehlo::AddOp>(
          position,
          builder.scalar(builder.i64(),
                         static_cast<double>(isLeft ? -distance : distance)));
    Value inside = builder.compare(
        key, edge, isLeft ? ComparisonDirection::GE : ComparisonDirection::LE);
    seen = conjunction(builder, seen, inside);
  };
  bound(window.left, true);
  bound(window.right, false);
  return seen;
}

Value firstKeys(GraphBuilder &builder, const Dim &keys, Value counts) {
  if (!counts)
    return {};
  Value limits =
      builder.unsqueeze(builder.cast(counts, builder.i64()), {1, 2, 3});
  return builder.compare(iota(builder, {1, 1, 1, keys}, 3, builder.i64()),
                         limits, ComparisonDirection::LT);
}

//===----------------------------------------------------------------------===//
// The core
//===----------------------------------------------------------------------===//

void applyCausalMask(GraphBuilder &builder, AttentionParts &parts) {
  if (!parts.causal || !parts.query || !parts.key)
    return;
  parts.allowed = conjunction(builder, parts.allowed,
                              visibleKeys(builder, builder.dim(parts.query, 2),
                                          builder.dim(parts.key, 2),
                                          {/*left=*/-1, /*right=*/0, {}}));
  parts.causal = false;
}

/// What is added to the scores: the bias, -inf where a key is not allowed; null
/// for nothing. Of the elements \p element, and four dimensions.
static Value addedToScores(GraphBuilder &builder, const AttentionParts &parts,
                           Type element) {
  Value added = builder.cast(parts.bias, element);
  if (parts.allowed)
    added = select(builder, parts.allowed,
                   added ? added : builder.scalar(element, 0),
                   builder.scalar(element, minusInfinity));
  return builder.alignRank(added, 4);
}

/// \p x with 0 in the rows of which all that is \p added is -inf.
static Value blankRows(GraphBuilder &builder, Value x, Value added) {
  if (!x || !added)
    return x;
  Value most =
      builder.reduce<stablehlo::MaxOp>(added, {3}, minusInfinity, true);
  Value blank = builder.compare(
      most, builder.scalar(builder.element(added), minusInfinity),
      ComparisonDirection::EQ);
  return select(builder, blank, builder.scalar(builder.element(x), 0), x);
}

Value productOfHeads(GraphBuilder &builder, Value lhs, Value rhs,
                     bool isTransposed, Type element) {
  if (!lhs || !rhs)
    return {};
  const int64_t axis = isTransposed ? 3 : 2;
  const int64_t heads = builder.size(lhs, 1), shared = builder.size(rhs, 1);
  if (heads == shared)
    return dotGeneral(builder, lhs, rhs, {0, 1}, {0, 1}, {3}, {axis}, element);
  if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(shared))
    return builder.unknown("the number of heads is unknown");
  if (shared == 0 || heads % shared != 0)
    return builder.fail(Twine(heads) + " heads are no multiple of " +
                        Twine(shared));
  Dims dims = builder.dims(lhs);
  Value grouped = builder.reshape(
      lhs, ArrayRef<Dim>({dims[0], shared, heads / shared, dims[2], dims[3]}));
  Value product =
      dotGeneral(builder, grouped, rhs, {0, 1}, {0, 1}, {4}, {axis}, element);
  return builder.reshape(product, ArrayRef<Dim>({dims[0], heads, dims[2],
                                                 builder.dim(rhs, 5 - axis)}));
}

/// The attention as its parts, rounded once.
static Value attendSpelledOut(GraphBuilder &builder,
                              const AttentionParts &parts,
                              AttentionScores &scores) {
  const Type element = builder.element(parts.query),
             wide = sumElement(builder, parts.query);
  auto scaled = [&](Value x, double factor) {
    return factor == 1 ? x
                       : builder.binary<stablehlo::MulOp>(
                             x, builder.scalar(wide, factor));
  };
  Value x = scaled(productOfHeads(builder, parts.query, parts.key, true, wide),
                   parts.scale);
  auto give = [&](bool wants, Value &stage) {
    if (wants)
      stage = builder.cast(x, element);
  };
  give(scores.wantsProduct, scores.product);
  if (parts.softcap != 0)
    x = scaled(builder.op<stablehlo::TanhOp>(scaled(x, 1 / parts.softcap)),
               parts.softcap);
  give(scores.wantsCapped, scores.capped);
  AttentionParts all = parts;
  applyCausalMask(builder, all);
  Value added = addedToScores(builder, all, wide);
  if (added)
    x = builder.binary<stablehlo::AddOp>(x, added);
  give(scores.wantsBiased, scores.biased);
  if (parts.softmaxElement && parts.softmaxElement.isF64())
    x = builder.cast(x, parts.softmaxElement);
  x = builder.op<nn::SoftmaxOp>(x, ArrayRef<int64_t>{3});
  x = builder.cast(x, wide);
  if (parts.blankRowsAreZero)
    x = blankRows(builder, x, added);
  give(scores.wantsWeights, scores.weights);
  Value value = builder.cast(parts.value, wide);
  return builder.cast(productOfHeads(builder, x, value, false, wide), element);
}

void checkHeads(GraphBuilder &builder, Value query, Value key, Value value) {
  if (builder.failed())
    return;
  for (Value each : {query, key, value})
    if (builder.rank(each) != 4) {
      builder.fail("query, key and value have not four dimensions");
      return;
    }
  const int64_t heads = builder.size(query, 1), shared = builder.size(key, 1),
                valued = builder.size(value, 1);
  auto differ = [](int64_t a, int64_t b) {
    return a != b && !ShapedType::isDynamic(a) && !ShapedType::isDynamic(b);
  };
  if (differ(shared, valued))
    return void(builder.fail("the key has " + Twine(shared) +
                             " heads, the value " + Twine(valued)));
  if (differ(heads, shared) && (shared == 0 || heads % shared != 0))
    builder.fail("the query's heads, " + Twine(heads) +
                 ", are no multiple of the key's, " + Twine(shared));
}

Value attend(GraphBuilder &builder, const AttentionParts &parts,
             AttentionScores *scores) {
  checkHeads(builder, parts.query, parts.key, parts.value);
  if (builder.failed())
    return {};
  const Type element = builder.element(parts.query);
  const bool isWhole = parts.softcap == 0 &&
                       (!parts.softmaxElement ||
                        !parts.softmaxElement.isF64() || element.isF64()) &&
                       !(scores && scores->wantsAny()) &&
                       builder.element(parts.value) == element &&
                       builder.size(parts.key, 2) != 0;
  if (!isWhole) {
    AttentionScores none;
    return attendSpelledOut(builder, parts, scores ? *scores : none);
  }
  AttentionParts all = parts;
  // A row that sees nothing may come of both.
  if (parts.allowed || parts.bias)
    applyCausalMask(builder, all);
  Value added = addedToScores(builder, all, element);
  Value result = builder.op<nn::AttentionOp>(
      parts.query, parts.key, parts.value, MaybeValue{added},
      llvm::APFloat(parts.scale), all.causal,
      /*chosen=*/false);
  return parts.blankRowsAreZero ? blankRows(builder, result, added) : result;
}

//===----------------------------------------------------------------------===//
// Rotary positions
//===----------------------------------------------------------------------===//

Value rotatePairs(GraphBuilder &builder, Value x, Value cosines, Value sines,
                  bool interleaved) {
  if (!x || !cosines || !sines)
    return {};
  const int64_t last = builder.rank(x) - 1, size = builder.size(x, last),
                pairs = builder.size(cosines, -1);
  if (ShapedType::isDynamic(size) || ShapedType::isDynamic(pairs))
    return builder.unknown("the size of the heads is unknown");
  if (2 * pairs > size)
    return builder.fail("there are " + Twine(pairs) + " angles for pairs of " +
                        Twine(size) + " elements");
  const Type element = builder.element(x), wide = sumElement(builder, x);
  cosines = builder.cast(cosines, wide);
  sines = builder.cast(sines, wide);
  Value turned = builder.sliceAxis(x, last, 0, 2 * pairs), first, second;
  if (interleaved) {
    first = builder.sliceAxis(turned, last, 0, 2 * pairs, 2);
    second = builder.sliceAxis(turned, last, 1, 2 * pairs, 2);
  } else {
    first = builder.sliceAxis(turned, last, 0, pairs);
    second = builder.sliceAxis(turned, last, pairs, 2 * pairs);
  }
  first = builder.cast(first, wide);
  second = builder.cast(second, wide);
  auto times = [&](Value lhs, Value rhs) {
    return builder.binary<stablehlo::MulOp>(lhs, rhs);
  };
  Value real = builder.cast(builder.binary<stablehlo::SubtractOp>(
                                times(first, cosines), times(second, sines)),
                            element);
  Value imaginary =
      builder.cast(builder.binary<stablehlo::AddOp>(times(first, sines),
                                                    times(second, cosines)),
                   element);
  if (!real || !imaginary)
    return {};
  Value rotated;
  if (interleaved) {
    Dims dims = builder.dims(turned);
    rotated = builder.reshape(
        builder.concatenate({builder.unsqueeze(real, {last + 1}),
                             builder.unsqueeze(imaginary, {last + 1})},
                            last + 1),
        dims);
  } else {
    rotated = builder.concatenate({real, imaginary}, last);
  }
  if (2 * pairs == size)
    return rotated;
  return builder.concatenate(
      {rotated, builder.sliceAxis(x, last, 2 * pairs, size)}, last);
}

} // namespace sinter::formats
