//===- Payloads.cpp - a model without its tensors' data -------------------===//

#include "formats/onnx/file/Payloads.h"

#include "formats/WireReader.h"

#include <array>
#include <climits>

using namespace sinter;
using namespace sinter::onnx;

namespace {

struct Child {
  MessageKind parent;
  uint32_t number;
  MessageKind kind;
};

constexpr Child children[] = {
    {MessageKind::Model, 7, MessageKind::Graph},
    {MessageKind::Model, 20, MessageKind::Training},
    {MessageKind::Model, 25, MessageKind::Function},
    {MessageKind::Training, 1, MessageKind::Graph},
    {MessageKind::Training, 2, MessageKind::Graph},
    {MessageKind::Graph, 1, MessageKind::Node},
    {MessageKind::Graph, 5, MessageKind::Tensor},
    {MessageKind::Graph, 15, MessageKind::Sparse},
    {MessageKind::Function, 7, MessageKind::Node},
    {MessageKind::Function, 11, MessageKind::Attribute},
    {MessageKind::Node, 5, MessageKind::Attribute},
    {MessageKind::Attribute, 5, MessageKind::Tensor},
    {MessageKind::Attribute, 6, MessageKind::Graph},
    {MessageKind::Attribute, 10, MessageKind::Tensor},
    {MessageKind::Attribute, 11, MessageKind::Graph},
    {MessageKind::Attribute, 22, MessageKind::Sparse},
    {MessageKind::Attribute, 23, MessageKind::Sparse},
    {MessageKind::Sparse, 1, MessageKind::Tensor},
    {MessageKind::Sparse, 2, MessageKind::Tensor},
    {MessageKind::Sequence, 3, MessageKind::Tensor},
    {MessageKind::Sequence, 4, MessageKind::Sparse},
    {MessageKind::Sequence, 5, MessageKind::Sequence},
    {MessageKind::Sequence, 7, MessageKind::Optional},
    {MessageKind::Optional, 3, MessageKind::Tensor},
    {MessageKind::Optional, 4, MessageKind::Sparse},
    {MessageKind::Optional, 5, MessageKind::Sequence},
    {MessageKind::Optional, 7, MessageKind::Optional},
};

/// Lengths are written as five bytes, whatever their value, so that they can be
/// filled in once the content is there.
constexpr size_t lengthBytes = 5;

constexpr const char *tooLong =
    "the model without its tensors' data is over 2 GiB";

class Stripper {
public:
  explicit Stripper(std::span<const std::byte> file) : file(file) {}

  const char *message(std::span<const std::byte> bytes, MessageKind kind,
                      int depth);
  std::string out;

private:
  const char *tensor(std::span<const std::byte> bytes);
  void payload(const WireField &field);
  size_t dynamicLength();
  void closeLength(size_t start);
  /// protobuf's own limit for one message.
  bool hasRoomFor(size_t bytes) const {
    return bytes < INT_MAX && out.size() < INT_MAX - bytes;
  }
  void copy(std::span<const std::byte> bytes) {
    out.append(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  }

  std::span<const std::byte> file;
};

} // namespace

MessageKind onnx::childKind(MessageKind parent, uint32_t number) {
  for (const Child &child : children)
    if (child.parent == parent && child.number == number)
      return child.kind;
  return MessageKind::Other;
}

bool onnx::isPayloadField(uint32_t number) {
  return number == 4 || number == 5 || number == 7 || number == 9 ||
         number == 10 || number == 11;
}

size_t Stripper::dynamicLength() {
  out.append(lengthBytes, '\0');
  return out.size();
}

void Stripper::closeLength(size_t start) {
  size_t length = out.size() - start;
  for (size_t i = 0; i < lengthBytes; ++i, length >>= 7)
    out[start - lengthBytes + i] =
        static_cast<char>((length & 0x7f) | (i + 1 < lengthBytes ? 0x80 : 0));
}

/// Null, or what is wrong.
const char *Stripper::message(std::span<const std::byte> bytes,
                              MessageKind kind, int depth) {
  if (kind == MessageKind::Tensor)
    return tensor(bytes);
  if (depth > maxMessageDepth)
    return "graphs or values are nested too deep";
  WireReader reader(bytes);
  WireField field;
  while (reader.next(field)) {
    MessageKind child = field.type == WireType::Bytes
                            ? childKind(kind, field.number)
                            : MessageKind::Other;
    if (child == MessageKind::Other) {
      if (!hasRoomFor(field.whole.size()))
        return tooLong;
      copy(field.whole);
      continue;
    }
    if (!hasRoomFor(2 * lengthBytes))
      return tooLong;
    appendTag(out, field.number, WireType::Bytes);
    size_t start = dynamicLength();
    if (const char *problem = message(field.content, child, depth + 1))
      return problem;
    closeLength(start);
  }
  return reader.error();
}

/// A field that occurs twice is left to protobuf, which merges the occurrences.
/// No known program writes such a file.
const char *Stripper::tensor(std::span<const std::byte> bytes) {
  std::array<uint8_t, 12> seen = {};
  WireReader counter(bytes);
  WireField field;
  while (counter.next(field))
    if (isPayloadField(field.number) && seen[field.number] < 2)
      ++seen[field.number];
  if (counter.error())
    return counter.error();
  WireReader reader(bytes);
  while (reader.next(field)) {
    if (field.number == payloadFieldNumber)
      continue;
    if (isPayloadField(field.number) && field.type == WireType::Bytes &&
        seen[field.number] == 1 && field.content.size() >= payloadThreshold)
      payload(field);
    else if (hasRoomFor(field.whole.size()))
      copy(field.whole);
    else
      return tooLong;
  }
  return nullptr;
}

void Stripper::payload(const WireField &field) {
  appendTag(out, payloadFieldNumber, WireType::Bytes);
  size_t start = dynamicLength();
  const uint64_t values[] = {
      field.number, static_cast<uint64_t>(field.content.data() - file.data()),
      field.content.size()};
  for (uint32_t i = 0; i < 3; ++i) {
    appendTag(out, i + 1, WireType::Varint);
    appendVarint(out, values[i]);
  }
  closeLength(start);
}

Result<std::string> onnx::withoutPayloads(std::span<const std::byte> bytes,
                                          MessageKind kind) {
  Stripper stripper(bytes);
  if (const char *problem = stripper.message(bytes, kind, /*depth=*/0))
    return invalidModel(problem);
  return std::move(stripper.out);
}
