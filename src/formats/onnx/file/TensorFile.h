//===- TensorFile.h - files with one value --------------------------------===//
//
// ONNX's test data are files with one serialised TensorProto, SequenceProto or
// OptionalProto. Their bytes do not show which; the type of the model's input
// does.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_FILE_TENSORFILE_H
#define SINTER_FORMATS_ONNX_FILE_TENSORFILE_H

#include "runtime/Tensor.h"

#include <string>
#include <variant>
#include <vector>

namespace sinter::onnx {

enum class ValueForm { Tensor, Sequence, Optional };

/// A tensor, a sequence of tensors, or an optional that is empty.
using FileValue = std::variant<std::monostate, Tensor, std::vector<Tensor>>;

/// Reads the value of form \p form at \p path. Its tensors may share the mapped
/// file. Maps, and sequences of anything but tensors, are unsupported. External
/// data are not followed.
Result<FileValue> readValueFile(const std::string &path, ValueForm form);

/// Reads the tensor at \p path.
Result<Tensor> readTensorFile(const std::string &path);

// writeTensorFile is in OnnxWriter.h.

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_FILE_TENSORFILE_H
