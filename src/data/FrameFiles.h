//===- FrameFiles.h - windows of arrays and audio in files ----------------===//
//
//   sound.npy, sound.wav     an array, or audio
//   -                        standard input (PipeFrames.h)
//   sounds/, '*.wav', @list  several, each a stream of its own
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DATA_FRAMEFILES_H
#define SINTER_DATA_FRAMEFILES_H

#include "data/PipeFrames.h"

#include <memory>
#include <string>
#include <vector>

namespace sinter {

/// Files of windows.
struct FrameFiles {
  std::vector<std::string> paths;
  /// What names each: its path from the folder that was given.
  std::vector<std::string> names;
  /// Whether several may be meant, though there be but one.
  bool areMany = false;
};

/// Those that \p source stands for, sorted: of a folder, with those in it, .npy
/// and .wav. Usage error if there are none; \p what names it in messages.
Result<FrameFiles> frameFiles(const std::string &what,
                              const std::string &source);

/// The windows of the file \p path for \p input. Audio becomes one channel,
/// the mean, unless the input has a static number of them, at the rate of the
/// options. Errors as of Frames, PipeFrames and reading files.
Result<std::unique_ptr<FrameSource>> openFrames(const std::string &path,
                                                const ModelInput &input,
                                                const PipeOptions &options);

} // namespace sinter

#endif // SINTER_DATA_FRAMEFILES_H
