//===- Riff.h - containers of chunks --------------------------------------===//
//
// "RIFF", a size, what it is ("WAVE", "WEBP"), then chunks of four letters, a
// size and as many bytes each.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_RIFF_H
#define SINTER_RUNTIME_RIFF_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace sinter {

/// Where the chunks of a container begin, and the bytes of a chunk before its
/// own.
inline constexpr size_t riffHeaderSize = 12, riffChunkHeaderSize = 8;

/// The first chunk called \p id of the container \p bytes, or what is there of
/// it; nothing if there is none. Chunks have an even size; of an odd one a byte
/// is left over.
inline std::optional<std::span<const std::byte>>
riffChunk(std::string_view id, std::span<const std::byte> bytes) {
  bytes = bytes.subspan(std::min(riffHeaderSize, bytes.size()));
  while (bytes.size() >= riffChunkHeaderSize) {
    uint32_t size = 0;
    std::memcpy(&size, bytes.data() + id.size(), sizeof(size));
    const bool isIt = std::memcmp(bytes.data(), id.data(), id.size()) == 0;
    bytes = bytes.subspan(riffChunkHeaderSize);
    if (isIt)
      return bytes.first(std::min<size_t>(size, bytes.size()));
    bytes = bytes.subspan(
        std::min<size_t>(uint64_t(size) + (size & 1), bytes.size()));
  }
  return std::nullopt;
}

} // namespace sinter

#endif // SINTER_RUNTIME_RIFF_H
