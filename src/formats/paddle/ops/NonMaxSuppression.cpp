// Non-maximum suppression: the best boxes of each class.
//
// The boxes of each class are sorted by score, and those that overlap a better
// one are suppressed, or their scores lowered. The result is the best remaining
// boxes of all classes of an image; its length is dynamic.

#include "formats/import/Indexing.h"
#include "formats/paddle/Operators.h"
#include "formats/paddle/ops/Boxes.h"
#include <limits>

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::paddle {

namespace {
/// The common attributes of the operators.
struct NmsForm {
  double scoreThreshold;
  /// Maximum number of boxes of a class that are considered, and of an image
  /// that are kept; -1 for all.
  int64_t classMost, imageMost;
  int64_t background;
  /// Added to extents of boxes.
  double more;
};

/// Boxes by image and class, [B, C, K] each.
struct Candidates {
  Value score;
  /// The index of each among all boxes of the operand, and the boxes [B, C, K,
  /// 4].
  Value number, boxes;
  /// Whether each is still a candidate.
  Value remaining;
};
} // namespace

static std::optional<NmsForm> readForm(OperatorContext &op) {
  NmsForm form{op.getFloat("score_threshold", 0), op.getInt("nms_top_k", -1),
               op.getInt("keep_top_k", -1), op.getInt("background_label", 0),
               op.getBool("normalized", true) ? 0.0 : 1.0};
  if (op.failed())
    return std::nullopt;
  if (form.classMost == 0 || form.imageMost == 0)
    return op.fail("nms_top_k or keep_top_k is 0, so that there is no result");
  return form;
}

/// An iota along dimension \p at of \p rank.
static Value indexIota(OperatorContext &op, const Dim &count, int64_t rank,
                       int64_t at) {
  Dims shape(rank, Dim(1));
  shape[at] = count;
  return iota(op, shape, at, op.i64());
}

/// Pairs of elements of \p first and \p second, broadcast together.
static Value pairs(OperatorContext &op, Value first, Value second) {
  Values both = op.broadcastTogether({first, second});
  if (both.size() != 2)
    return {};
  const int64_t rank = op.rank(both[0]);
  return op.concatenate(
      ValueRange{op.unsqueeze(both[0], {rank}), op.unsqueeze(both[1], {rank})},
      rank);
}

/// The best boxes of each class, best first. With a matrix of scores [M, C] and
/// boxes [M, C, 4] RoisNum gives the number of rows per image; else they are
/// [B, C, M] and [B, M, 4].
static std::optional<Candidates> bestOfClasses(OperatorContext &op,
                                               const NmsForm &form) {
  Value boxes = op.operand("BBoxes"), scores = op.operand("Scores");
  if (!boxes || !scores)
    return std::nullopt;
  const bool isMatrix = op.rank(scores) == 2;
  if (op.rank(boxes) != 3 || (!isMatrix && op.rank(scores) != 3))
    return op.fail("BBoxes has not three dimensions, or Scores not two or "
                   "three");
  const bool isDynamic = !op.isStatic(boxes) || !op.isStatic(scores);
  if (isDynamic && waitsForSizes(op))
    return op.unknown("the number of boxes is unknown");
  auto differs = [&](int64_t size, int64_t other) {
    return size != other && !ShapedType::isDynamic(size) &&
           !ShapedType::isDynamic(other);
  };
  if (differs(op.size(boxes, 2), 4))
    return op.unsupported("boxes that are polygons");
  for (int64_t size : op.shape(scores))
    if (size > formats::longestTable)
      return op.unsupported("more than " + Twine(formats::longestTable) +
                            " boxes or classes");
  const int64_t numberAt = isMatrix ? 0 : 2, otherAt = isMatrix ? 1 : 0;
  if (differs(op.size(boxes, isMatrix ? 0 : 1), op.size(scores, numberAt)) ||
      differs(op.size(boxes, otherAt), op.size(scores, otherAt)))
    return op.fail("BBoxes and Scores do not go together");
  boxes = op.reshape(
      boxes, ArrayRef<Dim>({op.dim(boxes, 0), op.dim(boxes, 1), Dim(4)}));
  // By class, with a leading dimension of images.
  Value byClass = scores;
  const double nothing = -std::numeric_limits<double>::infinity();
  if (isMatrix) {
    if (!op.has("RoisNum"))
      return op.unsupported("boxes by class without RoisNum: images are given "
                            "by levels of detail (LoD)");
    Value counts = op.operand("RoisNum");
    if (!counts || op.rank(counts) != 1)
      return op.fail("RoisNum is no list");
    Value image = imagesOf(op, op.dim(scores, 0), counts);
    Value isOwn = op.compare(op.unsqueeze(image, {0, 1}),
                             indexIota(op, op.dim(counts, 0), 3, 0),
                             ComparisonDirection::EQ);
    byClass = select(op, isOwn, op.unsqueeze(op.transpose(scores, {1, 0}), {0}),
                     op.scalar(op.element(scores), nothing));
  }
  if (!byClass)
    return std::nullopt;
  Candidates found;
  Value order;
  std::tie(found.score, order) =
      sortAlong(op, byClass, 2, form.classMost, /*isLargest=*/true);
  if (!order)
    return std::nullopt;
  const Dim classes = op.dim(byClass, 1), all = op.dim(byClass, 2);
  Value classOf = indexIota(op, classes, 3, 1);
  auto numberIn = [&](Value outer, const Dim &inner, Value place) {
    return op.binary<stablehlo::AddOp>(
        op.binary<stablehlo::MulOp>(outer, sizeScalar(op, inner, op.i64())),
        place);
  };
  if (isMatrix) {
    found.number = numberIn(order, classes, classOf);
    found.boxes = gatherTuples(op, boxes, pairs(op, order, classOf), 0);
  } else {
    Value imageOf = indexIota(op, op.dim(byClass, 0), 3, 0);
    found.number = numberIn(imageOf, all, order);
    found.boxes = gatherTuples(op, boxes, pairs(op, imageOf, order), 0);
  }
  found.remaining = op.compare(
      found.score, op.scalar(op.element(scores), form.scoreThreshold),
      ComparisonDirection::GT);
  if (form.background >= 0)
    found.remaining = op.binary<stablehlo::AndOp>(
        found.remaining,
        op.compare(classOf,
                   op.scalar(op.i64(), static_cast<double>(form.background)),
                   ComparisonDirection::NE));
  return op.failed() ? std::nullopt : std::optional(found);
}

/// The best \p most remaining candidates of each image [B, C * K] by score.
/// Returns indices [B, chosen], and whether each is a candidate.
static std::pair<Value, Value> chooseBest(OperatorContext &op, Value score,
                                          Value remaining, int64_t most) {
  Value lowest =
      op.scalar(op.element(score), -std::numeric_limits<double>::infinity());
  Value places = sortAlong(op, select(op, remaining, score, lowest), 1, most,
                           /*isLargest=*/true)
                     .second;
  if (!places)
    return {};
  return {places, op.op<nn::TakeAlongOp>(remaining, places, uint64_t(1))};
}

/// Returns the rows (class, score, box) of the candidates at \p places [B,
/// chosen] of each image that are \p chosen, their indices, and the number of
/// them in each image.
static LogicalResult listDetections(OperatorContext &op,
                                    const Candidates &found, Value places,
                                    Value chosen) {
  if (!places || !chosen || !found.score)
    return failure();
  const Dims sizes = op.dims(found.score);
  const Dim all = op.product({sizes[1], sizes[2]});
  Value rows = rowsOf(op, chosen);
  Value image = op.sliceAxis(rows, 1, 0, 1);
  Value place = op.unsqueeze(gatherTuples(op, places, rows, 0), {1});
  if (!image || !place)
    return failure();
  Value tuples = op.concatenate(ValueRange{image, place}, 1);
  auto taken = [&](Value value, ArrayRef<Dim> shape) {
    return gatherTuples(op, op.reshape(value, shape), tuples, 0);
  };
  Value classOf = op.cast(
      op.binary<stablehlo::DivOp>(place, sizeScalar(op, sizes[2], op.i64())),
      op.element(found.score));
  Value score = op.unsqueeze(taken(found.score, {sizes[0], all}), {1});
  Value box = taken(found.boxes, {sizes[0], all, Dim(4)});
  if (!classOf || !score || !box)
    return failure();
  Value detections = op.concatenate(ValueRange{classOf, score, box}, 1);
  Type i32 = op.builder().getI32Type();
  Value number =
      op.cast(op.unsqueeze(taken(found.number, {sizes[0], all}), {1}), i32);
  // The oldest form returns one row of -1 if there is no box.
  if (op.type() == "multiclass_nms") {
    Type element = op.element(detections);
    Value extended = op.concatenate(
        ValueRange{detections, op.splat(element, -1, {1, 6})}, 0);
    Value count = op.countAlong(detections, {0}, op.i64());
    Value isEmpty =
        op.compare(count, op.scalar(op.i64(), 0), ComparisonDirection::EQ);
    Value ends = op.concatenate(
        ValueRange{op.reshape(op.binary<stablehlo::MaxOp>(
                                  count, op.scalar(op.i64(), 1)),
                              ArrayRef<int64_t>{1}),
                   op.reshape(select(op, isEmpty, op.scalar(op.i64(), 1),
                                     op.scalar(op.i64(), 6)),
                              ArrayRef<int64_t>{1})},
        0);
    detections = op.typed<stablehlo::RealDynamicSliceOp>(
        op.tensorType({ShapedType::kDynamic, ShapedType::kDynamic}, element),
        extended, op.integers({0, 0}), ends, op.integers({1, 1}));
  }
  Value counts = countLast(op, chosen);
  for (StringRef slot : {"NmsRoisNum", "RoisNum"})
    if (mlir::failed(op.result(slot, counts)))
      return failure();
  if (mlir::failed(op.result("Index", number)))
    return failure();
  return op.result("Out", detections);
}

/// [B, C, K] as [B, C * K].
static Value flatClasses(OperatorContext &op, Value value) {
  if (!value)
    return {};
  const Dims sizes = op.dims(value);
  return op.reshape(value, Dims{sizes[0], op.product({sizes[1], sizes[2]})});
}

//===----------------------------------------------------------------------===//
// multiclass_nms
//===----------------------------------------------------------------------===//

/// Sorts the candidates by index instead of by score.
static void sortByIndex(OperatorContext &op, Candidates &found) {
  Value order;
  std::tie(found.number, order) =
      sortAlong(op, found.number, 2, /*most=*/-1, /*isLargest=*/false);
  found.score = op.op<nn::TakeAlongOp>(found.score, order, uint64_t(2));
  found.remaining = op.op<nn::TakeAlongOp>(found.remaining, order, uint64_t(2));
  found.boxes = op.op<nn::TakeAlongOp>(
      found.boxes, op.broadcastInDim(order, op.dims(found.boxes), {0, 1, 2}),
      uint64_t(2));
}

/// Boxes ordered by class, within a class by score, or by index if each class
/// has its own boxes.
static LogicalResult importMulticlass(OperatorContext &op) {
  auto form = readForm(op);
  if (!form)
    return failure();
  const double threshold = op.getFloat("nms_threshold", 0.3),
               eta = op.getFloat("nms_eta", 1);
  auto found = bestOfClasses(op, *form);
  if (!found)
    return failure();
  BoxArithmetic a{op, op.element(found->boxes)};
  found->remaining =
      strikeOverlaps(a, edgesOf(op, found->boxes), found->remaining, threshold,
                     eta, form->more);
  if (!found->remaining)
    return failure();
  if (op.rank(op.operand("Scores")) == 2)
    sortByIndex(op, *found);
  if (op.failed())
    return failure();
  auto [places, chosen] =
      chooseBest(op, flatClasses(op, found->score),
                 flatClasses(op, found->remaining), form->imageMost);
  if (!places)
    return failure();
  // Chosen by score, and ordered by class.
  auto [listed, order] =
      sortAlong(op, places, 1, /*most=*/-1, /*isLargest=*/false);
  if (!order)
    return failure();
  return listDetections(op, *found, listed,
                        op.op<nn::TakeAlongOp>(chosen, order, uint64_t(1)));
}

//===----------------------------------------------------------------------===//
// matrix_nms
//===----------------------------------------------------------------------===//

/// Each score times the minimum decay by the better boxes of its class: smaller
/// the more they overlap it, and larger the more they are overlapped themselves
/// (Wang et al., SOLOv2, 2020).
static Value decayedScores(OperatorContext &op, BoxArithmetic &a,
                           const NmsForm &form, const Candidates &found) {
  const bool isGaussian = op.getBool("use_gaussian", false);
  const double sigma = op.getFloat("gaussian_sigma", 2);
  BoxEdges edges = edgesOf(op, found.boxes), one, all;
  for (int d : {0, 1}) {
    one.low[d] = op.unsqueeze(edges.low[d], {2});
    one.high[d] = op.unsqueeze(edges.high[d], {2});
    all.low[d] = op.unsqueeze(edges.low[d], {3});
    all.high[d] = op.unsqueeze(edges.high[d], {3});
  }
  // [B, C, box, better box].
  Value overlap = jaccard(a, one, all, form.more);
  const Dim count = op.dim(found.score, 2);
  Value isBetter =
      op.compare(indexIota(op, count, 4, 3), indexIota(op, count, 4, 2),
                 ComparisonDirection::LT);
  auto positive = [&](Value value) {
    return select(op, op.compare(value, a.number(0), ComparisonDirection::GT),
                  value, a.number(0));
  };
  Value most = op.reduce<stablehlo::MaxOp>(
      select(op, isBetter, positive(overlap), a.number(0)), {3}, 0, false);
  if (!most)
    return {};
  most = op.unsqueeze(most, {2});
  Value left =
      isGaussian
          ? a.exp(
                a.mul(a.sub(a.mul(most, most), a.mul(overlap, overlap)), sigma))
          : a.div(a.sub(a.number(1), overlap), a.sub(a.number(1), most));
  // A NaN does not decay the score.
  Value takes = op.binary<stablehlo::AndOp>(
      isBetter, op.compare(left, a.number(1), ComparisonDirection::LT));
  Value least = op.reduce<stablehlo::MinOp>(
      select(op, takes, left, a.number(1)), {3}, 1, false);
  return a.mul(least, found.score);
}

/// Boxes ordered by decayed score.
static LogicalResult importMatrix(OperatorContext &op) {
  auto form = readForm(op);
  const double threshold = op.getFloat("post_threshold", 0);
  auto found = form ? bestOfClasses(op, *form) : std::nullopt;
  if (!found || op.failed())
    return failure();
  BoxArithmetic a{op, op.element(found->boxes)};
  found->score = decayedScores(op, a, *form, *found);
  if (!found->score)
    return failure();
  found->remaining = op.binary<stablehlo::AndOp>(
      found->remaining,
      op.compare(found->score, a.number(threshold), ComparisonDirection::GT));
  auto [places, chosen] =
      chooseBest(op, flatClasses(op, found->score),
                 flatClasses(op, found->remaining), form->imageMost);
  return listDetections(op, *found, places, chosen);
}

OperatorReaders suppressionReaders() {
  static const OperatorReader table[] = {
      {"matrix_nms", importMatrix},
      {"multiclass_nms", importMulticlass},
      {"multiclass_nms2", importMulticlass},
      {"multiclass_nms3", importMulticlass},
  };
  return table;
}

} // namespace sinter::paddle
