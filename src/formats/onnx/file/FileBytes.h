//===- FileBytes.h - bytes of a file, kept alive --------------------------===//

#ifndef SINTER_FORMATS_ONNX_FILE_FILEBYTES_H
#define SINTER_FORMATS_ONNX_FILE_FILEBYTES_H

#include <cstddef>
#include <memory>
#include <span>

namespace sinter::onnx {

/// Bytes and their owner: a mapped file, or a copy in memory.
struct FileBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_FILE_FILEBYTES_H
