//===- TensorData.h - from TensorProto to Tensor and back -----------------===//

#ifndef SINTER_FORMATS_ONNX_FILE_TENSORDATA_H
#define SINTER_FORMATS_ONNX_FILE_TENSORDATA_H

#include "formats/onnx/file/FileBytes.h"
#include "runtime/Tensor.h"

namespace sinter::onnx {

class ExternalData;
class SparseTensorProto;
class TensorProto;

/// The location of the data that a message points to.
struct DataSource {
  /// The bytes that TensorProto.payload offsets refer to.
  FileBytes file;
  /// Null if external data are not allowed.
  ExternalData *external = nullptr;
};

/// Maximum size of a sparse tensor in dense form: a hundred bytes of file must
/// not allocate terabytes.
inline constexpr int64_t maxDenseBytes = int64_t(1) << 30;

/// The tensor that \p proto describes. It shares the bytes of \p source if the
/// file has them in the form of a Tensor (raw_data, float_data, double_data,
/// external data, of types that are not packed), else it owns decoded ones.
/// Errors name neither file nor tensor.
Result<Tensor> decodeTensor(const TensorProto &proto, const DataSource &source);

/// The dense form of \p proto. Its indices are checked: inside the shape,
/// strictly ascending.
Result<Tensor> decodeSparse(const SparseTensorProto &proto,
                            const DataSource &source);

/// The elements of \p tensor, which are no strings, in the form of raw_data:
/// the tensor itself, except that types of 2 and 4 bits are packed.
Tensor packedForFile(const Tensor &tensor);

/// Adds the elements of \p tensor, which are strings, to \p proto.
void addStrings(TensorProto &proto, const Tensor &tensor);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_FILE_TENSORDATA_H
