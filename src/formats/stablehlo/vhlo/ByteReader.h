//===- ByteReader.h - MLIR's bytecode, byte by byte -----------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_VHLO_BYTEREADER_H
#define SINTER_FORMATS_STABLEHLO_VHLO_BYTEREADER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <bit>
#include <cstdint>
#include <cstring>

namespace sinter::vhlo {

/// Reads from bytes and never past their end: returns false instead.
class ByteReader {
public:
  ByteReader() = default;
  explicit ByteReader(llvm::ArrayRef<uint8_t> bytes)
      : at(bytes.begin()), end(bytes.end()) {}

  bool empty() const { return at == end; }
  size_t remaining() const { return end - at; }
  const uint8_t *position() const { return at; }

  bool byte(uint8_t &value) {
    if (empty())
      return false;
    value = *at++;
    return true;
  }

  bool take(uint64_t size, llvm::ArrayRef<uint8_t> &bytes) {
    if (size > remaining())
      return false;
    bytes = {at, static_cast<size_t>(size)};
    at += size;
    return true;
  }

  /// A varint of one to nine bytes: the number of trailing zeros of the first
  /// byte is the number of bytes that follow it.
  bool number(uint64_t &value) {
    uint8_t first;
    if (!byte(first))
      return false;
    const unsigned more = first == 0 ? 8 : std::countr_zero(first);
    llvm::ArrayRef<uint8_t> rest;
    if (!take(more, rest))
      return false;
    uint64_t high = 0;
    if (more > 0)
      std::memcpy(&high, rest.data(), more);
    value = more == 8 ? high : (high << 8 | first) >> (more + 1);
    return true;
  }

  /// A varint whose lowest bit is the sign.
  bool signedNumber(int64_t &value) {
    uint64_t folded;
    if (!number(folded))
      return false;
    value = static_cast<int64_t>((folded >> 1) ^ (~(folded & 1) + 1));
    return true;
  }

  /// A varint whose lowest bit is a flag.
  bool flagged(uint64_t &value, bool &flag) {
    if (!number(value))
      return false;
    flag = value & 1;
    value >>= 1;
    return true;
  }

  /// The count of following items of at least a byte each.
  bool count(uint64_t &value) { return number(value) && value <= remaining(); }

  /// Characters up to a zero byte.
  bool text(llvm::StringRef &value) {
    const void *zero = empty() ? nullptr : std::memchr(at, 0, remaining());
    if (!zero)
      return false;
    const auto *stop = static_cast<const uint8_t *>(zero);
    value = {reinterpret_cast<const char *>(at),
             static_cast<size_t>(stop - at)};
    at = stop + 1;
    return true;
  }

  /// The padding up to the next multiple of \p alignment from \p start.
  bool align(uint64_t alignment, const uint8_t *start) {
    constexpr uint8_t padding = 0xCB;
    if (!std::has_single_bit(alignment))
      return false;
    while ((at - start) % alignment != 0)
      if (uint8_t value; !byte(value) || value != padding)
        return false;
    return true;
  }

private:
  const uint8_t *at = nullptr, *end = nullptr;
};

} // namespace sinter::vhlo

#endif // SINTER_FORMATS_STABLEHLO_VHLO_BYTEREADER_H
