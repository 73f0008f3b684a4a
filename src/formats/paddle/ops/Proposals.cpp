// Region proposals of two-stage detectors, and their levels in a feature
// pyramid (Lin et al., Feature Pyramid Networks, 2017).

#include "formats/import/Indexing.h"
#include "formats/paddle/Operators.h"
#include "formats/paddle/ops/Boxes.h"
#include "graph/Types.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::paddle {

//===----------------------------------------------------------------------===//
// generate_proposals_v2
//===----------------------------------------------------------------------===//

namespace {
/// The operands by anchor: [N, K] scores, [N, K, 4] deltas, [K, 4] anchors and
/// variances.
struct Rooted {
  Value scores, deltas, anchors, variances;
};
} // namespace

/// Flattens scores [N, A, H, W] and deltas [N, 4 A, H, W] in the anchors'
/// order.
static std::optional<Rooted> readRooted(OperatorContext &op) {
  Rooted read{op.operand("Scores"), op.operand("BboxDeltas"),
              op.operand("RootKernels"), op.operand("Variances")};
  if (op.failed())
    return std::nullopt;
  if (op.rank(read.scores) != 4 || op.rank(read.deltas) != 4 ||
      op.rank(read.anchors) < 2 || op.rank(read.variances) < 2)
    return op.fail(
        "Scores or BboxDeltas has not four dimensions, or RootKernels "
        "or Variances fewer than two");
  bool isDynamic = false;
  for (Value each : {read.scores, read.deltas, read.anchors, read.variances})
    isDynamic |= !op.isStatic(each);
  if (isDynamic && waitsForSizes(op))
    return op.unknown("the number of regions is unknown");
  const Dims sizes = op.dims(read.scores);
  const Dim count = op.product({sizes[1], sizes[2], sizes[3]});
  if (!isDynamic &&
      (op.shape(read.deltas) !=
           ArrayRef<int64_t>({sizes[0].size, 4 * sizes[1].size, sizes[2].size,
                              sizes[3].size}) ||
       tensorOf(read.anchors).getNumElements() != 4 * count.size ||
       tensorOf(read.variances).getNumElements() != 4 * count.size))
    return op.fail("Scores, BboxDeltas, RootKernels and Variances do not go "
                   "together");
  read.scores = op.reshape(op.transpose(read.scores, {0, 2, 3, 1}),
                           Dims{sizes[0], count});
  read.deltas = op.reshape(op.transpose(read.deltas, {0, 2, 3, 1}),
                           Dims{sizes[0], count, Dim(4)});
  read.anchors = op.reshape(read.anchors, Dims{count, Dim(4)});
  read.variances = op.reshape(read.variances, Dims{count, Dim(4)});
  return read;
}

/// Decodes anchors and deltas, times variances, to regions, clipped to images
/// of the sizes \p images [N, 2] (height, width). Growth is clamped.
static BoxEdges decodeRegions(BoxArithmetic &a, const Rooted &from,
                              Value images, double more) {
  const double most = std::log(1000.0 / 16);
  BoxEdges anchors = edgesOf(a.op, from.anchors), regions;
  for (int d : {0, 1}) {
    auto delta = [&](int64_t i) {
      return a.op.squeeze(
          a.mul(a.part(from.variances, i), a.part(from.deltas, i)), {2});
    };
    Value extent = a.add(a.sub(anchors.high[d], anchors.low[d]), more);
    Value middle = a.add(a.mul(delta(d), extent),
                         a.add(anchors.low[d], a.mul(extent, 0.5)));
    Value half =
        a.mul(a.mul(a.exp(a.min(delta(d + 2), a.number(most))), extent), 0.5);
    Value last = a.sub(a.part(images, 1 - d), more);
    auto inside = [&](Value edge) {
      return a.max(a.min(edge, last), a.number(0));
    };
    regions.low[d] = inside(a.sub(middle, half));
    regions.high[d] = inside(a.sub(a.add(middle, half), more));
  }
  return regions;
}

/// Whether regions are large enough and, if corners are pixels, have their
/// centre within the image.
static Value largeEnough(BoxArithmetic &a, const BoxEdges &regions,
                         Value images, double least, double more) {
  Value result;
  for (int d : {0, 1}) {
    Value extent = a.add(a.sub(regions.high[d], regions.low[d]), more);
    Value isLarge = a.op.compare(extent, a.number(std::max(least, 1.0)),
                                 ComparisonDirection::GE);
    if (more != 0)
      isLarge = a.op.binary<stablehlo::AndOp>(
          isLarge,
          a.op.compare(a.add(regions.low[d], a.mul(extent, 0.5)),
                       a.part(images, 1 - d), ComparisonDirection::LE));
    result = result ? a.op.binary<stablehlo::AndOp>(result, isLarge) : isLarge;
  }
  return result;
}

