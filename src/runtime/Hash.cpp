//===- Hash.cpp - hashes of bytes -----------------------------------------===//

#include "runtime/Hash.h"

#include <algorithm>
#include <new>
#include <xxhash.h>

namespace sinter {

namespace {

/// Allocated by the library, as its size depends on the library's version.
struct LibraryState {
  XXH3_state_t *xxh = XXH3_createState();
  LibraryState() {
    if (!xxh)
      throw std::bad_alloc();
  }
  LibraryState(const LibraryState &) = delete;
  LibraryState &operator=(const LibraryState &) = delete;
  ~LibraryState() { XXH3_freeState(xxh); }
};

} // namespace

struct Hasher::State : LibraryState {};

std::string Hash128::text() const {
  static constexpr char digits[] = "0123456789abcdef";
  std::string result;
  for (uint64_t half : {high, low})
    for (int shift = 60; shift >= 0; shift -= 4)
      result += digits[half >> shift & 15];
  return result;
}

Hash128 hashOf(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

uint64_t shortHashOf(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::vector<uint64_t>
hashPieces(std::span<const std::span<const std::byte>> chunks,
           uint64_t pieceBytes) {
  LibraryState state;
  std::vector<uint64_t> hashes;
  uint64_t inPiece = 0;
  XXH3_64bits_reset(state.xxh);
  const auto endPiece = [&] {
    hashes.push_back(XXH3_64bits_digest(state.xxh));
    XXH3_64bits_reset(state.xxh);
    inPiece = 0;
  };
  for (std::span<const std::byte> chunk : chunks)
    while (!chunk.empty()) {
      const size_t size = std::min(chunk.size(), pieceBytes - inPiece);
      XXH3_64bits_update(state.xxh, chunk.data(), size);
      chunk = chunk.subspan(size);
      inPiece += size;
      if (inPiece == pieceBytes)
        endPiece();
    }
  if (inPiece != 0)
    endPiece();
  return hashes;
}

Hasher::Hasher() : state(std::make_unique<State>()) {
  XXH3_128bits_reset(state->xxh);
}

Hasher::~Hasher() = default;

Hasher &Hasher::add(std::span<const std::byte> bytes) {
  const uint64_t size = bytes.size();
  XXH3_128bits_update(state->xxh, &size, sizeof(size));
  XXH3_128bits_update(state->xxh, bytes.data(), bytes.size());
  return *this;
}

Hasher &Hasher::add(std::string_view text) {
  return add(std::as_bytes(std::span(text.data(), text.size())));
}

Hash128 Hasher::finish() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state->xxh);
  return {hash.low64, hash.high64};
}

} // namespace sinter
