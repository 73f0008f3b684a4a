//===- WireReader.h - protobuf's wire format, field by field --------------===//
//
// Iterates over the fields of one message without creating objects:
// https://protobuf.dev/programming-guides/encoding/. Every length is checked
// against its enclosing message. Groups (deprecated) are rejected.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_WIREREADER_H
#define SINTER_FORMATS_WIREREADER_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace sinter {

enum class WireType : uint8_t {
  Varint = 0,
  Fixed64 = 1,
  Bytes = 2,
  Fixed32 = 5
};

/// One encoded field of a message.
struct WireField {
  uint32_t number;
  WireType type;
  /// The value of a Varint field.
  uint64_t value;
  /// The content of a Bytes field; the 4 or 8 bytes of a fixed one.
  std::span<const std::byte> content;
  /// All of the field: tag, length and content.
  std::span<const std::byte> whole;
};

class WireReader {
public:
  explicit WireReader(std::span<const std::byte> message) : rest(message) {}

  /// Reads the next field into \p field. False at the end of the message and if
  /// the bytes are malformed (see error()).
  bool next(WireField &field);

  /// What is wrong with the bytes, or null: "a field is longer than ...".
  const char *error() const { return problem; }
  /// The bytes not read yet.
  std::span<const std::byte> remaining() const { return rest; }

private:
  bool fail(const char *text) {
    problem = text;
    return false;
  }

  std::span<const std::byte> rest;
  const char *problem = nullptr;
};

/// Takes one varint off the front of \p bytes. False if there is none.
bool takeVarint(std::span<const std::byte> &bytes, uint64_t &value);

/// Appends \p value as a varint.
void appendVarint(std::string &out, uint64_t value);
/// Appends a field's tag.
void appendTag(std::string &out, uint32_t number, WireType type);
/// Bytes that \p value takes as a varint.
size_t varintSize(uint64_t value);

} // namespace sinter

#endif // SINTER_FORMATS_WIREREADER_H
