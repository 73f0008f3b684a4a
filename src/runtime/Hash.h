//===- Hash.h - hashes of bytes -------------------------------------------===//

#ifndef SINTER_RUNTIME_HASH_H
#define SINTER_RUNTIME_HASH_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter {

/// XXH3-128: fast, and without accidental collisions. Not cryptographic.
struct Hash128 {
  uint64_t low = 0, high = 0;

  bool operator==(const Hash128 &) const = default;
  /// 32 hexadecimal digits.
  std::string text() const;
};

Hash128 hashOf(std::span<const std::byte> bytes);

/// XXH3-64, to detect damage.
uint64_t shortHashOf(std::span<const std::byte> bytes);

/// shortHashOf for each \p pieceBytes bytes of the concatenated \p chunks.
std::vector<uint64_t>
hashPieces(std::span<const std::span<const std::byte>> chunks,
           uint64_t pieceBytes);

/// A hash of several chunks that covers their boundaries: "ab", "c" differs
/// from "a", "bc".
class Hasher {
public:
  Hasher();
  ~Hasher();

  Hasher &add(std::span<const std::byte> bytes);
  Hasher &add(std::string_view text);
  Hash128 finish() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace sinter

#endif // SINTER_RUNTIME_HASH_H
