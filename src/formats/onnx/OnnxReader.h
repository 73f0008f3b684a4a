//===- OnnxReader.h - read an ONNX model into the graph language ----------===//

#ifndef SINTER_FORMATS_ONNX_ONNXREADER_H
#define SINTER_FORMATS_ONNX_ONNXREADER_H

#include "formats/import/ReadOptions.h"
#include "graph/Model.h"
#include "runtime/Result.h"

namespace sinter {

namespace onnx {
class OnnxFile;
}

/// Reads and checks the ONNX model at \p path. Weights stay in the mapped file,
/// which lives as long as the model's context. Dynamic dimensions keep their
/// symbols. Errors are one line: file, node, operator, reason; all that is
/// unsupported is listed at once.
Result<Model> readOnnx(const std::string &path,
                       const ReadOptions &options = {});

/// The same for a file that is open already.
Result<Model> readOnnx(const onnx::OnnxFile &file,
                       const ReadOptions &options = {});

/// Whether an initializer that is also an input is a default that callers may
/// replace. Not before version 4 of the format, in which every initializer had
/// to be an input.
bool mayReplaceDefaults(const onnx::OnnxFile &file);

/// Whether \p file has nodes of operators that readOnnx knows in no version and
/// that are no functions of the file: no shapes or values make it readable.
bool hasUnknownOperators(const onnx::OnnxFile &file);

} // namespace sinter

#endif // SINTER_FORMATS_ONNX_ONNXREADER_H
