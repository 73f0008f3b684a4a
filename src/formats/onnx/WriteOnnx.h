//===- WriteOnnx.h - write the graph language as an ONNX model ------------===//

#ifndef SINTER_FORMATS_ONNX_WRITEONNX_H
#define SINTER_FORMATS_ONNX_WRITEONNX_H

#include "graph/Model.h"
#include "runtime/Result.h"
#include <string>

namespace sinter {

/// Writes \p model to \p path as ONNX, whole or not at all.
///
/// What came from a node of an ONNX file and was not changed since is written
/// as that node (formats/onnx/NodeGroups.h); everything else by the rules of
/// formats/onnx/write, and where there is none by its decomposition. Names of
/// inputs, outputs, weights, nodes and of the tensors between untouched nodes
/// are kept, as are the operator sets' versions, unless an op needs a newer
/// one. Unknown dimensions are written with their symbols.
///
/// ErrorKind::Unsupported lists everything that ONNX cannot say, with counts.
Result<void> writeOnnx(const Model &model, const std::string &path);

} // namespace sinter

#endif // SINTER_FORMATS_ONNX_WRITEONNX_H
