//===- OnnxReader.h - read an ONNX model into the graph language ----------===//

#ifndef SINTER_FORMATS_ONNX_ONNXREADER_H
#define SINTER_FORMATS_ONNX_ONNXREADER_H

#include "formats/ReadOptions.h"
#include "graph/Model.h"
#include "runtime/Result.h"

namespace sinter {

namespace onnx {
class OnnxFile;
}

/// Reads and checks the ONNX model at \p path. Weights stay in the mapped file,
/// which lives as long as the model's context. Unknown dimensions keep their
/// symbols. Errors are one line: file, node, operator, reason; what is
/// unsupported is listed all at once.
Result<Model> readOnnx(const std::string &path,
                       const ReadOptions &options = {});

/// The same for a file that is open already.
Result<Model> readOnnx(const onnx::OnnxFile &file,
                       const ReadOptions &options = {});

/// Whether \p file has nodes of operators that readOnnx knows in no version,
/// and that are no functions of the file: nothing that is given makes it
/// readable.
bool hasUnknownOperators(const onnx::OnnxFile &file);

} // namespace sinter

#endif // SINTER_FORMATS_ONNX_ONNXREADER_H
