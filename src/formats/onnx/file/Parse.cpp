//===- Parse.cpp - a protobuf message from mapped bytes -------------------===//

#include "formats/onnx/file/Parse.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message_lite.h>

using namespace sinter;
using namespace sinter::onnx;

Result<void>
onnx::parseWithoutPayloads(std::span<const std::byte> bytes, MessageKind kind,
                           google::protobuf::MessageLite &message) {
  Result<std::string> stripped = withoutPayloads(bytes, kind);
  if (!stripped)
    return stripped.takeError();
  google::protobuf::io::CodedInputStream stream(
      reinterpret_cast<const uint8_t *>(stripped->data()),
      static_cast<int>(stripped->size()));
  // withoutPayloads() bounds the nesting of messages with tensors, but not of
  // types.
  stream.SetRecursionLimit(maxMessageDepth + 16);
  if (!message.ParsePartialFromCodedStream(&stream) ||
      !stream.ConsumedEntireMessage())
    return invalidModel("the bytes are not well-formed protobuf");
  return {};
}
