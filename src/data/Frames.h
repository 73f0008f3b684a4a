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

/// How windows for an input lie in an array.
struct WindowForm {
  /// Of a window, as the input takes it.
  Shape shape;
  /// The dimension of time in the array.
  size_t axis = 0;
  /// Elements along time of a window, and from one to the next.
  int64_t length = 1, hop = 1;
  /// Blocks of the array before the axis, and bytes of an element along it.
  size_t blocks = 1, stepBytes = 1;

  /// Of arrays like \p array of \p type, whatever its size along time. Usage
  /// errors if \p input does not take them.
  static Result<WindowForm> of(const Shape &array, ElementType type,
                               const ModelInput &input,
                               const FrameOptions &options);
};

/// Windows, one after the other.
class FrameSource {
public:
  virtual ~FrameSource() = default;

  /// The next window in the shape of the input; nothing at the end.
  virtual Result<std::optional<Tensor>> next() = 0;
  /// How many windows there are; nothing if only the end will tell.
  virtual std::optional<size_t> count() const = 0;
  /// Elements along time from one window to the next.
  virtual int64_t step() const = 0;
  /// Elements along time after the last window.
  virtual int64_t left() const = 0;
  /// Of audio, elements along time in a second; else 0.
  virtual int64_t rate() const = 0;
};

/// Those of an array in memory.
class Frames : public FrameSource {
public:
  /// The windows of \p array for \p input. Usage errors if the input does not
  /// take them, or there is not one.
  static Result<Frames> of(Tensor array, const ModelInput &input,
                           const FrameOptions &options, int64_t rate = 0);

  Result<std::optional<Tensor>> next() override;
  std::optional<size_t> count() const override { return windows; }
  int64_t step() const override { return form.hop; }
  int64_t left() const override { return rest; }
  int64_t rate() const override { return perSecond; }
  /// Window \p index: a view of the array if its elements lie together, else a
  /// copy.
  Tensor at(size_t index) const;

private:
  Frames(Tensor array, WindowForm form, int64_t rate)
      : array(std::make_shared<const Tensor>(std::move(array))),
        form(std::move(form)), perSecond(rate) {}

  std::shared_ptr<const Tensor> array;
  WindowForm form;
  int64_t perSecond;
  size_t windows = 0, given = 0;
  int64_t rest = 0;
};

} // namespace sinter

#endif // SINTER_DATA_FRAMES_H
