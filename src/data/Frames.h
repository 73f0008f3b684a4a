//===- Frames.h - windows of an array along time --------------------------===//
//
//   array [samples]             input [1, 512]: windows of 512
//   array [channels, samples]   input [N, 2, T]: windows of --frame samples
//
// Window i begins at element i * hop; what is left at the end and fills no
// window is left out.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DATA_FRAMES_H
#define SINTER_DATA_FRAMES_H

#include "engine/ModelDescription.h"
#include "runtime/Tensor.h"

#include <optional>

namespace sinter {

/// The names of the fields of FrameOptions in messages.
struct FrameNames {
  std::string frame = "frame", hop = "hop", axis = "axis";
};

struct FrameOptions {
  /// The length of a window (0: that of the input, which is static then), and
  /// from one to the next (0: the length).
  int64_t frame = 0, hop = 0;
  /// The dimension of time in the array; negative: from the end.
  int64_t axis = -1;
  FrameNames names = {};
};

class Frames {
public:
  /// The windows of \p array for \p input. Usage errors if the input does not
  /// take them, or there is not one.
  static Result<Frames> of(Tensor array, const ModelInput &input,
                           const FrameOptions &options);

  size_t count() const { return windows; }
  /// Elements along time from one window to the next.
  int64_t step() const { return hop; }
  /// Elements along time after the last window.
  int64_t left() const { return rest; }
  /// Window \p index in the shape of the input: a view of the array if its
  /// elements lie together, else a copy.
  Tensor at(size_t index) const;

private:
  Frames(Tensor array, Shape shape)
      : array(std::make_shared<const Tensor>(std::move(array))),
        shape(std::move(shape)) {}

  std::shared_ptr<const Tensor> array;
  /// Of a window.
  Shape shape;
  size_t windows = 0;
  int64_t rest = 0, hop = 1;
  /// Blocks of the array before the axis, their bytes, and those of an element
  /// along it and of a window's share.
  size_t blocks = 1, blockBytes = 0, stepBytes = 0, windowBytes = 0;
};

} // namespace sinter

#endif // SINTER_DATA_FRAMES_H
