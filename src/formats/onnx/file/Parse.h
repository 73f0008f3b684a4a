//===- Parse.h - a protobuf message from mapped bytes ---------------------===//

#ifndef SINTER_FORMATS_ONNX_FILE_PARSE_H
#define SINTER_FORMATS_ONNX_FILE_PARSE_H

#include "formats/onnx/file/Payloads.h"
#include "runtime/Result.h"

namespace google::protobuf {
class MessageLite;
}

namespace sinter::onnx {

/// Parses \p bytes, a message of kind \p kind, into \p message without its
/// large data (Payloads.h). Errors describe what is wrong with the bytes.
Result<void> parseWithoutPayloads(std::span<const std::byte> bytes,
                                  MessageKind kind,
                                  google::protobuf::MessageLite &message);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_FILE_PARSE_H
