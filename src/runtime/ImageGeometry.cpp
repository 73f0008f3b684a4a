//===- ImageGeometry.cpp - where the pixels of an input come from ---------===//

#include "runtime/ImageGeometry.h"
#include "runtime/OptionNames.h"
#include "runtime/Text.h"

#include <algorithm>
#include <cmath>

namespace sinter {

namespace {

std::string sizeText(int64_t height, int64_t width) {
  return text("%lldx%lld", static_cast<long long>(height),
              static_cast<long long>(width));
}

/// a * b / c, rounded half to even; of positive numbers.
int64_t scaledBy(int64_t a, int64_t b, int64_t c) {
  const int64_t quotient = a * b / c, rest = a * b % c;
  const bool roundsUp = rest * 2 > c || (rest * 2 == c && quotient % 2 == 1);
  return quotient + (roundsUp ? 1 : 0);
}

bool isPictureSize(PictureSize size) {
  return size.height > 0 && size.width > 0 && size.height <= maxPixels &&
         size.width <= maxPixels;
}

/// The size that the image gets, before it is cropped.
PictureSize resizeTarget(PictureSize image, PictureSize target,
                         const ImageOptions &options) {
  if (options.resize)
    return *options.resize;
  if (options.crop)
    return image;
  if (target.height < 0 && target.width < 0)
    return image;
  const bool keepsAspect = options.fit != ImageFit::Stretch;
  if (target.height < 0)
    target.height =
        keepsAspect ? std::max<int64_t>(
                          1, scaledBy(target.width, image.height, image.width))
                    : image.height;
  if (target.width < 0)
    target.width =
        keepsAspect ? std::max<int64_t>(
                          1, scaledBy(target.height, image.width, image.height))
                    : image.width;
  return target;
}

/// Keeps the centre of \p size pixels.
void keepCentre(ImageAxis &axis, int64_t size) {
  axis.start += centredStart(axis.kept, size);
  axis.kept = axis.size = size;
}

double coefficient(double distance, Interpolation how) {
  const double d = std::abs(distance);
  if (how == Interpolation::Bilinear)
    return std::max(0.0, 1 - d);
  if (d < 1)
    return (1.5 * d - 2.5) * d * d + 1;
  return d < 2 ? ((-0.5 * d + 2.5) * d - 4) * d + 2 : 0;
}

} // namespace

int64_t centredStart(int64_t whole, int64_t size) {
  const int64_t difference = whole - size, half = difference / 2;
  if (difference % 2 == 0 || half % 2 == 0)
    return half;
  return half + (difference > 0 ? 1 : -1);
}

PictureSize scaledSize(PictureSize image, PictureSize target, ImageFit fit) {
  if (fit == ImageFit::Stretch)
    return target;
  const int64_t byHeight = target.height * image.width;
  const int64_t byWidth = target.width * image.height;
  if (fit == ImageFit::Cover)
    return byHeight >= byWidth
               ? PictureSize{target.height, byHeight / image.height}
               : PictureSize{byWidth / image.width, target.width};
  return byHeight <= byWidth
             ? PictureSize{target.height,
                           std::max<int64_t>(1, scaledBy(target.height,
                                                         image.width,
                                                         image.height))}
             : PictureSize{
                   std::max<int64_t>(
                       1, scaledBy(target.width, image.height, image.width)),
                   target.width};
}

Result<ImageAxes> imageAxes(PictureSize image, PictureSize target,
                            const ImageOptions &options) {
  const PictureSize resized = resizeTarget(image, target, options);
  if (!isPictureSize(resized) || !isPictureSize(image))
    return usageError("it is too large");
  const PictureSize scaled = scaledSize(image, resized, options.fit);
  ImageAxes axes{{image.height, scaled.height, 0, scaled.height, scaled.height},
                 {image.width, scaled.width, 0, scaled.width, scaled.width}};
  keepCentre(axes.rows, resized.height);
  keepCentre(axes.columns, resized.width);
  if (options.crop) {
    if (options.crop->height > resized.height ||
        options.crop->width > resized.width)
      return usageError(
          optionText("crop") + " " +
          sizeText(options.crop->height, options.crop->width) +
          " of an image of " + sizeText(resized.height, resized.width) +
          (options.resize
               ? ""
               : "; " + optionText("resize") + " makes it larger before that"));
    keepCentre(axes.rows, options.crop->height);
    keepCentre(axes.columns, options.crop->width);
  }
  if (target.height > 0 && axes.rows.size > target.height)
    keepCentre(axes.rows, target.height);
  if (target.width > 0 && axes.columns.size > target.width)
    keepCentre(axes.columns, target.width);
  const int64_t multiple = std::max<int64_t>(1, options.padMultiple);
  for (ImageAxis *axis : {&axes.rows, &axes.columns})
    axis->size = (axis->size + multiple - 1) / multiple * multiple;
  if ((target.height >= 0 && axes.rows.size != target.height) ||
      (target.width >= 0 && axes.columns.size != target.width))
    return usageError("the image is " +
                      sizeText(axes.rows.size, axes.columns.size) + " after " +
                      optionText("resize") + ", " + optionText("crop") +
                      " and " + optionText("pad-multiple"));
  return axes;
}

std::vector<ImageTaps> imageTaps(int64_t from, int64_t scaled, int64_t begin,
                                 int64_t end, Interpolation how) {
  const double ratio = static_cast<double>(from) / static_cast<double>(scaled);
  const double widening = std::max(ratio, 1.0);
  const double reach = how == Interpolation::Bicubic ? 2 * widening : widening;
  std::vector<ImageTaps> all;
  for (int64_t target = begin; target < end; ++target) {
    const double centre = (static_cast<double>(target) + 0.5) * ratio;
    if (how == Interpolation::Nearest) {
      all.push_back(
          {std::min(from - 1, static_cast<int64_t>(std::floor(centre))), {1}});
      continue;
    }
    const auto first =
        std::max<int64_t>(0, static_cast<int64_t>(std::floor(centre - reach)));
    const auto last = std::min<int64_t>(
        from, static_cast<int64_t>(std::ceil(centre + reach)));
    std::vector<double> weights;
    double sum = 0;
    for (int64_t source = first; source < last; ++source) {
      weights.push_back(coefficient(
          (static_cast<double>(source) + 0.5 - centre) / widening, how));
      sum += weights.back();
    }
    ImageTaps taps{first, {}};
    for (double weight : weights)
      taps.weights.push_back(static_cast<float>(weight / sum));
    all.push_back(std::move(taps));
  }
  return all;
}

} // namespace sinter
