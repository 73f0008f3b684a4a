//===- TensorData.h - from TensorProto to Tensor and back -----------------===//

#ifndef SINTER_FORMATS_ONNX_FILE_TENSORDATA_H
#define SINTER_FORMATS_ONNX_FILE_TENSORDATA_H

#include "formats/onnx/file/FileBytes.h"
#include "runtime/Tensor.h"

namespace sinter::onnx {

class ExternalData;
class SparseTensorProto;
class TensorProto;

/// Where the data that a message only points to are.
struct DataSource {
  /// The bytes that TensorProto.payload counts in.
  FileBytes file;
  /// Null where external data are not allowed.
  ExternalData *external = nullptr;
};

/// A sparse tensor that takes more than so many bytes when it is dense is
/// unsupported: a hundred bytes of file must not ask for terabytes.
inline constexpr int64_t maxDenseBytes = int64_t(1) << 30;

/// The tensor that \p proto describes. It shares the bytes of \p source where
/// the file has them as a Tensor does (raw_data, float_data, double_data,
/// external data, of types that are not packed), else it owns decoded ones.
/// Errors name neither file nor tensor.
Result<Tensor> decodeTensor(const TensorProto &proto, const DataSource &source);

/// The dense form of \p proto. Its indices are checked: inside the shape,
/// strictly ascending.
Result<Tensor> decodeSparse(const SparseTensorProto &proto,
                            const DataSource &source);

/// The elements of \p tensor as raw_data has them: the tensor itself, except
/// that types of 2 and 4 bits are packed.
Tensor packedForFile(const Tensor &tensor);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_FILE_TENSORDATA_H
