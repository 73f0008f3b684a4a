// Interpolated sampling of images: grids and regions.

#include "formats/import/Sampling.h"

#include "formats/import/Products.h"
#include "formats/paddle/Operators.h"
#include "formats/paddle/ops/Boxes.h"

using namespace mlir;

namespace sinter::paddle {

using formats::GridRules;
using formats::RoiRules;

static LogicalResult importGridSampler(OperatorContext &op) {
  Value x = op.operand("X"), grid = op.operand("Grid");
  const std::string mode = op.getString("mode", "bilinear"),
                    outside = op.getString("padding_mode", "zeros");
  GridRules rules;
  rules.alignCorners = op.getBool("align_corners", true);
  rules.roundsHalfAway = true;
  if (!x || !grid || op.failed())
    return failure();
  if (mode != "bilinear" && mode != "nearest")
    return op.fail("attribute 'mode' is '" + mode + "'");
  rules.mode = mode == "nearest" ? "nearest" : "linear";
  if (outside == "border")
    rules.outside = GridRules::Outside::Border;
  else if (outside == "reflection")
    rules.outside = GridRules::Outside::Reflection;
  else if (outside != "zeros")
    return op.fail("attribute 'padding_mode' is '" + outside + "'");
  return op.result("Output", sampleGrid(op, x, grid, rules));
}

/// Maximum number of points of a constant grid.
static constexpr int64_t mostPixels = 1 << 24;

/// The coordinates from -1 to 1 along a dimension of \p size pixels: of pixel
/// centres, or with aligned corners so that the outermost pixels are at the
/// ends.
static SmallVector<double> pixelCoordinates(int64_t size, bool alignsCorners) {
  SmallVector<double> places;
  for (int64_t i = 0; i < size; ++i) {
    const auto at = static_cast<double>(i), count = static_cast<double>(size);
    if (alignsCorners)
      places.push_back(size == 1 ? -1 : -1 + 2 * at / (count - 1));
    else
      places.push_back((2 * at + 1) / count - 1);
  }
  return places;
}

/// (x, y) of each pixel after the transformation Theta [N, 2, 3] of (x, y, 1).
static LogicalResult importAffineGrid(OperatorContext &op) {
  Value theta = op.operand("Theta");
  auto sizes = op.integersFrom({"OutputShape"}, "output_shape");
  if (!theta || !sizes)
    return failure();
  if (op.rank(theta) != 3 || sizes->size() != 4)
    return op.unsupported("grids of other than images of two dimensions");
  const int64_t height = (*sizes)[2], width = (*sizes)[3];
  if (height < 1 || width < 1 || width > mostPixels ||
      height > mostPixels / width)
    return op.fail("the output's size is out of range");
  const bool alignsCorners = op.getBool("align_corners", true);
  SmallVector<double> xs = pixelCoordinates(width, alignsCorners),
                      ys = pixelCoordinates(height, alignsCorners), places;
  for (double y : ys)
    for (double x : xs)
      places.append({x, y, 1.0});
  Value pixels = numbers(op, op.element(theta), places, {height * width, 3});
  Value moved = dotGeneral(op, theta, pixels, {}, {}, {2}, {1});
  return op.result("Output", op.reshape(op.transpose(moved, {0, 2, 1}),
                                        ArrayRef<Dim>({op.dim(theta, 0), height,
                                                       width, 2})));
}

/// The image index of each region.
static Value regionImages(OperatorContext &op, Value x, Value regions) {
  if (op.has("RoisNum"))
    return imagesOf(op, op.dim(regions, 0), op.operand("RoisNum"));
  if (op.size(x, 0) != 1)
    return op.unsupported("regions of several images without RoisNum: their "
                          "images are given by levels of detail (LoD)");
  return op.broadcastInDim(op.scalar(op.i64(), 0), Dims{op.dim(regions, 0)},
                           {});
}

static LogicalResult importRoiAlign(OperatorContext &op) {
  Value x = op.operand("X"), regions = op.operand("ROIs");
  RoiRules rules;
  rules.bins[0] = op.getInt("pooled_height", 1);
  rules.bins[1] = op.getInt("pooled_width", 1);
  rules.samples = op.getInt("sampling_ratio", -1);
  rules.scale = op.getFloat("spatial_scale", 1);
  rules.halfPixel = op.getBool("aligned", false);
  if (!x || !regions || op.failed())
    return failure();
  auto isSmall = [](int64_t each) { return each >= 1 && each <= 4096; };
  if (!isSmall(rules.bins[0]) || !isSmall(rules.bins[1]) ||
      rules.samples > 4096)
    return op.fail("a size is out of range");
  rules.samples = std::max<int64_t>(rules.samples, 0);
  return op.result(
      "Out", alignRegions(op, x, regions, regionImages(op, x, regions), rules));
}

OperatorReaders samplingReaders() {
  static const OperatorReader table[] = {
      {"affine_grid", importAffineGrid},
      {"grid_sampler", importGridSampler},
      {"roi_align", importRoiAlign},
  };
  return table;
}

} // namespace sinter::paddle
