//===- TensorFile.cpp - files with one value ------------------------------===//

#include "formats/onnx/file/TensorFile.h"

#include "formats/onnx/file/OnnxFile.h"
#include "formats/onnx/file/Parse.h"
#include "formats/onnx/file/onnx.pb.h"
#include "runtime/MappedFile.h"

using namespace sinter;
using namespace sinter::onnx;

namespace {

Result<FileValue> tensorValue(const TensorProto &proto,
                              const DataSource &source) {
  Result<Tensor> tensor = decodeTensor(proto, source);
  if (!tensor) {
    std::string subject =
        proto.name().empty() ? "the tensor" : "tensor '" + proto.name() + "'";
    return inside(subject, tensor.takeError());
  }
  return FileValue(std::move(*tensor));
}

Result<FileValue> sequenceValue(const SequenceProto &proto,
                                const DataSource &source) {
  if (proto.sequence_values_size() > 0 || proto.optional_values_size() > 0 ||
      proto.map_values_size() > 0)
    return unsupported("a sequence of anything but tensors");
  std::vector<Tensor> tensors;
  for (const TensorProto &element : proto.tensor_values()) {
    Result<FileValue> tensor = tensorValue(element, source);
    if (!tensor)
      return tensor;
    tensors.push_back(std::get<Tensor>(std::move(*tensor)));
  }
  for (const SparseTensorProto &element : proto.sparse_tensor_values()) {
    Result<Tensor> tensor = decodeSparse(element, source);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
  return FileValue(std::move(tensors));
}

Result<FileValue> optionalValue(const OptionalProto &proto,
                                const DataSource &source) {
  if (proto.has_tensor_value())
    return tensorValue(proto.tensor_value(), source);
  if (proto.has_sequence_value())
    return sequenceValue(proto.sequence_value(), source);
  if (proto.has_optional_value())
    return optionalValue(proto.optional_value(), source);
  if (proto.has_sparse_tensor_value()) {
    Result<Tensor> tensor = decodeSparse(proto.sparse_tensor_value(), source);
    if (!tensor)
      return tensor.takeError();
    return FileValue(std::move(*tensor));
  }
  if (proto.has_map_value())
    return unsupported("an optional map");
  return FileValue();
}

/// Parses a message and passes it to its overload above.
template <typename Proto>
Result<FileValue> readAs(MessageKind kind,
                         Result<FileValue> (*decode)(const Proto &,
                                                     const DataSource &),
                         const DataSource &source) {
  Proto proto;
  Result<void> parsed = parseWithoutPayloads(source.file.bytes, kind, proto);
  if (!parsed)
    return invalidModel("not an ONNX value: " + parsed.error().message());
  return decode(proto, source);
}

} // namespace

Result<FileValue> onnx::readValueFile(const std::string &path, ValueForm form) {
  Result<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  DataSource source{{(*file)->bytes(), *file}, nullptr};
  Result<FileValue> value =
      form == ValueForm::Tensor
          ? readAs<TensorProto>(MessageKind::Tensor, tensorValue, source)
      : form == ValueForm::Sequence
          ? readAs<SequenceProto>(MessageKind::Sequence, sequenceValue, source)
          : readAs<OptionalProto>(MessageKind::Optional, optionalValue, source);
  // Damaged data do not make the model invalid.
  if (!value) {
    Error error = value.takeError();
    if (error.kind == ErrorKind::InvalidModel)
      error.kind = ErrorKind::System;
    return inFile(std::move(error), path);
  }
  return value;
}

Result<Tensor> onnx::readTensorFile(const std::string &path) {
  Result<FileValue> value = readValueFile(path, ValueForm::Tensor);
  if (!value)
    return value.takeError();
  return std::get<Tensor>(std::move(*value));
}
