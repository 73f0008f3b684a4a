//===- Image.cpp - images as tensors --------------------------------------===//

#include "runtime/Image.h"
#include "runtime/ElementDispatch.h"
#include "runtime/OptionNames.h"
#include "runtime/OutOfMemory.h"

#include <algorithm>
#include <cmath>

namespace sinter {

namespace {

/// Rows, columns and channels of floats, 0..255.
struct Picture {
  int64_t height, width, channels;
  std::vector<float> values;
};

/// The positions of the dimensions of the model's input; -1: missing.
struct Axes {
  int batch, channel, row, column;
};

/// The input coordinates and weights of one output coordinate.
struct Taps {
  int64_t first;
  std::vector<float> weights;
};

Picture toPicture(const Tensor &image) {
  std::span<const uint8_t> pixels = image.values<uint8_t>();
  return {image.dim(0), image.dim(1), image.dim(2),
          std::vector<float>(pixels.begin(), pixels.end())};
}

Picture withChannels(const Picture &picture, int64_t channels) {
  if (picture.channels == channels)
    return picture;
  Picture result{picture.height, picture.width, channels, {}};
  const size_t pixels =
      static_cast<size_t>(picture.height) * static_cast<size_t>(picture.width);
  result.values.reserve(pixels * channels);
  for (size_t i = 0; i < pixels; ++i) {
    if (picture.channels == 1) {
      result.values.insert(result.values.end(), channels, picture.values[i]);
      continue;
    }
    // ITU-R BT.601, section 2.5.1.
    const float *rgb = &picture.values[i * 3];
    result.values.push_back(0.299f * rgb[0] + 0.587f * rgb[1] +
                            0.114f * rgb[2]);
  }
  return result;
}

/// The triangle filter of bilinear interpolation between pixel centres, widened
/// by the factor by which the image shrinks; weights sum to 1.
std::vector<Taps> tapsFor(int64_t from, int64_t to) {
  const double ratio = static_cast<double>(from) / static_cast<double>(to);
  const double support = std::max(ratio, 1.0);
  std::vector<Taps> all;
  for (int64_t target = 0; target < to; ++target) {
    const double centre = (static_cast<double>(target) + 0.5) * ratio;
    const auto first = std::max<int64_t>(
        0, static_cast<int64_t>(std::floor(centre - support)));
    const auto last = std::min<int64_t>(
        from, static_cast<int64_t>(std::ceil(centre + support)));
    Taps taps{first, {}};
    double sum = 0;
    for (int64_t source = first; source < last; ++source) {
      const double distance =
          std::abs(static_cast<double>(source) + 0.5 - centre) / support;
      const double weight = std::max(0.0, 1 - distance);
      taps.weights.push_back(static_cast<float>(weight));
      sum += weight;
    }
    for (float &weight : taps.weights)
      weight = static_cast<float>(weight / sum);
    all.push_back(std::move(taps));
  }
  return all;
}

/// Interpolates along the second of three dimensions.
std::vector<float> resizeMiddle(const std::vector<float> &values, int64_t outer,
                                int64_t from, int64_t inner, int64_t to) {
  std::vector<float> result(static_cast<size_t>(outer * to * inner));
  const std::vector<Taps> all = tapsFor(from, to);
  float *target = result.data();
  for (int64_t i = 0; i < outer; ++i)
    for (const Taps &taps : all) {
      const float *source = values.data() + (i * from + taps.first) * inner;
      for (float weight : taps.weights) {
        for (int64_t j = 0; j < inner; ++j)
          target[j] += weight * source[j];
        source += inner;
      }
      target += inner;
    }
  return result;
}

Picture resized(Picture picture, int64_t height, int64_t width) {
  if (picture.width != width)
    picture.values = resizeMiddle(picture.values, picture.height, picture.width,
                                  picture.channels, width);
  picture.width = width;
  if (picture.height != height)
    picture.values = resizeMiddle(picture.values, 1, picture.height,
                                  width * picture.channels, height);
  picture.height = height;
  return picture;
}

/// The value for \p channel out of one, one per channel, or none.
double pick(const std::vector<double> &numbers, size_t channel,
            double otherwise) {
  if (numbers.empty())
    return otherwise;
  return numbers[numbers.size() == 1 ? 0 : channel];
}

template <typename T>
void store(const Picture &picture, const Axes &axes,
           const ImageOptions &options, Tensor &input) {
  std::vector<int64_t> strides(static_cast<size_t>(input.rank()), 1);
  for (size_t axis = strides.size() - 1; axis-- > 0;)
    strides[axis] = strides[axis + 1] * input.dim(axis + 1);
  const float *value = picture.values.data();
  for (int64_t row = 0; row < picture.height; ++row)
    for (int64_t column = 0; column < picture.width; ++column)
      for (int64_t channel = 0; channel < picture.channels; ++channel) {
        const int64_t index = row * strides[axes.row] +
                              column * strides[axes.column] +
                              channel * strides[axes.channel];
        if constexpr (std::is_same_v<T, uint8_t>)
          input.set<T>(index, static_cast<T>(std::lround(*value++)));
        else
          input.set<T>(index, T((*value++ * options.scale -
                                 pick(options.mean, channel, 0)) /
                                pick(options.std, channel, 1)));
      }
}

/// Checks what the options and the input's shape and type allow.
std::string whyNot(const TensorSpec &spec, const Axes &axes,
                   const ImageOptions &options) {
  if (!isFloat(spec.type) && spec.type != ElementType::UI8)
    return "an image is a tensor of floats or ui8";
  const int64_t channels = spec.shape[axes.channel];
  if (channels != 1 && channels != 3)
    return "an image has 1 or 3 channels; is the layout right (" +
           optionText("layout") + " NCHW|NHWC)?";
  if (axes.batch >= 0 && spec.shape[axes.batch] > 1)
    return "an image fills a batch of 1 only";
  for (int axis : {axes.row, axes.column, axes.batch})
    if (axis >= 0 && spec.shape[axis] == 0)
      return "it is empty";
  for (const auto *numbers : {&options.mean, &options.std})
    if (numbers->size() > 1 && numbers->size() != static_cast<size_t>(channels))
      return optionText("mean") + " and " + optionText("std") + " take 1 or " +
             std::to_string(channels) + " values";
  if (std::ranges::find(options.std, 0.0) != options.std.end())
    return optionText("std") + " must not be zero";
  for (const std::vector<double> &numbers :
       {options.mean, options.std, {options.scale}})
    if (!std::ranges::all_of(numbers,
                             [](double each) { return std::isfinite(each); }))
      return optionText("mean") + ", " + optionText("std") + " and " +
             optionText("scale") + " take finite numbers";
  return "";
}

Tensor convert(const Tensor &image, ElementType type, const Shape &shape,
               const Axes &axes, const ImageOptions &options) {
  // Reduce the channels first: less to resize.
  const Picture picture =
      resized(withChannels(toPicture(image), shape[axes.channel]),
              shape[axes.row], shape[axes.column]);
  Tensor input(type, shape);
  dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!isStdComplex<T> &&
                  (!std::is_integral_v<T> || std::is_same_v<T, uint8_t>))
      store<T>(picture, axes, options, input);
  });
  return input;
}

} // namespace

