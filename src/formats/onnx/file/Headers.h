//===- Headers.h - what messages say of themselves ------------------------===//

#ifndef SINTER_FORMATS_ONNX_FILE_HEADERS_H
#define SINTER_FORMATS_ONNX_FILE_HEADERS_H

#include "formats/onnx/file/onnx.pb.h"

namespace sinter::onnx {

/// The documentation and the metadata of a message (a model, graph, node,
/// function or tensor); what is not there is not set.
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

/// What a model says of its version, its maker and the devices it is for; its
/// operator sets and its computation not.
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
