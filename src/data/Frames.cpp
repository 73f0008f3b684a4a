#include "data/Frames.h"

#include <algorithm>

namespace sinter {

/// \p shape with as many dimensions as \p wanted, by dimensions of 1 in front
/// that are added or left out; nothing if that is not possible.
static std::optional<Shape> withRank(Shape shape, size_t rank) {
  while (shape.size() > rank && shape.front() == 1)
    shape.erase(shape.begin());
  if (shape.size() > rank)
    return std::nullopt;
  shape.insert(shape.begin(), rank - shape.size(), 1);
  return shape;
}

/// The size that \p input has for dimension \p axis of an array of \p rank
/// dimensions; negative if it is dynamic or there is none.
static int64_t sizeInInput(const ModelInput &input, size_t axis, size_t rank) {
  const Shape &wanted = input.spec.shape;
  const size_t fromEnd = rank - axis;
  if (!input.ranked || input.sizesAreHints || fromEnd > wanted.size())
    return -1;
  return wanted[wanted.size() - fromEnd];
}

Result<Frames> Frames::of(Tensor array, const ModelInput &input,
                          const FrameOptions &options) {
  const std::string what = "input '" + input.spec.name + "', " + input.text();
  const auto rank = static_cast<size_t>(array.rank());
  const int64_t axis =
      options.axis < 0 ? options.axis + array.rank() : options.axis;
  if (axis < 0 || axis >= array.rank())
    return usageError(options.names.axis + " " + std::to_string(options.axis) +
                      ": the array, " + toString(array.type(), array.shape()) +
                      ", has no such dimension");
  if (array.type() != input.spec.type)
    return usageError("the array is a " +
                      toString(array.type(), array.shape()) + ", and " + what);
  const int64_t known = sizeInInput(input, static_cast<size_t>(axis), rank);
  const int64_t length = options.frame > 0 ? options.frame : known;
  if (length <= 0)
    return usageError(options.names.frame +
                      " N is needed: the length of windows for " + what +
                      ", is dynamic");
  Shape window = array.shape();
  window[axis] = length;
  const std::optional<Shape> shape =
      input.ranked ? withRank(window, input.spec.shape.size()) : window;
  bool fits = shape.has_value();
  for (size_t i = 0;
       fits && input.ranked && !input.sizesAreHints && i < shape->size(); ++i)
    fits = input.spec.shape[i] < 0 || input.spec.shape[i] == (*shape)[i];
  if (!fits)
    return usageError("windows of " + toString(array.type(), window) +
                      " are no " + what);
  const int64_t along = array.dim(static_cast<size_t>(axis));
  if (along < length)
    return usageError("the array, " + toString(array.type(), array.shape()) +
                      ", is shorter than a window of " +
                      std::to_string(length));
  const size_t element = byteSize(array.type());
  Frames frames(std::move(array), *shape);
  frames.hop = options.hop > 0 ? options.hop : length;
  frames.windows = static_cast<size_t>((along - length) / frames.hop) + 1;
  frames.rest =
      along - (static_cast<int64_t>(frames.windows - 1) * frames.hop + length);
  frames.stepBytes = element;
  for (size_t i = static_cast<size_t>(axis) + 1; i < rank; ++i)
    frames.stepBytes *= static_cast<size_t>(window[i]);
  for (size_t i = 0; i < static_cast<size_t>(axis); ++i)
    frames.blocks *= static_cast<size_t>(window[i]);
  frames.blockBytes = frames.stepBytes * static_cast<size_t>(along);
  frames.windowBytes = frames.stepBytes * static_cast<size_t>(length);
  return frames;
}

Tensor Frames::at(size_t index) const {
  const std::byte *from =
      array->data() + index * static_cast<size_t>(hop) * stepBytes;
  if (blocks == 1)
    return Tensor::share(array->type(), shape, from, array);
  Tensor copy(array->type(), shape);
  for (size_t block = 0; block < blocks; ++block)
    std::memcpy(copy.mutableBytes() + block * windowBytes,
                from + block * blockBytes, windowBytes);
  return copy;
}

} // namespace sinter
