// Boxes of detectors, before suppression.

#include "formats/paddle/Operators.h"
#include "formats/paddle/ops/Boxes.h"
#include "runtime/OptionNames.h"
#include <cmath>

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::paddle {

//===----------------------------------------------------------------------===//
// yolo_box
//===----------------------------------------------------------------------===//

namespace {
/// The attributes of yolo_box.
struct YoloForm {
  Ints anchors;
  int64_t classes = 1, ratio = 32;
  double threshold = 0, scale = 1, iouFactor = 0.5;
  bool clips = true, knowsIou = false;
  int64_t count() const { return static_cast<int64_t>(anchors.size()) / 2; }
};
} // namespace

static std::optional<YoloForm> readYolo(OperatorContext &op) {
  YoloForm form;
  form.anchors = op.getInts("anchors");
  form.classes = op.getInt("class_num", 1);
  form.ratio = op.getInt("downsample_ratio", 32);
  form.threshold = op.getFloat("conf_thresh", 0.01);
  form.scale = op.getFloat("scale_x_y", 1);
  form.clips = op.getBool("clip_bbox", true);
  form.knowsIou = op.getBool("iou_aware", false);
  form.iouFactor = op.getFloat("iou_aware_factor", 0.5);
  if (op.failed())
    return std::nullopt;
  if (form.anchors.empty() || form.anchors.size() % 2 != 0 ||
      form.anchors.size() > 1024 || form.classes < 1 ||
      form.classes > (1 << 20) || form.ratio < 1)
    return op.fail("anchors, class_num or downsample_ratio makes no sense");
  return form;
}

/// Centres along one dimension: 0 for the width, 1 for the height. \p raw is
/// [N, anchors, H, W, 1], \p extent the image's size there, [N, 1, 1, 1, 1].
static Value yoloCentre(BoxArithmetic &a, const YoloForm &form, Value raw,
                        Value extent, int64_t dimension) {
  Dim cells = a.op.dim(raw, dimension == 0 ? 3 : 2);
  Dims line(5, Dim(1));
  line[dimension == 0 ? 3 : 2] = cells;
  Value cell = iota(a.op, line, dimension == 0 ? 3 : 2, a.element);
  Value offset =
      a.add(a.mul(a.sigmoid(raw), form.scale), -0.5 * (form.scale - 1));
  Value place = a.mul(a.add(cell, offset), extent);
  return a.div(place, sizeScalar(a.op, cells, a.element));
}

/// Extents: those of the anchors, which are in pixels of the network's input.
static Value yoloExtent(BoxArithmetic &a, const YoloForm &form, Value raw,
                        Value extent, int64_t dimension) {
  SmallVector<double> own;
  for (int64_t i = 0; i < form.count(); ++i)
    own.push_back(static_cast<double>(form.anchors[2 * i + dimension]));
  Value anchors = numbers(a.op, a.element, own, {1, form.count(), 1, 1, 1});
  Dim cells = a.op.dim(raw, dimension == 0 ? 3 : 2);
  Value input = a.mul(sizeScalar(a.op, cells, a.element),
                      static_cast<double>(form.ratio));
  return a.div(a.mul(a.mul(a.exp(raw), anchors), extent), input);
}

/// X [N, anchors * (5 + classes), H, W] and the images' heights and widths to
/// boxes [N, anchors * H * W, 4] and scores; both 0 if the confidence is below
/// the threshold.
static LogicalResult importYoloBox(OperatorContext &op) {
  Value x = op.operand("X"), images = op.operand("ImgSize");
  auto form = readYolo(op);
  if (!x || !images || !form)
    return failure();
  const int64_t count = form->count(), each = 5 + form->classes;
  const int64_t first = form->knowsIou ? count : 0;
  if (op.rank(x) != 4 || op.rank(images) != 2 ||
      (!ShapedType::isDynamic(op.size(x, 1)) &&
       op.size(x, 1) != count * each + first))
    return op.fail("X has not " + Twine(count * each + first) +
                   " channels of images, or ImgSize is no matrix");
  BoxArithmetic a{op, op.element(x)};
  Dims d = op.dims(x);
  // [N, anchors, H, W, 5 + classes].
  Value all =
      op.transpose(op.reshape(op.sliceAxis(x, 1, first, first + count * each),
                              ArrayRef<Dim>({d[0], count, each, d[2], d[3]})),
                   {0, 1, 3, 4, 2});
  Value sizes =
      op.reshape(op.cast(images, a.element), ArrayRef<Dim>({d[0], 1, 1, 1, 2}));
  Value extents[2] = {a.part(sizes, 1), a.part(sizes, 0)};
  Value sure = a.sigmoid(a.part(all, 4));
  if (form->knowsIou) {
    Value iou =
        a.sigmoid(op.reshape(op.sliceAxis(x, 1, 0, first),
                             ArrayRef<Dim>({d[0], count, d[2], d[3], 1})));
    sure =
        a.mul(op.binary<stablehlo::PowOp>(sure, a.number(1 - form->iouFactor)),
              op.binary<stablehlo::PowOp>(iou, a.number(form->iouFactor)));
  }
  Value low[2], high[2];
  for (int64_t i : {0, 1}) {
    Value centre = yoloCentre(a, *form, a.part(all, i), extents[i], i);
    Value half =
        a.mul(yoloExtent(a, *form, a.part(all, i + 2), extents[i], i), 0.5);
    low[i] = a.sub(centre, half);
    high[i] = a.add(centre, half);
    if (form->clips) {
      low[i] = op.binary<stablehlo::MaxOp>(low[i], a.number(0));
      high[i] = op.binary<stablehlo::MinOp>(high[i], a.sub(extents[i], 1));
    }
  }
  Value isSure =
      op.compare(sure, a.number(form->threshold), ComparisonDirection::GE);
  Value boxes = a.concatenate({low[0], low[1], high[0], high[1]});
  Value scores = a.mul(a.sigmoid(op.sliceAxis(all, 4, 5, each)), sure);
  Dim rows = op.product({Dim(count), d[2], d[3]});
  auto listed = [&](Value value, int64_t width) {
    return op.reshape(select(op, isSure, value, a.number(0)),
                      ArrayRef<Dim>({d[0], rows, width}));
  };
  if (mlir::failed(op.result("Scores", listed(scores, form->classes))))
    return failure();
  return op.result("Boxes", listed(boxes, 4));
}

//===----------------------------------------------------------------------===//
// prior_box
//===----------------------------------------------------------------------===//

/// The ratios, 1 first, with their inverses if `flip`, without duplicates.
static SmallVector<double> expandRatios(ArrayRef<double> given, bool flips) {
  SmallVector<double> ratios = {1};
  for (double ratio : given) {
    const bool isThere = llvm::any_of(
        ratios, [&](double each) { return std::abs(each - ratio) < 1e-6; });
    if (isThere)
      continue;
    ratios.push_back(ratio);
    if (flips)
      ratios.push_back(1 / ratio);
  }
  return ratios;
}

/// Half the width and half the height of each box of a cell.
static std::optional<SmallVector<std::pair<double, double>>>
priorExtents(OperatorContext &op) {
  auto least = op.getFloats("min_sizes"), most = op.getFloats("max_sizes"),
       given = op.getFloats("aspect_ratios");
  const bool squaresFirst = op.getBool("min_max_aspect_ratios_order", false);
  if (op.failed())
    return std::nullopt;
  if (least.empty() || (!most.empty() && most.size() != least.size()) ||
      least.size() > 1024 || given.size() > 1024)
    return op.fail("min_sizes, max_sizes or aspect_ratios makes no sense");
  for (double ratio : given)
    if (!(ratio > 0))
      return op.fail("an aspect ratio is not positive");
  SmallVector<double> ratios = expandRatios(given, op.getBool("flip", true));
  SmallVector<std::pair<double, double>> extents;
  for (auto [i, size] : llvm::enumerate(least)) {
    auto addRatio = [&, size = size](double ratio) {
      extents.push_back(
          {size * std::sqrt(ratio) / 2, size / std::sqrt(ratio) / 2});
    };
    auto addSquare = [&, i = i, size = size] {
      if (most.empty())
        return;
      const double half = std::sqrt(size * most[i]) / 2;
      extents.push_back({half, half});
    };
    addRatio(1);
    if (squaresFirst)
      addSquare();
    for (double ratio : ArrayRef(ratios).drop_front())
      addRatio(ratio);
    if (!squaresFirst)
      addSquare();
  }
  return extents;
}

namespace {
/// The offset of prior boxes in their cells, and the distance of cells (0: the
/// ratio of the images' sizes), rows first.
struct PriorForm {
  SmallVector<std::pair<double, double>> extents;
  SmallVector<double> variances;
  double offset = 0.5, steps[2] = {0, 0};
  bool clips = true;
};
} // namespace

/// The boxes of images with dynamic sizes.
static LogicalResult layPriorsDynamic(OperatorContext &op,
                                      const PriorForm &form, Value cells,
                                      Value image) {
  BoxArithmetic a{op, op.element(cells)};
  const auto count = static_cast<int64_t>(form.extents.size());
  const Dims sizes = {op.dim(cells, 2), op.dim(cells, 3), Dim(count)};
  Value edges[2][2];
  for (int64_t d : {0, 1}) {
    Value pixels = sizeScalar(op, op.dim(image, 2 + d), a.element);
    Value step = form.steps[d] != 0
                     ? a.number(form.steps[d])
                     : a.div(pixels, sizeScalar(op, sizes[d], a.element));
    Dims line(3, Dim(1));
    line[d] = sizes[d];
    Value middle =
        a.mul(a.add(iota(op, line, d, a.element), form.offset), step);
    SmallVector<double> halves;
    for (auto [halfWidth, halfHeight] : form.extents)
      halves.push_back(d == 0 ? halfHeight : halfWidth);
    Value half = numbers(op, a.element, halves, {1, 1, count});
    for (int end : {0, 1}) {
      Value edge =
          a.div(end == 0 ? a.sub(middle, half) : a.add(middle, half), pixels);
      if (form.clips)
        edge = a.min(a.max(edge, a.number(0)), a.number(1));
      edges[end][d] =
          op.unsqueeze(op.broadcastInDim(edge, sizes, {0, 1, 2}), {3});
    }
  }
  Dims all(sizes);
  all.push_back(Dim(4));
  Value spreads = op.broadcastInDim(
      numbers(op, a.element, form.variances, {1, 1, 1, 4}), all, {0, 1, 2, 3});
  if (mlir::failed(op.result("Variances", spreads)))
    return failure();
  return op.result("Boxes", a.concatenate({edges[0][1], edges[0][0],
                                           edges[1][1], edges[1][0]}));
}

/// Boxes [H, W, boxes per cell, 4] over the cells of Input, relative to the
/// size of Image.
static LogicalResult importPriorBox(OperatorContext &op) {
  Value cells = op.operand("Input"), image = op.operand("Image");
  auto extents = priorExtents(op);
  PriorForm form;
  form.variances = op.getFloats("variances");
  form.offset = op.getFloat("offset", 0.5);
  form.clips = op.getBool("clip", true);
  form.steps[0] = op.getFloat("step_h", 0);
  form.steps[1] = op.getFloat("step_w", 0);
  if (!cells || !image || !extents || op.failed())
    return failure();
  form.extents = std::move(*extents);
  if (form.variances.empty())
    form.variances = {0.1, 0.1, 0.2, 0.2};
  if (op.rank(cells) != 4 || op.rank(image) != 4 || form.variances.size() != 4)
    return op.fail("Input or Image is no image, or variances are not four");
  ArrayRef<int64_t> grid = op.shape(cells).drop_front(2),
                    pixels = op.shape(image).drop_front(2);
  const bool isDynamic =
      ShapedType::isDynamicShape(grid) || ShapedType::isDynamicShape(pixels);
  if (isDynamic && op.expandsUnknown())
    return layPriorsDynamic(op, form, cells, image);
  if (isDynamic)
    return op.unknown("boxes need the sizes of both images; give the input's "
                      "with " +
                      optionText("shape"));
  const auto count = static_cast<int64_t>(form.extents.size());
  if (grid[0] < 1 || grid[1] < 1 || pixels[0] < 1 || pixels[1] < 1 ||
      grid[0] > (1 << 22) / grid[1] / count)
    return op.fail("a size is out of range");
  for (int i : {0, 1})
    if (form.steps[i] == 0)
      form.steps[i] =
          static_cast<double>(pixels[i]) / static_cast<double>(grid[i]);
  SmallVector<double> boxes, spreads;
  auto add = [&](double pixel, int64_t extent) {
    const double part = pixel / static_cast<double>(extent);
    boxes.push_back(form.clips ? std::clamp(part, 0.0, 1.0) : part);
  };
  for (int64_t h = 0; h < grid[0]; ++h)
    for (int64_t w = 0; w < grid[1]; ++w) {
      const double y = (static_cast<double>(h) + form.offset) * form.steps[0],
                   x = (static_cast<double>(w) + form.offset) * form.steps[1];
      for (auto [halfWidth, halfHeight] : form.extents) {
        add(x - halfWidth, pixels[1]);
        add(y - halfHeight, pixels[0]);
        add(x + halfWidth, pixels[1]);
        add(y + halfHeight, pixels[0]);
        spreads.append(form.variances);
      }
    }
  Type element = op.element(cells);
  const Ints shape = {grid[0], grid[1], count, 4};
  if (mlir::failed(
          op.result("Variances", numbers(op, element, spreads, shape))))
    return failure();
  return op.result("Boxes", numbers(op, element, boxes, shape));
}

//===----------------------------------------------------------------------===//
// box_coder
//===----------------------------------------------------------------------===//

namespace {
/// Boxes as centres and extents, each [..., 1].
struct CentredBoxes {
  Value middle[2], extent[2];
};
} // namespace

/// \p more is added to extents: 1 if corners are pixels.
static CentredBoxes centredBoxes(BoxArithmetic &a, Value corners, double more) {
  CentredBoxes boxes;
  for (int64_t i : {0, 1}) {
    Value low = a.part(corners, i), high = a.part(corners, i + 2);
    boxes.extent[i] = a.add(a.sub(high, low), more);
    boxes.middle[i] = a.add(low, a.mul(boxes.extent[i], 0.5));
  }
  return boxes;
}

/// Element \p i of the variances, from a tensor or the attribute; 1 by default.
static Value varianceAt(OperatorContext &op, BoxArithmetic &a, Value tensor,
                        ArrayRef<double> list, int64_t i) {
  if (tensor)
    return a.part(tensor, i);
  return op.scalar(a.element, list.empty() ? 1 : list[i]);
}

/// Encodes each target box relative to each prior box, or decodes.
static LogicalResult importBoxCoder(OperatorContext &op) {
  Value prior = op.operand("PriorBox"), target = op.operand("TargetBox"),
        variance = op.optional("PriorBoxVar");
  const std::string type = op.getString("code_type", "encode_center_size");
  const auto list = op.getFloats("variance");
  const double more = op.getBool("box_normalized", true) ? 0 : 1;
  const int64_t axis = op.getInt("axis", 0);
  if (!prior || !target || op.failed())
    return failure();
  const bool encodes = type == "encode_center_size";
  if (!encodes && type != "decode_center_size")
    return op.fail("attribute 'code_type' is '" + type + "'");
  if (op.rank(prior) != 2 || op.rank(target) != (encodes ? 2 : 3) ||
      (axis != 0 && axis != 1) || (!list.empty() && list.size() != 4))
    return op.fail("PriorBox, TargetBox, axis or variance makes no sense");
  BoxArithmetic a{op, op.element(target)};
  // One row per prior box: along the second dimension, except for axis 1.
  const int64_t along = !encodes && axis == 1 ? 1 : 0;
  CentredBoxes boxes = centredBoxes(a, op.unsqueeze(prior, {along}), more);
  if (variance)
    variance = op.unsqueeze(variance, {along});
  Values coded[2];
  if (encodes) {
    Value rows = op.unsqueeze(target, {1});
    CentredBoxes own = centredBoxes(a, rows, more);
    for (int64_t i : {0, 1}) {
      Value middle = a.mul(a.add(a.part(rows, i), a.part(rows, i + 2)), 0.5);
      coded[0].push_back(
          a.div(a.div(a.sub(middle, boxes.middle[i]), boxes.extent[i]),
                varianceAt(op, a, variance, list, i)));
      Value ratio =
          op.op<stablehlo::AbsOp>(a.div(own.extent[i], boxes.extent[i]));
      coded[1].push_back(a.div(op.op<stablehlo::LogOp>(ratio),
                               varianceAt(op, a, variance, list, i + 2)));
    }
  } else {
    for (int64_t i : {0, 1}) {
      Value moved =
          a.mul(a.mul(varianceAt(op, a, variance, list, i), a.part(target, i)),
                boxes.extent[i]);
      Value middle = a.add(moved, boxes.middle[i]);
      Value half =
          a.mul(a.mul(a.exp(a.mul(varianceAt(op, a, variance, list, i + 2),
                                  a.part(target, i + 2))),
                      boxes.extent[i]),
                0.5);
      coded[0].push_back(a.sub(middle, half));
      coded[1].push_back(a.sub(a.add(middle, half), more));
    }
  }
  return op.result("OutputBox", a.concatenate({coded[0][0], coded[0][1],
                                               coded[1][0], coded[1][1]}));
}

OperatorReaders detectionReaders() {
  static const OperatorReader table[] = {
      {"box_coder", importBoxCoder},
      {"prior_box", importPriorBox},
      {"yolo_box", importYoloBox},
  };
  return table;
}

} // namespace sinter::paddle
