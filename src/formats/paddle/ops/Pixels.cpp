// Moves elements between channels, spatial dimensions and images.

#include "formats/import/SizeArithmetic.h"
#include "formats/import/Slices.h"
#include "formats/paddle/Operators.h"
#include "formats/paddle/ops/Windows.h"

using namespace mlir;

namespace sinter::paddle {

/// Interleaves groups of channels (channel shuffle).
static LogicalResult importShuffleChannel(OperatorContext &op) {
  Value x = op.operand("X");
  const int64_t group = op.getInt("group", 1);
  if (!x || op.failed())
    return failure();
  if (op.rank(x) != 4)
    return op.fail("X has not four dimensions");
  const int64_t channels = op.size(x, 1);
  if (ShapedType::isDynamic(channels))
    return op.unknown("the number of channels is unknown");
  if (group < 1 || channels % group != 0)
    return op.fail("the channels are no multiple of group");
  Dims all = op.dims(x);
  Value grouped = op.reshape(
      x, ArrayRef<Dim>({all[0], group, channels / group, all[2], all[3]}));
  return op.result("Out", op.reshape(op.transpose(grouped, {0, 2, 1, 3, 4}),
                                     ArrayRef<Dim>(all)));
}

/// \p dim divided by \p by; fails if it is not divisible.
static Dim divided(OperatorContext &op, const Dim &dim, int64_t by) {
  if (!dim.isStatic())
    return Dim(ShapedType::kDynamic,
               op.op<stablehlo::DivOp>(dim.extent, op.integers({by})));
  if (dim.size % by != 0)
    op.fail("a dimension of " + Twine(dim.size) + " is no multiple of " +
            Twine(by));
  return Dim(dim.size / by);
}

/// [N, C * r * r, H, W] as [N, C, H * r, W * r], or back.
static LogicalResult shufflePixels(OperatorContext &op, StringRef name,
                                   bool grows) {
  Value x = op.operand("X");
  const int64_t r = op.getInt(name, 1);
  if (!x || op.failed())
    return failure();
  if (op.rank(x) != 4 || r < 1 || r > (1 << 15))
    return op.fail("X has not four dimensions, or the factor is out of range");
  const bool isLast = hasChannelsLast(op);
  if (isLast)
    x = channelsFirst(op, x);
  Dims d = op.dims(x);
  Value result;
  if (grows) {
    Dim depth = divided(op, d[1], r * r);
    result = op.transpose(
        op.reshape(x, ArrayRef<Dim>({d[0], depth, r, r, d[2], d[3]})),
        {0, 1, 4, 2, 5, 3});
    result = op.reshape(result,
                        ArrayRef<Dim>({d[0], depth, op.product({d[2], Dim(r)}),
                                       op.product({d[3], Dim(r)})}));
  } else {
    Dim height = divided(op, d[2], r), width = divided(op, d[3], r);
    result = op.transpose(
        op.reshape(x, ArrayRef<Dim>({d[0], d[1], height, r, width, r})),
        {0, 1, 3, 5, 2, 4});
    result = op.reshape(
        result,
        ArrayRef<Dim>({d[0], op.product({d[1], Dim(r * r)}), height, width}));
  }
  if (result && isLast)
    result = channelsLast(op, result);
  return op.result("Out", result);
}
static LogicalResult importPixelShuffle(OperatorContext &op) {
  return shufflePixels(op, "upscale_factor", true);
}
static LogicalResult importPixelUnshuffle(OperatorContext &op) {
  return shufflePixels(op, "downscale_factor", false);
}

/// What YOLO v2 calls reorg. The elements are arranged as if the spatial
/// dimensions grew: the channels of a block become rows and columns of [N, C /
/// r^2, H * r, W * r]. The result has the same elements in the same order as
/// [N, C * r^2, H / r, W / r].
static LogicalResult importSpaceToDepth(OperatorContext &op) {
  Value x = op.operand("X");
  const int64_t r = op.getInt("blocksize", 2);
  if (!x || op.failed())
    return failure();
  if (op.rank(x) != 4 || r < 2 || r > (1 << 15))
    return op.fail("X has not four dimensions, or blocksize is out of range");
  Dims d = op.dims(x);
  const Dim depth = divided(op, d[1], r * r);
  Value grown = op.transpose(
      op.reshape(x, ArrayRef<Dim>({d[0], r, r, depth, d[2], d[3]})),
      {0, 3, 4, 1, 5, 2});
  return op.result(
      "Out",
      op.reshape(grown,
                 ArrayRef<Dim>({d[0], op.product({d[1], Dim(r * r)}),
                                divided(op, d[2], r), divided(op, d[3], r)})));
}

/// [N * T, C, H, W]: in each of the T frames of a video a fraction of the
/// channels comes from the previous frame, as many from the next one; 0 beyond
/// the ends.
static LogicalResult importTemporalShift(OperatorContext &op) {
  Value x = op.operand("X");
  const int64_t length = op.getInt("seg_num", 1);
  const double part = op.getFloat("shift_ratio", 0.25);
  if (!x || op.failed())
    return failure();
  if (op.rank(x) != 4 || length < 1 || !(part >= 0) || part > 0.5)
    return op.fail("X has not four dimensions, or seg_num or shift_ratio is "
                   "out of range");
  const bool isLast = hasChannelsLast(op);
  if (isLast)
    x = channelsFirst(op, x);
  Dims all = op.dims(x);
  if (!all[1].isStatic())
    return op.unknown("the number of channels is unknown");
  const Dim count = divided(op, all[0], length);
  const int64_t channels = all[1].size;
  const auto first = static_cast<int64_t>(static_cast<double>(channels) * part),
             second =
                 static_cast<int64_t>(static_cast<double>(channels) * 2 * part);
  Value films =
      op.reshape(x, ArrayRef<Dim>({count, length, channels, all[2], all[3]}));
  auto moved = [&](int64_t from, int64_t to, int64_t low, int64_t high) {
    Value own = op.sliceAxis(films, 2, from, to);
    return low == 0 && high == 0
               ? own
               : op.pad(own, 0, {0, low, 0, 0, 0}, {0, high, 0, 0, 0});
  };
  Values pieces = {moved(0, first, 1, -1), moved(first, second, -1, 1),
                   moved(second, channels, 0, 0)};
  Value result = op.reshape(op.concatenate(pieces, 2), ArrayRef<Dim>(all));
  if (result && isLast)
    result = channelsLast(op, result);
  return op.result("Out", result);
}

/// The number of windows of \p reach elements in a dimension.
static std::optional<Dim> countWindows(OperatorContext &op, const Dim &size,
                                       int64_t reach, int64_t stride) {
  if (size.isStatic()) {
    if (size.size < reach)
      return op.fail("a window is larger than the image");
    return Dim((size.size - reach) / stride + 1);
  }
  formats::SizeArithmetic a(op);
  return a.add(a.divide(a.subtract(size, reach), stride), 1);
}

/// Slices an axis to the element at \p first of each window.
static void takeOneOfEach(OperatorContext &op, formats::Slicer &slicer,
                          int64_t axis, int64_t first, const Dim &count,
                          int64_t stride) {
  formats::SizeArithmetic a(op);
  formats::SliceBound end{{}, {}, 0};
  if (count.isStatic())
    end.element =
        formats::Element::integer(first + (count.size - 1) * stride + 1);
  else
    end.list =
        a.add(a.multiply(a.subtract(count, 1), stride), first + 1).extent;
  slicer.along(axis, {formats::Element::integer(first), {}, 0}, end, stride);
}

/// The windows of images as columns: [N, C * window, windows] (im2col).
static LogicalResult importUnfold(OperatorContext &op) {
  Value x = op.operand("X");
  Ints size = op.getInts("kernel_sizes"), strides = op.getInts("strides"),
       pads = op.getInts("paddings"), dilations = op.getInts("dilations");
  if (!x || op.failed())
    return failure();
  if (pads.size() == 2)
    pads.append({pads[0], pads[1]});
  if (op.rank(x) != 4 || size.size() != 2 || strides.size() != 2 ||
      pads.size() != 4 || dilations.size() != 2)
    return op.fail("X has not four dimensions, or a list not one element a "
                   "spatial dimension");
  auto isSane = [](int64_t each) { return each >= 0 && each < (1 << 20); };
  for (const Ints &list : {size, strides, pads, dilations})
    if (!llvm::all_of(list, isSane))
      return op.fail("a number is negative or too large");
  if (size[0] < 1 || size[1] < 1 || size[0] * size[1] > (1 << 12) ||
      strides[0] < 1 || strides[1] < 1 || dilations[0] < 1 || dilations[1] < 1)
    return op.fail("a window, stride or dilation is not positive or too large");
  Dims all = op.dims(x);
  const bool isDynamic = !all[2].isStatic() || !all[3].isStatic();
  if (isDynamic && !op.expandsUnknown())
    return op.unknown("the size of the images is unknown");
  x = op.pad(x, 0, {0, 0, pads[0], pads[1]}, {0, 0, pads[2], pads[3]});
  Dims count;
  for (int i : {0, 1}) {
    auto windows = countWindows(op, op.dim(x, i + 2),
                                (size[i] - 1) * dilations[i] + 1, strides[i]);
    if (!windows)
      return failure();
    count.push_back(*windows);
  }
  Values taken;
  for (int64_t i = 0; i < size[0]; ++i)
    for (int64_t j = 0; j < size[1]; ++j) {
      formats::Slicer slicer(op, x);
      for (auto [axis, at] : {std::pair(0, i), std::pair(1, j)})
        takeOneOfEach(op, slicer, axis + 2, at * dilations[axis], count[axis],
                      strides[axis]);
      Value part = slicer.finish();
      // One per window, a size that the slice does not infer.
      if (part && isDynamic)
        part = op.reshape(part,
                          ArrayRef<Dim>({all[0], all[1], count[0], count[1]}));
      taken.push_back(op.unsqueeze(part, {2}));
    }
  Dim rows = op.product({all[1], Dim(size[0] * size[1])});
  return op.result(
      "Y", op.reshape(op.concatenate(taken, 2),
                      ArrayRef<Dim>({all[0], rows, op.product(count)})));
}

OperatorReaders pixelReaders() {
  static const OperatorReader table[] = {
      {"pixel_shuffle", importPixelShuffle},
      {"pixel_unshuffle", importPixelUnshuffle},
      {"shuffle_channel", importShuffleChannel},
      {"space_to_depth", importSpaceToDepth},
      {"temporal_shift", importTemporalShift},
      {"unfold", importUnfold},
  };
  return table;
}

} // namespace sinter::paddle
