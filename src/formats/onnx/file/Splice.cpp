//===- Splice.cpp - put the tensors' data back into a message -------------===//

#include "formats/onnx/file/Splice.h"

#include "formats/WireReader.h"

#include <google/protobuf/message_lite.h>

using namespace sinter;
using namespace sinter::onnx;

namespace {

/// Two walks over the same bytes: the first measures, since a message's length
/// stands before its content, the second writes.
class Splicer {
public:
  explicit Splicer(const PayloadFinder &find) : find(find) {}

  Result<uint64_t> measure(std::span<const std::byte> bytes, MessageKind kind);
  void write(std::span<const std::byte> bytes, MessageKind kind,
             std::string &frame);

  std::vector<std::pair<size_t, std::span<const std::byte>>> payloads;

private:
  static MessageKind kindOf(MessageKind parent, const WireField &field) {
    return field.type == WireType::Bytes ? childKind(parent, field.number)
                                         : MessageKind::Other;
  }
  static bool isPayload(MessageKind kind, const WireField &field) {
    return kind == MessageKind::Tensor && field.number == payloadFieldNumber;
  }

  const PayloadFinder &find;
  /// Lengths of nested messages and of payloads, in the order of the walk.
  std::vector<uint64_t> lengths;
  std::vector<PayloadBytes> found;
  size_t nextLength = 0, nextFound = 0;
};

} // namespace

Result<uint64_t> Splicer::measure(std::span<const std::byte> bytes,
                                  MessageKind kind) {
  uint64_t total = 0;
  WireReader reader(bytes);
  WireField field;
  while (reader.next(field)) {
    if (isPayload(kind, field)) {
      Result<PayloadBytes> payload = find(field.content);
      if (!payload)
        return payload.takeError();
      found.push_back(*payload);
      uint64_t size = payload->second.size();
      total +=
          varintSize(uint64_t(payload->first) << 3) + varintSize(size) + size;
    } else if (MessageKind child = kindOf(kind, field);
               child != MessageKind::Other) {
      size_t place = lengths.size();
      lengths.push_back(0);
      Result<uint64_t> length = measure(field.content, child);
      if (!length)
        return length;
      lengths[place] = *length;
      total += varintSize(uint64_t(field.number) << 3) + varintSize(*length) +
               *length;
    } else {
      total += field.whole.size();
    }
  }
  return total;
}

void Splicer::write(std::span<const std::byte> bytes, MessageKind kind,
                    std::string &frame) {
  WireReader reader(bytes);
  WireField field;
  while (reader.next(field)) {
    if (isPayload(kind, field)) {
      auto [number, content] = found[nextFound++];
      appendTag(frame, number, WireType::Bytes);
      appendVarint(frame, content.size());
      payloads.emplace_back(frame.size(), content);
    } else if (MessageKind child = kindOf(kind, field);
               child != MessageKind::Other) {
      appendTag(frame, field.number, WireType::Bytes);
      appendVarint(frame, lengths[nextLength++]);
      write(field.content, child, frame);
    } else {
      frame.append(reinterpret_cast<const char *>(field.whole.data()),
                   field.whole.size());
    }
  }
}

std::vector<std::span<const std::byte>> SplicedMessage::pieces() const {
  std::span<const std::byte> rest = std::as_bytes(std::span(frame));
  std::vector<std::span<const std::byte>> result;
  size_t written = 0;
  for (const auto &[position, content] : payloads) {
    result.push_back(rest.subspan(written, position - written));
    result.push_back(content);
    written = position;
  }
  result.push_back(rest.subspan(written));
  return result;
}

uint64_t SplicedMessage::size() const {
  uint64_t total = frame.size();
  for (const auto &[position, content] : payloads)
    total += content.size();
  return total;
}

Result<SplicedMessage>
onnx::splice(const google::protobuf::MessageLite &message, MessageKind kind,
             const PayloadFinder &find) {
  std::string bytes;
  if (!message.SerializePartialToString(&bytes))
    return systemError("the model without its tensors' data is over 2 GiB");
  Splicer splicer(find);
  auto view = std::as_bytes(std::span(bytes));
  Result<uint64_t> size = splicer.measure(view, kind);
  if (!size)
    return size.takeError();
  SplicedMessage result;
  splicer.write(view, kind, result.frame);
  result.payloads = std::move(splicer.payloads);
  return result;
}
