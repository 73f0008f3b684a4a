//===- WriteOnnx.h - write the graph language as an ONNX model ------------===//

#ifndef SINTER_FORMATS_ONNX_WRITEONNX_H
#define SINTER_FORMATS_ONNX_WRITEONNX_H

#include "graph/Model.h"
#include "runtime/Result.h"
#include <string>

namespace sinter {

/// Writes \p model to \p path as ONNX, whole or not at all.
///
/// Ops that came from a node of an ONNX file and were not changed since are
/// written as that node (formats/onnx/NodeGroups.h); all others by the rules of
/// formats/onnx/write, or by their decomposition if there is no rule. Names of
/// inputs, outputs, weights, nodes and of the tensors between untouched nodes
/// are kept, as are the operator sets' versions, unless an op needs a newer
/// one. Dynamic dimensions are written with their symbols.
///
/// ErrorKind::Unsupported lists everything that ONNX cannot express, with
/// counts. With \p forOnnxRuntime nodes become fused ones of that runtime
/// (write/RuntimeFusions.h).
Result<void> writeOnnx(const Model &model, const std::string &path,
                       bool forOnnxRuntime = false);

} // namespace sinter

#endif // SINTER_FORMATS_ONNX_WRITEONNX_H
