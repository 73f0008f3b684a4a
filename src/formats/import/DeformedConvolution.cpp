#include "formats/import/DeformedConvolution.h"

#include "formats/import/Building.h"
#include "formats/import/Convolutions.h"
#include "formats/import/Sampling.h"

using namespace mlir;

namespace sinter::formats {

/// The number of elements of a window.
static int64_t tapsOf(GraphBuilder &builder, const DeformedConvolution &form) {
  return builder.size(form.filter, 2) * builder.size(form.filter, 3);
}

/// Fails if a static size of \p value differs from \p expected.
static void checkSizes(GraphBuilder &builder, Value value, StringRef name,
                       ArrayRef<int64_t> expected) {
  if (builder.rank(value) != static_cast<int64_t>(expected.size())) {
    builder.fail("the " + name + " has not " + Twine(expected.size()) +
                 " dimensions");
    return;
  }
  for (auto [i, size] : llvm::enumerate(builder.shape(value)))
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(expected[i]) &&
        size != expected[i]) {
      builder.fail("dimension " + Twine(i) + " of the " + name + " is " +
                   Twine(size) + ", not " + Twine(expected[i]));
      return;
    }
}

/// Fails unless image, filter, offsets and mask go together.
static void checkDeformed(GraphBuilder &builder,
                          const DeformedConvolution &form) {
  if (builder.rank(form.input) != 4 || builder.rank(form.filter) != 4) {
    builder.fail("the image or the filter has not four dimensions");
    return;
  }
  if (!builder.isStatic(form.filter)) {
    builder.unknown("the filter's shape is known only at run time");
    return;
  }
  ArrayRef<int64_t> image = builder.shape(form.input),
                    filter = builder.shape(form.filter);
  if (ShapedType::isDynamic(image[1])) {
    builder.unknown("the number of channels is unknown");
    return;
  }
  if (form.groups < 1 || form.offsetGroups < 1 ||
      image[1] % form.offsetGroups != 0 || image[1] % form.groups != 0 ||
      filter[0] % form.groups != 0 || filter[1] != image[1] / form.groups) {
    builder.fail("the channels do not go together with the groups, the groups "
                 "of offsets and the filter");
    return;
  }
  Ints extents = {ShapedType::kDynamic, ShapedType::kDynamic};
  for (int i : {0, 1}) {
    if (ShapedType::isDynamic(image[i + 2]))
      continue;
    const int64_t free = image[i + 2] + form.low[i] + form.high[i] -
                         (filter[i + 2] - 1) * form.dilations[i] - 1;
    if (free < 0) {
      builder.fail("a window is larger than the image");
      return;
    }
    extents[i] = free / form.strides[i] + 1;
  }
  if (form.offsetGroups > (1 << 20) || filter[2] > (1 << 10) ||
      filter[3] > (1 << 10)) {
    builder.fail("the groups of offsets or the filter are too large");
    return;
  }
  const int64_t each = form.offsetGroups * tapsOf(builder, form);
  checkSizes(builder, form.offset, "offset",
             {image[0], 2 * each, extents[0], extents[1]});
  if (form.mask && !builder.failed())
    checkSizes(builder, form.mask, "mask",
               {image[0], each, extents[0], extents[1]});
}

/// The sampling points of the windows' elements along dimension \p d: the
/// positions of a plain convolution plus the offsets. [N, offsetGroups, taps,
/// rows, columns].
static Value pointsAlong(GraphBuilder &builder, const DeformedConvolution &form,
                         Value offset, int64_t d) {
  Type element = builder.element(offset);
  Dims line(5, Dim(1));
  line[3 + d] = builder.dim(offset, 3 + d);
  auto number = [&](int64_t value) {
    return builder.scalar(element, static_cast<double>(value));
  };
  Value first = builder.binary<stablehlo::SubtractOp>(
      builder.binary<stablehlo::MulOp>(iota(builder, line, 3 + d, element),
                                       number(form.strides[d])),
      number(form.low[d]));
  const int64_t taps = tapsOf(builder, form),
                columns = builder.size(form.filter, 3);
  SmallVector<double> inWindow;
  for (int64_t tap = 0; tap < taps; ++tap) {
    const int64_t at = d == 0 ? tap / columns : tap % columns;
    inWindow.push_back(static_cast<double>(at * form.dilations[d]));
  }
  Value within = numbers(builder, element, inWindow, {1, 1, taps, 1, 1});
  return builder.binary<stablehlo::AddOp>(
      builder.binary<stablehlo::AddOp>(first, within), offset);
}

/// The elements of all windows as channels, [N, C * taps, rows, columns].
static Value sampleWindows(GraphBuilder &builder,
                           const DeformedConvolution &form) {
  const Dims sizes = builder.dims(form.offset),
             image = builder.dims(form.input);
  const int64_t channels = image[1].size, taps = tapsOf(builder, form);
  // Offsets of rows and of columns are interleaved.
  Value offsets = widened(
      builder, builder.reshape(form.offset,
                               ArrayRef<Dim>({sizes[0], form.offsetGroups, taps,
                                              2, sizes[2], sizes[3]})));
  const Dim offsetGroups = builder.product({sizes[0], Dim(form.offsetGroups)});
  const Dim count = builder.product({Dim(taps), sizes[2], sizes[3]});
  Value points[2];
  for (int64_t d : {0, 1}) {
    Value own = builder.squeeze(builder.sliceAxis(offsets, 3, d, d + 1), {3});
    Value all = own ? pointsAlong(builder, form, own, d) : Value();
    if (!all)
      return {};
    points[d] = builder.reshape(all, ArrayRef<Dim>({offsetGroups, count}));
  }
  const int64_t inGroup = channels / form.offsetGroups;
  Value sampled = samplePositions(
      builder,
      builder.reshape(form.input, ArrayRef<Dim>({offsetGroups, inGroup,
                                                 image[2], image[3]})),
      points[0], points[1]);
  if (form.mask)
    sampled = builder.binary<stablehlo::MulOp>(
        sampled,
        builder.reshape(form.mask, ArrayRef<Dim>({offsetGroups, 1, count})));
  return builder.reshape(
      sampled, ArrayRef<Dim>({sizes[0], channels * taps, sizes[2], sizes[3]}));
}

Value deformedConvolution(GraphBuilder &builder,
                          const DeformedConvolution &form, Type element) {
  if (!builder.failed())
    checkDeformed(builder, form);
  Value columns = builder.failed() ? Value() : sampleWindows(builder, form);
  if (!columns)
    return {};
  // A 1x1 convolution of the sampled windows, whose elements become channels.
  ArrayRef<int64_t> filter = builder.shape(form.filter);
  ConvolutionForm plain;
  plain.strides = plain.lhsDilation = plain.rhsDilation = {1, 1};
  plain.low = plain.high = {0, 0};
  plain.groups = form.groups;
  Value kernel = builder.reshape(
      form.filter,
      ArrayRef<int64_t>{filter[0], filter[1] * tapsOf(builder, form), 1, 1});
  return buildConvolution(builder, columns, kernel, plain, element);
}

} // namespace sinter::formats