Result<Tensor> imageToInput(const Tensor &image, const TensorSpec &spec,
                            const ImageOptions &options) {
  const auto refuse = [&](const std::string &why) {
    return usageError("input '" + spec.name + "' (" +
                      toString(spec.type, spec.shape) +
                      ") cannot be an image: " + why);
  };
  if (spec.shape.size() != 3 && spec.shape.size() != 4)
    return refuse("it has neither 3 nor 4 dimensions");
  if (image.size() == 0)
    return refuse("the image is empty");
  const int skip = spec.shape.size() == 4 ? 1 : 0;
  const Axes axes = options.layout == ImageLayout::Nchw
                        ? Axes{skip - 1, skip, skip + 1, skip + 2}
                        : Axes{skip - 1, skip + 2, skip, skip + 1};
  if (std::string why = whyNot(spec, axes, options); !why.empty())
    return refuse(why);
  Shape shape = spec.shape;
  if (axes.batch >= 0)
    shape[axes.batch] = 1;
  if (shape[axes.row] < 0)
    shape[axes.row] = image.dim(0);
  if (shape[axes.column] < 0)
    shape[axes.column] = image.dim(1);
  std::optional<int64_t> count = elementCount(shape);
  if (!count || *count > 3 * maxPixels)
    return refuse("it is too large");
  return catchingOutOfMemory("the resized image", [&] {
    return Result<Tensor>(convert(image, spec.type, shape, axes, options));
  });
}

} // namespace sinter
