//===- ExternalData.h - tensors' data in files beside the model -----------===//
//
// A location is followed only to a regular file inside the model's folder: see
// runtime/OpenBeneath.h.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_FILE_EXTERNALDATA_H
#define SINTER_FORMATS_ONNX_FILE_EXTERNALDATA_H

#include "formats/onnx/file/FileBytes.h"
#include "runtime/Result.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace sinter::onnx {

class TensorProto;

class ExternalData {
public:
  /// For models in \p folder ("" is the current one).
  explicit ExternalData(std::string folder);

  /// The data that \p tensor's external_data describe. \p size is the byte
  /// count of the tensor's shape; a length entry must equal it. Keys other than
  /// location, offset and length are ignored, as ONNX specifies. Errors do not
  /// name the tensor. May be called from several threads.
  Result<FileBytes> find(const TensorProto &tensor, int64_t size);

private:
  Result<FileBytes> map(const std::string &location);

  std::string folder;
  std::mutex mutex;
  /// By location: each file is mapped once.
  std::map<std::string, FileBytes> files;
};

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_FILE_EXTERNALDATA_H
