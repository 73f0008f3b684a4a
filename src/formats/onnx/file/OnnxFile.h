//===- OnnxFile.h - an open ONNX model ------------------------------------===//
//
// The file is mapped, and protobuf parses the model without the data of its
// large tensors (Payloads.h). tensorOf returns these as tensors over the mapped
// bytes. So an open model takes little memory besides the mapping, and a file
// of more than 2 GiB is no special case.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_FILE_ONNXFILE_H
#define SINTER_FORMATS_ONNX_FILE_ONNXFILE_H

#include "formats/onnx/file/TensorData.h"
#include "runtime/Tensor.h"

#include <memory>
#include <string>
#include <string_view>

namespace sinter::onnx {

class ModelProto;

/// Copies share the same open file.
class OnnxFile {
public:
  /// Opens and checks (ModelCheck.h) the model at \p path. External data are
  /// looked for in the folder of \p path. Errors name the file.
  static Result<OnnxFile> open(const std::string &path);

  /// The same for a model in memory. \p folder is where external data are;
  /// \p name is the file name in messages.
  static Result<OnnxFile> fromMemory(std::string bytes, std::string folder,
                                     std::string name);

  /// The model, its nodes sorted. Large tensors' data are not in it; do not
  /// read raw_data and similar fields, but call tensorOf.
  const ModelProto &model() const;

  /// The path it was opened by, for messages.
  const std::string &name() const;

  /// The data of a tensor of this model, see decodeTensor and decodeSparse.
  /// Errors name the file and the tensor, or \p what if the tensor has no name:
  /// "attribute 'value' of node 'c' (Constant)". May be called from several
  /// threads.
  Result<Tensor> tensorOf(const TensorProto &proto,
                          std::string_view what = {}) const;
  Result<Tensor> tensorOf(const SparseTensorProto &proto,
                          std::string_view what = {}) const;

  /// Where the payloads of the model's tensors are, for the writer. Lives as
  /// long as a copy of this.
  const DataSource &source() const;

private:
  struct State;
  explicit OnnxFile(std::shared_ptr<State> state) : state(std::move(state)) {}
  static Result<OnnxFile> load(std::shared_ptr<State> state);
  Error inTensor(std::string_view tensor, std::string_view what,
                 const Error &error) const;

  std::shared_ptr<State> state;
};

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_FILE_ONNXFILE_H
