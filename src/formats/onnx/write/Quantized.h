//===- Quantized.h - quantised tensors in ONNX's form ---------------------===//
//
// Storage elements between QuantizeLinear and DequantizeLinear
// (formats/import/QdqForm.h). ONNX adds the zero point after rounding.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_WRITE_QUANTIZED_H
#define SINTER_FORMATS_ONNX_WRITE_QUANTIZED_H

#include "formats/onnx/write/NodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>
#include <string>

namespace sinter::onnx {

/// formats::convertToQdqForm; quantised matmuls and convolutions may keep
/// their form (QuantizedProducts.h).
void convertToQdqForm(mlir::func::FuncOp function,
                      std::map<std::string, int64_t> &unsupported);

/// Scale and zero point of a quantised type as inputs: per tensor, or one
/// element per index of its axis.
struct LinearNames {
  Name scale, zeroPoint;
};

/// Nothing if ONNX has no such type; reports why to \p e.
std::optional<LinearNames> linearNames(NodeWriter &e, mlir::Type quantized);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_WRITE_QUANTIZED_H
