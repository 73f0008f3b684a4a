//===- OnnxWriter.h - write an ONNX model ---------------------------------===//
//
// A model is written from a ModelProto whose large tensors point to their data:
// to the file that they were read from (TensorProtos copied from
// OnnxFile::model() do), or to a Tensor given with setData. The data are
// written from there; no second copy of the weights is made.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_FILE_ONNXWRITER_H
#define SINTER_FORMATS_ONNX_FILE_ONNXWRITER_H

#include "formats/onnx/file/OnnxFile.h"
#include "formats/onnx/file/Splice.h"

#include <optional>
#include <vector>

namespace sinter::onnx {

/// Whether large tensors go to a second file, `<model>.data`.
enum class ExternalWeights {
  WhenNeeded, ///< Only if the model would be over 2 GiB, protobuf's limit.
  Always,
  Never, ///< A model over 2 GiB is an error.
};

class OnnxWriter {
public:
  /// \p source is the file that tensors may have been copied from.
  explicit OnnxWriter(std::optional<OnnxFile> source = std::nullopt)
      : source(std::move(source)) {}

  /// Makes \p proto a tensor with the type, shape and elements of \p tensor.
  /// Its name and documentation stay.
  Result<void> setData(TensorProto &proto, const Tensor &tensor);

  /// Writes \p model to \p path, whole or not at all. External data of \p model
  /// are read from the source's folder and written like the rest.
  Result<void> write(const ModelProto &model, const std::string &path,
                     ExternalWeights external = ExternalWeights::WhenNeeded);

  /// The bytes that write() would write with ExternalWeights::Never, of any
  /// size, in pieces. They are valid as long as the result, this and the
  /// tensors' sources.
  Result<SplicedMessage> assemble(const ModelProto &model);

private:
  Result<SplicedMessage> spliceModel(const ModelProto &model) const;
  Result<void> bringInAll(ModelProto &model);
  Result<PayloadBytes> find(std::span<const std::byte> payload) const;
  Result<void> bringIn(TensorProto &proto);
  Result<void> writeExternal(ModelProto &model, const std::string &path) const;

  std::optional<OnnxFile> source;
  /// The tensors that TensorProto.Payload.tensor indexes, in their file form.
  std::vector<Tensor> tensors;
};

/// \p tensor as a serialised TensorProto named \p name, in a file of its own
/// (the form of ONNX's test data).
Result<void> writeTensorFile(const std::string &path, const Tensor &tensor,
                             const std::string &name = {});

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_FILE_ONNXWRITER_H
