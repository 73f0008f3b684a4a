//===- ByteStream.h - integers and strings in a file, checked -------------===//
//
// Little-endian, without alignment or padding. The reader never reads past the
// end: after the first value that is missing, everything reads as zero or empty
// and failed() is true.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_BYTESTREAM_H
#define SINTER_RUNTIME_BYTESTREAM_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sinter {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "ByteStream copies numbers as they are in memory");

inline std::span<const std::byte> bytesOf(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

template <typename T>
concept PlainNumber = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class ByteWriter {
public:
  template <PlainNumber T> void number(T value) {
    const auto *bytes = reinterpret_cast<const std::byte *>(&value);
    buffer.insert(buffer.end(), bytes, bytes + sizeof(T));
  }
  void raw(std::span<const std::byte> bytes) {
    buffer.insert(buffer.end(), bytes.begin(), bytes.end());
  }
  void text(std::string_view value) {
    number(static_cast<uint64_t>(value.size()));
    raw(bytesOf(value));
  }
  /// The number of elements, then `write(element)` for each.
  template <typename Range, typename Write>
  void list(const Range &range, Write &&write) {
    number(static_cast<uint64_t>(std::size(range)));
    for (const auto &element : range)
      write(element);
  }

  size_t size() const { return buffer.size(); }
  std::span<const std::byte> bytes() const { return buffer; }

private:
  std::vector<std::byte> buffer;
};

class ByteReader {
public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest(bytes) {}

  template <PlainNumber T> T number() {
    T value{};
    std::span<const std::byte> bytes = raw(sizeof(T));
    if (!bytes.empty())
      std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  /// The next \p size bytes in place, or none if there are fewer.
  std::span<const std::byte> raw(uint64_t size) {
    if (size > rest.size()) {
      fail();
      return {};
    }
    auto bytes = rest.first(size);
    rest = rest.subspan(size);
    return bytes;
  }
  std::string text() {
    auto bytes = raw(number<uint64_t>());
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
  }
  /// Calls `read()` for each element of a list, each of at least \p minimumSize
  /// bytes: an impossible length is found before memory is allocated.
  template <typename Read> auto list(size_t minimumSize, Read &&read) {
    std::vector<std::invoke_result_t<Read>> values;
    const auto count = number<uint64_t>();
    if (count > rest.size() / minimumSize) {
      fail();
      return values;
    }
    values.reserve(count);
    for (uint64_t i = 0; i < count && !hasFailed; ++i)
      values.push_back(read());
    return values;
  }

  void fail() {
    hasFailed = true;
    rest = {};
  }
  bool failed() const { return hasFailed; }
  bool atEnd() const { return rest.empty(); }

private:
  std::span<const std::byte> rest;
  bool hasFailed = false;
};

} // namespace sinter

#endif // SINTER_RUNTIME_BYTESTREAM_H
