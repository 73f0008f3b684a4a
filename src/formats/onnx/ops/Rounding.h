//===- Rounding.h - to the range and the grid of an element type ----------===//

#ifndef SINTER_FORMATS_ONNX_OPS_ROUNDING_H
#define SINTER_FORMATS_ONNX_OPS_ROUNDING_H

#include "formats/onnx/NodeContext.h"

namespace sinter::onnx {

/// \p value clamped to what the floating-point type \p element can hold; NaN
/// stays.
mlir::Value saturate(NodeContext &node, mlir::Value value, mlir::Type element);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_ROUNDING_H
