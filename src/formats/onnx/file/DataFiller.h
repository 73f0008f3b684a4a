//===- DataFiller.h - fills tensors in messages with data -----------------===//

#ifndef SINTER_FORMATS_ONNX_FILE_DATAFILLER_H
#define SINTER_FORMATS_ONNX_FILE_DATAFILLER_H

#include "formats/onnx/file/OnnxFile.h"
#include "formats/onnx/file/onnx.pb.h"

namespace sinter::onnx {

/// Copies the data of tensors that point into a file into their messages. Each
/// function returns whether all of it could be read.
class DataFiller {
public:
  explicit DataFiller(const OnnxFile &file) : file(file) {}

  bool fill(NodeProto &node) const;
  bool fill(TensorProto &tensor) const;

private:
  bool fill(GraphProto &graph) const;
  bool fill(SparseTensorProto &tensor) const;

  const OnnxFile &file;
};

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_FILE_DATAFILLER_H
