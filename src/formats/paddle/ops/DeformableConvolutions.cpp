// Convolutions that sample each element of a window at its own offset (Dai et
// al., Deformable Convolutional Networks, 2017; with a mask: Zhu et al., 2019).

#include "formats/import/Building.h"
#include "formats/import/Convolutions.h"
#include "formats/import/Sampling.h"
#include "formats/paddle/Operators.h"
#include "formats/paddle/ops/Windows.h"

using namespace mlir;

namespace sinter::paddle {

namespace {
/// The operands: an image [N, C, H, W], a filter [O, C / groups, h, w], and the
/// offsets of each window's elements, as rows and columns [N, offsetGroups, h *
/// w, spatial...].
struct Deformed {
  Value input, filter, offset, mask;
  Window window;
  /// The number of groups of channels, each with its own offsets.
  int64_t offsetGroups = 1;
  int64_t taps() const { return window.size[0] * window.size[1]; }
};
} // namespace

/// Fails if a static size of \p value differs from \p expected.
static bool hasSizes(OperatorContext &op, Value value, StringRef slot,
                     ArrayRef<int64_t> expected) {
  if (op.rank(value) != static_cast<int64_t>(expected.size())) {
    op.fail(slot + " has not " + Twine(expected.size()) + " dimensions");
    return false;
  }
  for (auto [i, size] : llvm::enumerate(op.shape(value)))
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(expected[i]) &&
        size != expected[i]) {
      op.fail("dimension " + Twine(i) + " of " + slot + " is " + Twine(size) +
              ", not " + Twine(expected[i]));
      return false;
    }
  return true;
}

static std::optional<Deformed> readDeformed(OperatorContext &op) {
  Deformed read;
  read.input = op.operand("Input");
  read.filter = op.operand("Filter");
  read.offset = op.operand("Offset");
  read.mask = op.optional("Mask");
  read.offsetGroups = op.getInt("deformable_groups", 1);
  const int64_t groups = op.getInt("groups", 1);
  if (op.failed())
    return std::nullopt;
  if (op.rank(read.input) != 4 || op.rank(read.filter) != 4)
    return op.fail("Input or Filter has not four dimensions");
  if (!op.isStatic(read.filter))
    return op.unknown("the filter's shape is known only at run time");
  const int64_t channels = op.shape(read.input)[1];
  if (ShapedType::isDynamic(channels))
    return op.unknown("the number of channels is unknown");
  if (groups < 1 || read.offsetGroups < 1 ||
      channels % read.offsetGroups != 0 || channels % groups != 0 ||
      op.shape(read.filter)[0] % groups != 0 ||
      op.shape(read.filter)[1] != channels / groups)
    return op.fail("the channels do not go together with groups, "
                   "deformable_groups and Filter");
  auto window = readWindow(op, read.input, op.shape(read.filter).drop_front(2));
  if (!window)
    return std::nullopt;
  read.window = *window;
  Ints extents = {ShapedType::kDynamic, ShapedType::kDynamic};
  for (int i : {0, 1}) {
    const int64_t size = op.shape(read.input)[i + 2];
    if (ShapedType::isDynamic(size))
      continue;
    const int64_t free = size + window->low[i] + window->high[i] -
                         (window->size[i] - 1) * window->dilations[i] - 1;
    if (free < 0)
      return op.fail("a window is larger than the image");
    extents[i] = free / window->strides[i] + 1;
  }
  const int64_t images = op.shape(read.input)[0];
  if (read.offsetGroups > (1 << 20) || read.taps() > (1 << 20))
    return op.fail("deformable_groups or Filter is too large");
  const int64_t each = read.offsetGroups * read.taps();
  if (!hasSizes(op, read.offset, "Offset",
                {images, 2 * each, extents[0], extents[1]}) ||
      (read.mask && !hasSizes(op, read.mask, "Mask",
                              {images, each, extents[0], extents[1]})))
    return std::nullopt;
  return read;
}

