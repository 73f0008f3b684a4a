//===- Quantized.h - quantised tensors as ONNX has them -------------------===//
//
// Storage elements between QuantizeLinear and DequantizeLinear
// (formats/import/RealNumbers.h). ONNX adds the zero point after it has
// rounded.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_WRITE_QUANTIZED_H
#define SINTER_FORMATS_ONNX_WRITE_QUANTIZED_H

#include "formats/onnx/write/NodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>
#include <string>

namespace sinter::onnx {

/// formats::computeWithRealNumbers; products may keep their form, too
/// (QuantizedProducts.h).
void computeWithRealNumbers(mlir::func::FuncOp function,
                            std::map<std::string, int64_t> &unsupported);

/// The inputs that say what elements of a quantised type mean: one number each,
/// or one an element of its axis.
struct LinearNames {
  Name scale, zeroPoint;
};

/// Nothing where ONNX has no such type; says why to \p e.
std::optional<LinearNames> linearNames(NodeWriter &e, mlir::Type quantized);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_WRITE_QUANTIZED_H
