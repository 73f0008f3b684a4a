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
  if (!input.ranked || fromEnd > wanted.size())
    return -1;
  return wanted[wanted.size() - fromEnd];
}

Result<WindowForm> WindowForm::of(const Shape &array, ElementType type,
                                  const ModelInput &input,
                                  const FrameOptions &options) {
  const std::string what = "input '" + input.spec.name + "', " + input.text();
  const auto rank = static_cast<int64_t>(array.size());
  const int64_t axis = options.axis < 0 ? options.axis + rank : options.axis;
  if (axis < 0 || axis >= rank)
    return usageError(options.names.axis + " " + std::to_string(options.axis) +
                      ": the array, " + toString(type, array) +
                      ", has no such dimension");
  if (type != input.spec.type)
    return usageError("the array is a " + toString(type, array) + ", and " +
                      what);
  WindowForm form;
  form.axis = static_cast<size_t>(axis);
  const int64_t known = sizeInInput(input, form.axis, array.size());
  form.length = options.frame > 0 ? options.frame : known;
  if (form.length <= 0)
    return usageError(options.names.frame +
                      " N is needed: the length of windows for " + what +
                      ", is dynamic");
  form.hop = options.hop > 0 ? options.hop : form.length;
  Shape window = array;
  window[form.axis] = form.length;
  const std::optional<Shape> shape =
      input.ranked ? withRank(window, input.spec.shape.size()) : window;
  bool fits = shape && byteCount(type, *shape);
  for (size_t i = 0;
       fits && input.ranked && !input.sizesAreHints && i < shape->size(); ++i)
    fits = input.spec.shape[i] < 0 || input.spec.shape[i] == (*shape)[i];
  if (!fits)
    return usageError("windows of " + toString(type, window) + " are no " +
                      what);
  form.shape = *shape;
  form.stepBytes = byteSize(type);
  for (size_t i = form.axis + 1; i < array.size(); ++i)
    form.stepBytes *= static_cast<size_t>(window[i]);
  for (size_t i = 0; i < form.axis; ++i)
    form.blocks *= static_cast<size_t>(window[i]);
  return form;
}

Result<Frames> Frames::of(Tensor array, const ModelInput &input,
                          const FrameOptions &options, int64_t rate) {
  Result<WindowForm> form =
      WindowForm::of(array.shape(), array.type(), input, options);
  if (!form)
    return form.takeError();
  const int64_t along = array.dim(form->axis);
  if (along < form->length)
    return usageError("the array, " + toString(array.type(), array.shape()) +
                      ", is shorter than a window of " +
                      std::to_string(form->length));
  Frames frames(std::move(array), std::move(*form), rate);
  const auto &[shape, axis, length, hop, blocks, stepBytes] = frames.form;
  frames.windows = static_cast<size_t>((along - length) / hop) + 1;
  frames.rest =
      along - (static_cast<int64_t>(frames.windows - 1) * hop + length);
  return frames;
}

Tensor Frames::at(size_t index) const {
  const std::byte *from =
      array->data() + index * static_cast<size_t>(form.hop) * form.stepBytes;
  if (form.blocks == 1)
    return Tensor::share(array->type(), form.shape, from, array);
  const size_t blockBytes =
      form.stepBytes * static_cast<size_t>(array->dim(form.axis));
  const size_t windowBytes = form.stepBytes * static_cast<size_t>(form.length);
  Tensor copy(array->type(), form.shape);
  for (size_t block = 0; block < form.blocks; ++block)
    std::memcpy(copy.mutableBytes() + block * windowBytes,
                from + block * blockBytes, windowBytes);
  return copy;
}

Result<std::optional<Tensor>> Frames::next() {
  if (given == windows)
    return std::optional<Tensor>();
  return std::optional(at(given++));
}

} // namespace sinter
