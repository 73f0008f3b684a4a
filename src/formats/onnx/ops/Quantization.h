//===- Quantization.h - quantisation as arithmetic ------------------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_QUANTIZATION_H
#define SINTER_FORMATS_ONNX_OPS_QUANTIZATION_H

#include "formats/onnx/NodeContext.h"

namespace sinter::onnx {

/// Integers with scale and zero point; a null zero point is 0.
struct QuantizedValue {
  mlir::Value elements, scale, zeroPoint;
};

/// Broadcasts a scale or zero point to the shape of \p like: per tensor, per
/// axis along \p axis, or per block of \p blockSize elements along it, of which
/// the last may be shorter; one element along it may stay one.
mlir::Value spread(NodeContext &node, mlir::Value parameter, mlir::Value like,
                   int64_t axis, int64_t blockSize);

/// \p value / \p scale, rounded, plus the zero point, clamped.
mlir::Value quantize(NodeContext &node, mlir::Value value, mlir::Value scale,
                     mlir::Value zeroPoint, mlir::Type element, int64_t axis,
                     int64_t blockSize);

/// (x - zero point) * scale, in the scale's type.
mlir::Value dequantize(NodeContext &node, mlir::Value value, mlir::Value scale,
                       mlir::Value zeroPoint, int64_t axis, int64_t blockSize);

/// Dynamic quantization to u8: maps the range from min(x, 0) to max(x, 0) to 0
/// to 255.
QuantizedValue quantizeDynamically(NodeContext &node, mlir::Value data);

/// \p value minus its zero point, if it has one, as i32; the zero point may
/// have one element for each index along \p axis.
mlir::Value centred(NodeContext &node, mlir::Value value, mlir::Value zeroPoint,
                    int64_t axis);

/// Quantises an i32 accumulator of operands with scales \p lhs and \p rhs with
/// scale \p out. \p rhs may have one element for each index along \p axis.
mlir::Value requantize(NodeContext &node, mlir::Value sum, mlir::Value lhs,
                       mlir::Value rhs, mlir::Value out, mlir::Value zeroPoint,
                       int64_t axis);

mlir::LogicalResult importQuantizeLinear(NodeContext &node);
mlir::LogicalResult importDequantizeLinear(NodeContext &node);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_QUANTIZATION_H
