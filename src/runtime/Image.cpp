//===- Image.cpp - images as tensors --------------------------------------===//

#include "runtime/Image.h"
#include "runtime/ElementDispatch.h"
#include "runtime/ImageGeometry.h"
#include "runtime/ImageResize.h"
#include "runtime/OptionNames.h"
#include "runtime/OutOfMemory.h"

#include <algorithm>
#include <cmath>

namespace sinter {

namespace {

/// The positions of the dimensions of the model's input; -1: missing.
struct InputAxes {
  int batch, channel, row, column;
};

/// The picture with grey or colours, or in another order of colours.
Picture withChannels(Picture picture, int64_t channels, ImageChannels order) {
  const size_t pixels =
      static_cast<size_t>(picture.height) * static_cast<size_t>(picture.width);
  if (picture.channels == 3 && order == ImageChannels::Gray) {
    // ITU-R BT.601, section 2.5.1.
    for (size_t i = 0; i < pixels; ++i) {
      const float *rgb = &picture.values[i * 3];
      picture.values[i] = 0.299F * rgb[0] + 0.587F * rgb[1] + 0.114F * rgb[2];
    }
    picture.channels = 1;
    picture.values.resize(pixels);
  }
  if (picture.channels == 1 && channels == 3) {
    std::vector<float> repeated;
    repeated.reserve(pixels * 3);
    for (float value : picture.values)
      repeated.insert(repeated.end(), 3, value);
    picture.values = std::move(repeated);
  } else if (order == ImageChannels::Bgr) {
    for (size_t i = 0; i < pixels; ++i)
      std::swap(picture.values[i * 3], picture.values[i * 3 + 2]);
  }
  picture.channels = channels;
  return picture;
}

/// The value for \p channel out of one, one per channel, or none.
double pick(const std::vector<double> &numbers, int64_t channel,
            double otherwise) {
  if (numbers.empty())
    return otherwise;
  return numbers[numbers.size() == 1 ? 0 : static_cast<size_t>(channel)];
}

/// A channel's pixel value as an element.
template <typename T> class Normaliser {
public:
  Normaliser(const ImageOptions &options, int64_t channel)
      : scale(options.scale), mean(pick(options.mean, channel, 0)),
        std(pick(options.std, channel, 1)) {}
  T operator()(double value) const {
    if constexpr (std::is_same_v<T, uint8_t>)
      return static_cast<T>(std::lround(std::clamp(value, 0.0, 255.0)));
    else
      return T((value * scale - mean) / std);
  }

private:
  double scale, mean, std;
};

/// \p count values, \p step apart, as elements \p outStep apart.
template <typename T>
void storeRow(const float *values, int64_t step, int64_t count,
              const Normaliser<T> &normalise, T *out, int64_t outStep) {
  if (outStep == 1)
    for (int64_t i = 0; i < count; ++i)
      out[i] = normalise(static_cast<double>(values[i * step]));
  else
    for (int64_t i = 0; i < count; ++i)
      out[i * outStep] = normalise(static_cast<double>(values[i * step]));
}

template <typename T>
void store(const Picture &picture, const ImageAxes &place,
           const InputAxes &axes, const ImageOptions &options, Tensor &input) {
  std::vector<int64_t> strides(static_cast<size_t>(input.rank()), 1);
  for (size_t axis = strides.size() - 1; axis-- > 0;)
    strides[axis] = strides[axis + 1] * input.dim(axis + 1);
  // Where the picture lies in the input.
  const int64_t top = place.rows.begin() - place.rows.start;
  const int64_t left = place.columns.begin() - place.columns.start;
  for (int64_t channel = 0; channel < picture.channels; ++channel) {
    const Normaliser<T> normalise(options, channel);
    const T padding = normalise(pick(options.padValue, channel, 0));
    const int64_t step = strides[axes.column], width = place.columns.size;
    for (int64_t row = 0; row < place.rows.size; ++row) {
      T *out = input.mutableValues<T>().data() + row * strides[axes.row] +
               channel * strides[axes.channel];
      const int64_t line = row - top;
      const bool isInside = line >= 0 && line < picture.height;
      // Pixels between padding.
      const int64_t begin = isInside ? std::min(left, width) : width;
      const int64_t end =
          isInside ? std::min(left + picture.width, width) : width;
      for (int64_t i = 0; i < begin; ++i)
        out[i * step] = padding;
      if (isInside)
        storeRow(picture.values.data() +
                     line * picture.width * picture.channels + channel,
                 picture.channels, end - begin, normalise, out + begin * step,
                 step);
      for (int64_t i = end; i < width; ++i)
        out[i * step] = padding;
    }
  }
}

/// One value or one per channel, finite.
std::string whyNotPerChannel(const char *name,
                             const std::vector<double> &numbers,
                             int64_t channels) {
  if (numbers.size() > 1 && numbers.size() != static_cast<size_t>(channels))
    return optionText(name) + " takes 1 or " + std::to_string(channels) +
           " values";
  if (!std::ranges::all_of(numbers,
                           [](double each) { return std::isfinite(each); }))
    return optionText(name) + " takes finite numbers";
  return "";
}

/// Checks what the options and the input's shape and type allow.
std::string whyNot(const TensorSpec &spec, const InputAxes &axes,
                   int64_t channels, const ImageOptions &options) {
  if (!isFloat(spec.type) && spec.type != ElementType::UI8)
    return "an image is a tensor of floats or ui8";
  if (channels != 1 && channels != 3)
    return "an image has 1 or 3 channels; is the layout right (" +
           optionText("layout") + " NCHW|NHWC)?";
  if (channels == 1 && options.channels &&
      *options.channels != ImageChannels::Gray)
    return optionText("channels") +
           " rgb and bgr are for inputs with 3 channels";
  if (axes.batch >= 0 && spec.shape[axes.batch] > 1)
    return "an image fills a batch of 1 only";
  for (int axis : {axes.row, axes.column, axes.batch})
    if (axis >= 0 && spec.shape[axis] == 0)
      return "it is empty";
  for (auto [name, numbers] :
       {std::pair("mean", &options.mean), std::pair("std", &options.std),
        std::pair("pad-value", &options.padValue)})
    if (std::string why = whyNotPerChannel(name, *numbers, channels);
        !why.empty())
      return why;
  if (std::ranges::find(options.std, 0.0) != options.std.end())
    return optionText("std") + " must not be zero";
  if (!std::isfinite(options.scale))
    return optionText("scale") + " takes a finite number";
  return "";
}

Tensor convert(const Tensor &image, ElementType type, const Shape &shape,
               const ImageAxes &place, const InputAxes &axes,
               const ImageOptions &options) {
  const int64_t channels = shape[axes.channel];
  const Picture picture = withChannels(
      resizedPicture(image, place, options.interpolation), channels,
      options.channels.value_or(channels == 1 ? ImageChannels::Gray
                                              : ImageChannels::Rgb));
  Tensor input(type, shape);
  dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!isStdComplex<T> &&
                  (!std::is_integral_v<T> || std::is_same_v<T, uint8_t>))
      store<T>(picture, place, axes, options, input);
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
  const InputAxes axes = options.layout == ImageLayout::Nchw
                             ? InputAxes{skip - 1, skip, skip + 1, skip + 2}
                             : InputAxes{skip - 1, skip + 2, skip, skip + 1};
  Shape shape = spec.shape;
  if (shape[axes.channel] < 0)
    shape[axes.channel] = options.channels == ImageChannels::Gray ? 1 : 3;
  if (std::string why = whyNot(spec, axes, shape[axes.channel], options);
      !why.empty())
    return refuse(why);
  if (axes.batch >= 0)
    shape[axes.batch] = 1;
  Result<ImageAxes> place =
      imageAxes({image.dim(0), image.dim(1)},
                {shape[axes.row], shape[axes.column]}, options);
  if (!place)
    return refuse(place.error().message());
  shape[axes.row] = place->rows.size;
  shape[axes.column] = place->columns.size;
  std::optional<int64_t> count = elementCount(shape);
  if (!count || *count > 3 * maxPixels)
    return refuse("it is too large");
  return catchingOutOfMemory("the resized image", [&] {
    return Result<Tensor>(
        convert(image, spec.type, shape, *place, axes, options));
  });
}

} // namespace sinter
