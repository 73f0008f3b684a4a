//===- Splice.h - put the tensors' data back into a message ---------------===//
//
// The inverse of Payloads.h: a message whose tensors point to their data
// becomes a file's bytes, as a list of pieces, so that they are never all in
// memory.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_FILE_SPLICE_H
#define SINTER_FORMATS_ONNX_FILE_SPLICE_H

#include "formats/onnx/file/Payloads.h"
#include "runtime/Result.h"

#include <functional>
#include <utility>
#include <vector>

namespace google::protobuf {
class MessageLite;
}

namespace sinter::onnx {

/// A field of TensorProto and its content.
using PayloadBytes = std::pair<uint32_t, std::span<const std::byte>>;
/// Finds what a serialised TensorProto.Payload points to.
using PayloadFinder =
    std::function<Result<PayloadBytes>(std::span<const std::byte> payload)>;

class SplicedMessage {
public:
  /// The pieces, one after the other, are the message. Valid as long as this
  /// and the bytes from the finder.
  std::vector<std::span<const std::byte>> pieces() const;
  uint64_t size() const;

private:
  friend Result<SplicedMessage> splice(const google::protobuf::MessageLite &,
                                       MessageKind, const PayloadFinder &);
  /// Everything but the data, and the offset at which each payload is inserted.
  std::string frame;
  std::vector<std::pair<size_t, std::span<const std::byte>>> payloads;
};

/// \p message, of kind \p kind, with every payload replaced by its field.
Result<SplicedMessage> splice(const google::protobuf::MessageLite &message,
                              MessageKind kind, const PayloadFinder &find);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_FILE_SPLICE_H
