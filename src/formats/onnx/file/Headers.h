//===- Headers.h - metadata of messages -----------------------------------===//

#ifndef SINTER_FORMATS_ONNX_FILE_HEADERS_H
#define SINTER_FORMATS_ONNX_FILE_HEADERS_H

#include "formats/onnx/file/onnx.pb.h"

namespace sinter::onnx {

/// Copies the documentation and the metadata of a message (a model, graph,
/// node, function or tensor); absent fields are not set.
template <typename Proto> void copyNotes(const Proto &from, Proto &to) {
  if (from.has_doc_string())
    to.set_doc_string(from.doc_string());
  *to.mutable_metadata_props() = from.metadata_props();
}

/// The same with the name.
template <typename Proto> void copyHeader(const Proto &from, Proto &to) {
  if (from.has_name())
    to.set_name(from.name());
  copyNotes(from, to);
}

/// Copies a model's version, producer and device configurations, but not its
/// operator sets and its computation.
inline void copyHeader(const ModelProto &from, ModelProto &to) {
  if (from.has_ir_version())
    to.set_ir_version(from.ir_version());
  if (from.has_producer_name())
    to.set_producer_name(from.producer_name());
  if (from.has_producer_version())
    to.set_producer_version(from.producer_version());
  if (from.has_domain())
    to.set_domain(from.domain());
  if (from.has_model_version())
    to.set_model_version(from.model_version());
  *to.mutable_configuration() = from.configuration();
  copyNotes(from, to);
}

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_FILE_HEADERS_H
