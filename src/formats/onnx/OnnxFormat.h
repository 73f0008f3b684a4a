//===- OnnxFormat.h - ONNX's row of the table of formats ------------------===//

#ifndef SINTER_FORMATS_ONNX_ONNXFORMAT_H
#define SINTER_FORMATS_ONNX_ONNXFORMAT_H

#include "formats/Format.h"

namespace sinter {

extern const Format onnxFormat;

} // namespace sinter

#endif // SINTER_FORMATS_ONNX_ONNXFORMAT_H