/// Keeps the first \p most set flags of each row.
static Value firstSet(OperatorContext &op, Value flags, int64_t most) {
  Value rank = op.op<nn::CumulativeSumOp>(op.cast(flags, op.i64()), uint64_t(1),
                                          false, false);
  return op.binary<stablehlo::AndOp>(
      flags, op.compare(rank, op.scalar(op.i64(), static_cast<double>(most)),
                        ComparisonDirection::LE));
}

/// The best decoded regions of each image, without those that overlap better
/// ones. An image without any has one of four zeros.
static LogicalResult importGenerateProposals(OperatorContext &op) {
  auto all = readRooted(op);
  Value images = op.operand("ImShape");
  const int64_t before = op.getInt("pre_nms_topN", 6000),
                after = op.getInt("post_nms_topN", 1000);
  const double threshold = op.getFloat("nms_thresh", 0.5),
               least = op.getFloat("min_size", 0.1),
               eta = op.getFloat("eta", 1);
  const double more = op.getBool("pixel_offset", true) ? 1 : 0;
  if (!all || !images || op.failed())
    return failure();
  if (op.rank(images) != 2)
    return op.fail("ImShape is no matrix");
  auto [scores, order] =
      sortAlong(op, all->scores, 1, before <= 0 ? -1 : before,
                /*isLargest=*/true);
  if (!order)
    return failure();
  Value rows = op.unsqueeze(order, {2});
  Rooted best{scores, gatherTuples(op, all->deltas, rows, 1),
              gatherTuples(op, all->anchors, rows, 0),
              gatherTuples(op, all->variances, rows, 0)};
  BoxArithmetic a{op, op.element(all->deltas)};
  BoxEdges regions = decodeRegions(a, best, images, more);
  Value fits = largeEnough(a, regions, images, least, more);
  Value remaining = fits;
  if (threshold > 0) {
    remaining = strikeOverlaps(a, regions, fits, threshold, eta, more);
    if (remaining && after > 0)
      remaining = firstSet(op, remaining, after);
  }
  if (!remaining)
    return failure();
  Value isEmpty =
      op.op<stablehlo::NotOp>(op.reduce<stablehlo::OrOp>(fits, {1}, 0, true));
  Value isFirst = op.compare(iota(op, op.dims(remaining), 1, op.i64()),
                             op.scalar(op.i64(), 0), ComparisonDirection::EQ);
  remaining = op.binary<stablehlo::OrOp>(
      remaining, op.binary<stablehlo::AndOp>(isEmpty, isFirst));
  Value found = rowsOf(op, remaining);
  auto listed = [&](Value value) {
    return op.unsqueeze(
        gatherTuples(op, select(op, isEmpty, a.number(0), value), found, 0),
        {1});
  };
  Value boxes =
      op.concatenate(Values{listed(regions.low[0]), listed(regions.low[1]),
                            listed(regions.high[0]), listed(regions.high[1])},
                     1);
  if (mlir::failed(op.result("RpnRoiProbs", listed(scores))) ||
      mlir::failed(op.result("RpnRoisNum", countLast(op, remaining))))
    return failure();
  return op.result("RpnRois", boxes);
}

//===----------------------------------------------------------------------===//
// collect_fpn_proposals
//===----------------------------------------------------------------------===//

/// The best regions of all levels and images, ordered by image, then by score.
static LogicalResult importCollect(OperatorContext &op) {
  Values regions = op.operands("MultiLevelRois"),
         scores = op.operands("MultiLevelScores");
  const int64_t most = op.getInt("post_nms_topN", 0);
  if (op.failed())
    return failure();
  if (!op.has("MultiLevelRoIsNum"))
    return op.unsupported("regions of several levels without "
                          "MultiLevelRoIsNum: images are given by levels of "
                          "detail (LoD)");
  Values counts = op.operands("MultiLevelRoIsNum");
  if (regions.size() != scores.size() || regions.size() != counts.size() ||
      most < 0)
    return op.fail("each level needs a list of scores and one of counts, "
                   "or post_nms_topN is negative");
  Values images;
  for (auto [level, count] : llvm::zip_equal(regions, counts)) {
    if (op.rank(level) != 2 || op.rank(count) != 1)
      return op.fail("the regions of a level are no matrix, or their counts "
                     "no list");
    images.push_back(imagesOf(op, op.dim(level, 0), count));
  }
  auto taken = [&](Value from, Value indices) {
    return op.op<nn::TakeOp>(from, indices, uint64_t(0));
  };
  Value score = op.concatenate(scores, 0);
  if (score)
    score = op.reshape(score, Dims{op.product(op.dims(score))});
  Value best = sortAlong(op, score, 0, most, /*isLargest=*/true).second;
  Value image = taken(op.concatenate(images, 0), best);
  Value order =
      sortAlong(op, image, 0, /*most=*/-1, /*isLargest=*/false).second;
  Value isOwn = op.compare(
      op.unsqueeze(image, {0}),
      op.unsqueeze(iota(op, Dims{op.dim(counts[0], 0)}, 0, op.i64()), {1}),
      ComparisonDirection::EQ);
  if (mlir::failed(op.result("RoisNum", countLast(op, isOwn))))
    return failure();
  return op.result("FpnRois",
                   taken(op.concatenate(regions, 0), taken(best, order)));
}

