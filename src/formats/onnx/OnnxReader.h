//===- OnnxReader.h - read an ONNX model into the graph language ----------===//

#ifndef SINTER_FORMATS_ONNX_ONNXREADER_H
#define SINTER_FORMATS_ONNX_ONNXREADER_H

#include "graph/Model.h"
#include "runtime/Result.h"
#include "runtime/Tensor.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sinter {

namespace onnx {
class OnnxFile;
}

struct ReadOptions {
  /// Sizes of inputs, by name. They replace unknown dimensions, also wherever
  /// else their symbols occur.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Values of inputs, by name, where what the graph looks like depends on them
  /// (the shape of a Reshape, the axes of a reduction). The arguments stay, and
  /// nothing reads them.
  std::map<std::string, Tensor> values;
  /// Whether a node that cannot be translated before some size or value is
  /// known becomes `nn.deferred`, for a graph that is looked at or written
  /// again and not run. What it gives must be known in rank and element type.
  /// Otherwise it is Unsupported.
  bool keepsUnknown = false;
  /// Whether such a node becomes operations of unknown sizes as far as there
  /// are any: for formats that have no node of its own for it. Its group cannot
  /// be given back then.
  bool spellsUnknown = false;
  /// Whether the model is to be written as ONNX again. Then what cannot be
  /// translated, draws random numbers, or gives sequences and optionals, is
  /// kept as the node that it is (formats/onnx/KeptNodes.cpp), and what depends
  /// on its values with it.
  bool keepsNodes = false;
  /// With keepsNodes: initializers that are inputs, too, become constants.
  bool freezesDefaults = false;
};

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
