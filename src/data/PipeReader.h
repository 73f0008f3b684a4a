//===- PipeReader.h - reads a pipe piece by piece -------------------------===//

#ifndef SINTER_DATA_PIPEREADER_H
#define SINTER_DATA_PIPEREADER_H

#include "runtime/Result.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sinter {

/// What comes from a pipe, or a file, and was not taken yet. It waits for no
/// more than it is asked for.
class PipeReader {
public:
  /// Reads the file \p descriptor, which stays open; \p name is for messages.
  PipeReader(int descriptor, std::string name)
      : descriptor(descriptor), name(std::move(name)) {}

  /// Reads until \p wanted bytes are there that were not taken; false if the
  /// pipe ends before.
  Result<bool> fill(size_t wanted);
  /// Those that are there.
  std::span<const std::byte> ahead() const {
    return std::span(buffer).subspan(taken);
  }
  /// Takes the first \p bytes of them.
  void take(size_t bytes) { taken += bytes; }
  bool isAtEnd() const { return hasEnded; }
  /// Whether there is something, or the end, without waiting.
  bool isReady() const;
  const std::string &nameText() const { return name; }

private:
  int descriptor;
  std::string name;
  /// What was read, and how much of it was taken.
  std::vector<std::byte> buffer;
  size_t taken = 0;
  bool hasEnded = false;
};

} // namespace sinter

#endif // SINTER_DATA_PIPEREADER_H
