//===- WireReader.cpp - protobuf's wire format, field by field ------------===//

#include "formats/WireReader.h"

#include <algorithm>

using namespace sinter;

bool sinter::takeVarint(std::span<const std::byte> &bytes, uint64_t &value) {
  value = 0;
  size_t limit = std::min<size_t>(bytes.size(), 10);
  for (size_t i = 0; i < limit; ++i) {
    auto byte = std::to_integer<uint64_t>(bytes[i]);
    value |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      bytes = bytes.subspan(i + 1);
      return true;
    }
  }
  return false;
}

bool WireReader::next(WireField &field) {
  if (rest.empty() || problem)
    return false;
  std::span<const std::byte> start = rest;
  uint64_t tag;
  if (!takeVarint(rest, tag))
    return fail("a field's tag is cut off or too long");
  uint64_t number = tag >> 3;
  if (number == 0 || number > 0x1fffffff)
    return fail("a field has an impossible number");
  field.number = static_cast<uint32_t>(number);
  field.type = static_cast<WireType>(tag & 7);
  field.value = 0;
  uint64_t size = 0;
  switch (field.type) {
  case WireType::Varint:
    if (!takeVarint(rest, field.value))
      return fail("a number is cut off or too long");
    break;
  case WireType::Fixed64:
    size = 8;
    break;
  case WireType::Fixed32:
    size = 4;
    break;
  case WireType::Bytes:
    if (!takeVarint(rest, size))
      return fail("a field's length is cut off or too long");
    break;
  default:
    return fail("a field has an unknown wire type");
  }
  if (size > rest.size())
    return fail("a field is longer than the message it stands in (is the file "
                "cut off?)");
  field.content = rest.first(size);
  rest = rest.subspan(size);
  field.whole = start.first(start.size() - rest.size());
  return true;
}

void sinter::appendVarint(std::string &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void sinter::appendTag(std::string &out, uint32_t number, WireType type) {
  appendVarint(out, uint64_t(number) << 3 | static_cast<uint64_t>(type));
}

size_t sinter::varintSize(uint64_t value) {
  size_t size = 1;
  for (; value >= 0x80; value >>= 7)
    ++size;
  return size;
}
