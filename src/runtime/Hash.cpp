//===- Hash.cpp - a number that stands for a content ----------------------===//

#include "runtime/Hash.h"

#include <new>
#include <xxhash.h>

namespace sinter {

struct Hasher::State {
  // Made by the library, as its size depends on the library's version.
  XXH3_state_t *xxh = XXH3_createState();
  State() {
    if (!xxh)
      throw std::bad_alloc();
  }
  State(const State &) = delete;
  State &operator=(const State &) = delete;
  ~State() { XXH3_freeState(xxh); }
};

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
