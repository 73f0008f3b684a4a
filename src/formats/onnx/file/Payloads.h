//===- Payloads.h - a model without its tensors' data ---------------------===//
//
// protobuf's classes copy every bytes field, so weights would be in memory
// twice. Here the data of every large tensor (in initialisers, attributes,
// nested graphs, functions, sparse tensors) are left out of what protobuf
// parses, and a TensorProto.Payload records their location in the file.
//
//   tensor { dims, name, raw_data = <100 MB> }
//   -> tensor { dims, name, payload { field = 9, offset, size } }
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_FILE_PAYLOADS_H
#define SINTER_FORMATS_ONNX_FILE_PAYLOADS_H

#include "runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace sinter::onnx {

/// The messages of the schema that can hold a tensor.
enum class MessageKind : uint8_t {
  Model,
  Training,
  Graph,
  Function,
  Node,
  Attribute,
  Sparse,
  Tensor,
  Sequence,
  Optional,
  Other ///< All messages that hold none.
};

/// The kind of field \p number of a \p parent, if it is a message.
MessageKind childKind(MessageKind parent, uint32_t number);

/// True for the fields of a TensorProto that hold its elements in one piece
/// (raw_data and the packed ones; not string_data).
bool isPayloadField(uint32_t number);

/// Data of at least so many bytes are left out of the message.
inline constexpr size_t payloadThreshold = 256;
/// Messages nested deeper than this are rejected. A graph in a graph takes
/// three levels.
inline constexpr int maxMessageDepth = 200;
/// TensorProto.payload.
inline constexpr uint32_t payloadFieldNumber = 5001;

/// The message \p bytes of kind \p kind without its large data. Offsets count
/// from the start of \p bytes. The result is well-formed in every message that
/// can hold a tensor; an error describes what is wrong with the bytes, without
/// a file name.
Result<std::string> withoutPayloads(std::span<const std::byte> bytes,
                                    MessageKind kind);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_FILE_PAYLOADS_H
