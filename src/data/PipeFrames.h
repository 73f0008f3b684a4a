//===- PipeFrames.h - windows of what comes from a pipe -------------------===//
//
//   WAV                     samples of audio, without an end perhaps
//   .npy after .npy         arrays that follow each other along time
//   raw elements            time in front: [time, other dimensions of a window]
//
// A window is given out as soon as its elements are there.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DATA_PIPEFRAMES_H
#define SINTER_DATA_PIPEFRAMES_H

#include "data/Frames.h"
#include "data/PipeReader.h"

#include <memory>
#include <string>

namespace sinter {

/// The elements of \p piece as floats of type \p to: integers are divided by
/// their largest magnitude, as those of WAV files. Nothing if there is no such
/// conversion.
std::optional<Tensor> asFloats(const Tensor &piece, ElementType to);
/// Whether audio for \p input keeps its channels: it has a static number of
/// them.
bool hasChannels(const ModelInput &input);

struct PipeOptions {
  FrameOptions windows;
  /// The type of raw elements; nothing: WAV or .npy, or raw elements of the
  /// input's type.
  std::optional<ElementType> raw;
  /// Samples per second of audio, which must be those of a WAV header.
  std::optional<int64_t> rate;
  /// The name of the field in messages.
  std::string rawName = "raw";
};

class PipeFrames : public FrameSource {
public:
  /// The windows of what \p descriptor, which stays open, gives for \p input.
  /// Waits for the header. Usage errors if the input does not take them, System
  /// errors for damaged data; \p name is for messages.
  static Result<std::unique_ptr<PipeFrames>> open(int descriptor,
                                                  const std::string &name,
                                                  const ModelInput &input,
                                                  const PipeOptions &options);

  Result<std::optional<Tensor>> next() override;
  std::optional<size_t> count() const override { return std::nullopt; }
  int64_t step() const override { return form.hop; }
  int64_t left() const override;
  int64_t rate() const override { return perSecond; }

  /// A piece of a stream, as an array with time along its axis; nothing at the
  /// end.
  class Pieces;

private:
  PipeFrames() = default;
  void append(const Tensor &piece);

  std::shared_ptr<Pieces> pieces;
  WindowForm form;
  ElementType type = ElementType::F32;
  int64_t perSecond = 0;
  /// What was read, by block, and how many bytes of each no window needs any
  /// more.
  std::vector<std::vector<std::byte>> waiting;
  size_t used = 0;
  /// Bytes of each block that are to be left out: windows may lie apart.
  size_t toSkip = 0;
};

} // namespace sinter

#endif // SINTER_DATA_PIPEFRAMES_H