/// The sampling points of the windows' elements along dimension \p d: the
/// positions of a plain convolution plus the offsets. [N, offsetGroups, taps,
/// rows, columns].
static Value pointsAlong(OperatorContext &op, const Deformed &read,
                         Value offset, int64_t d) {
  const Window &window = read.window;
  Type element = op.element(offset);
  Dims line(5, Dim(1));
  line[3 + d] = op.dim(offset, 3 + d);
  auto number = [&](int64_t value) {
    return op.scalar(element, static_cast<double>(value));
  };
  Value first = op.binary<stablehlo::SubtractOp>(
      op.binary<stablehlo::MulOp>(iota(op, line, 3 + d, element),
                                  number(window.strides[d])),
      number(window.low[d]));
  SmallVector<double> inWindow;
  for (int64_t tap = 0; tap < read.taps(); ++tap) {
    const int64_t at = d == 0 ? tap / window.size[1] : tap % window.size[1];
    inWindow.push_back(static_cast<double>(at * window.dilations[d]));
  }
  Value within = numbers(op, element, inWindow, {1, 1, read.taps(), 1, 1});
  return op.binary<stablehlo::AddOp>(op.binary<stablehlo::AddOp>(first, within),
                                     offset);
}

/// The elements of all windows as channels, [N, C * taps, rows, columns].
static Value sampleWindows(OperatorContext &op, const Deformed &read) {
  const Dims sizes = op.dims(read.offset), image = op.dims(read.input);
  const int64_t channels = image[1].size, taps = read.taps();
  // Offsets of rows and of columns are interleaved.
  Value offsets =
      widened(op, op.reshape(read.offset,
                             ArrayRef<Dim>({sizes[0], read.offsetGroups, taps,
                                            2, sizes[2], sizes[3]})));
  const Dim offsetGroups = op.product({sizes[0], Dim(read.offsetGroups)});
  const Dim count = op.product({Dim(taps), sizes[2], sizes[3]});
  Value points[2];
  for (int64_t d : {0, 1}) {
    Value own = op.squeeze(op.sliceAxis(offsets, 3, d, d + 1), {3});
    Value all = own ? pointsAlong(op, read, own, d) : Value();
    if (!all)
      return {};
    points[d] = op.reshape(all, ArrayRef<Dim>({offsetGroups, count}));
  }
  const int64_t inGroup = channels / read.offsetGroups;
  Value sampled = samplePositions(
      op,
      op.reshape(read.input,
                 ArrayRef<Dim>({offsetGroups, inGroup, image[2], image[3]})),
      points[0], points[1]);
  if (read.mask)
    sampled = op.binary<stablehlo::MulOp>(
        sampled,
        op.reshape(read.mask, ArrayRef<Dim>({offsetGroups, 1, count})));
  return op.reshape(
      sampled, ArrayRef<Dim>({sizes[0], channels * taps, sizes[2], sizes[3]}));
}

/// A 1x1 convolution of the sampled windows with the filter, whose window
/// elements become channels.
static LogicalResult importDeformable(OperatorContext &op) {
  auto read = readDeformed(op);
  Value columns = read ? sampleWindows(op, *read) : Value();
  if (!columns)
    return failure();
  ArrayRef<int64_t> filter = op.shape(read->filter);
  formats::ConvolutionForm form;
  form.strides = form.lhsDilation = form.rhsDilation = {1, 1};
  form.low = form.high = {0, 0};
  form.groups = op.getInt("groups", 1);
  Value kernel =
      op.reshape(read->filter,
                 ArrayRef<int64_t>{filter[0], filter[1] * read->taps(), 1, 1});
  return op.result("Output", buildConvolution(op, columns, kernel, form,
                                              op.element(read->input)));
}

OperatorReaders deformableReaders() {
  static const OperatorReader table[] = {
      {"deformable_conv", importDeformable},
      {"deformable_conv_v1", importDeformable},
  };
  return table;
}

} // namespace sinter::paddle