//===----------------------------------------------------------------------===//
// distribute_fpn_proposals
//===----------------------------------------------------------------------===//

namespace {
/// The levels of a pyramid.
struct Levels {
  int64_t least, most, reference;
  /// The size of a region of the reference level.
  double size;
  double more;
};
} // namespace

static std::optional<Levels> readLevels(OperatorContext &op) {
  Levels levels{op.getInt("min_level", 2), op.getInt("max_level", 5),
                op.getInt("refer_level", 4), op.getFloat("refer_scale", 224),
                op.getBool("pixel_offset", true) ? 1.0 : 0.0};
  if (op.failed())
    return std::nullopt;
  // They come from the file, so that their difference may overflow.
  int64_t above = 0;
  if (llvm::SubOverflow(levels.most, levels.least, above) || above < 0 ||
      above > 64 || !(levels.size > 0) ||
      static_cast<int64_t>(op.outputCount("MultiFpnRois")) != above + 1)
    return op.fail("min_level, max_level or refer_scale makes no sense, or "
                   "there is not one output a level");
  return levels;
}

/// The level of each region [R]: the size doubles with each level.
static Value levelOf(OperatorContext &op, Value regions, const Levels &levels) {
  BoxArithmetic a{op, op.element(regions)};
  Value size =
      op.op<stablehlo::SqrtOp>(boxAreas(a, edgesOf(op, regions), levels.more));
  Value part = a.add(a.div(size, a.number(levels.size)), 1e-6);
  Value doublings =
      a.div(op.op<stablehlo::LogOp>(part), a.number(std::log(2.0)));
  Value level = op.op<stablehlo::FloorOp>(
      a.add(doublings, static_cast<double>(levels.reference)));
  return a.min(a.max(level, a.number(static_cast<double>(levels.least))),
               a.number(static_cast<double>(levels.most)));
}

/// The regions of each level, in order; their number for each image; and the
/// index of each region in the concatenation of the levels.
static LogicalResult importDistribute(OperatorContext &op) {
  Value regions = op.operand("FpnRois");
  auto levels = readLevels(op);
  if (!regions || !levels)
    return failure();
  if (op.rank(regions) != 2)
    return op.fail("FpnRois is no matrix");
  const bool counts = op.wants("MultiLevelRoIsNum");
  if (counts && !op.has("RoisNum"))
    return op.unsupported("counts of regions without RoisNum: images are given "
                          "by levels of detail (LoD)");
  Value level = levelOf(op, regions, *levels), image;
  if (counts) {
    Value given = op.operand("RoisNum");
    Value of = imagesOf(op, op.dim(regions, 0), given);
    // [images, R].
    image = op.compare(
        op.unsqueeze(of, {0}),
        op.unsqueeze(iota(op, Dims{op.dim(given, 0)}, 0, op.i64()), {1}),
        ComparisonDirection::EQ);
  }
  Values lists, countsByLevel;
  Value position, before = op.scalar(op.i64(), 0);
  for (int64_t i = levels->least; i <= levels->most && !op.failed(); ++i) {
    Value isHere =
        op.compare(level, op.scalar(op.element(level), static_cast<double>(i)),
                   ComparisonDirection::EQ);
    Value rows = rowsOf(op, isHere);
    if (!rows)
      return failure();
    lists.push_back(
        op.op<nn::TakeOp>(regions, op.squeeze(rows, {1}), uint64_t(0)));
    if (counts)
      countsByLevel.push_back(countLast(
          op, op.binary<stablehlo::AndOp>(op.unsqueeze(isHere, {0}), image)));
    Value here = op.cast(isHere, op.i64());
    Value rank = op.op<nn::CumulativeSumOp>(here, uint64_t(0), true, false);
    Value at = op.binary<stablehlo::AddOp>(rank, before);
    position = position ? select(op, isHere, at, position) : at;
    before = op.binary<stablehlo::AddOp>(
        before, op.reduce<stablehlo::AddOp>(here, {0}, 0, false));
  }
  if (op.failed())
    return failure();
  Value restore =
      op.cast(op.unsqueeze(position, {1}), op.builder().getI32Type());
  if (mlir::failed(op.result("RestoreIndex", restore)) ||
      (counts && mlir::failed(op.results("MultiLevelRoIsNum", countsByLevel))))
    return failure();
  return op.results("MultiFpnRois", lists);
}

OperatorReaders proposalReaders() {
  static const OperatorReader table[] = {
      {"collect_fpn_proposals", importCollect},
      {"distribute_fpn_proposals", importDistribute},
      {"generate_proposals_v2", importGenerateProposals},
  };
  return table;
}

} // namespace sinter::paddle
