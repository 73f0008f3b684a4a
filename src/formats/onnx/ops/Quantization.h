//===- Quantization.h - quantisation as arithmetic ------------------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_QUANTIZATION_H
#define SINTER_FORMATS_ONNX_OPS_QUANTIZATION_H

#include "formats/onnx/NodeContext.h"

namespace sinter::onnx {

/// Integers with what they mean; no zero point is one of 0.
struct QuantizedValue {
  mlir::Value elements, scale, zeroPoint;
};

/// A scale or zero point for a tensor like \p like: one number, one along
/// \p axis, or one for each block of \p blockSize elements along it.
mlir::Value spread(NodeContext &node, mlir::Value parameter, mlir::Value like,
                   int64_t axis, int64_t blockSize);

/// \p value / \p scale, rounded, moved by the zero point, clamped.
mlir::Value quantize(NodeContext &node, mlir::Value value, mlir::Value scale,
                     mlir::Value zeroPoint, mlir::Type element, int64_t axis,
                     int64_t blockSize);

/// (x - zero point) * scale, in the scale's type.
mlir::Value dequantize(NodeContext &node, mlir::Value value, mlir::Value scale,
                       mlir::Value zeroPoint, int64_t axis, int64_t blockSize);

/// The whole range from min(x, 0) to max(x, 0) on 0 to 255.
QuantizedValue quantizeDynamically(NodeContext &node, mlir::Value data);

/// \p value minus its zero point, if it has one, as i32; a zero point for each
/// element along \p axis.
mlir::Value centred(NodeContext &node, mlir::Value value, mlir::Value zeroPoint,
                    int64_t axis);

/// An i32 sum of products of numbers with scales \p lhs and \p rhs, quantised
/// with scale \p out. \p rhs may be one number each along \p axis.
mlir::Value requantize(NodeContext &node, mlir::Value sum, mlir::Value lhs,
                       mlir::Value rhs, mlir::Value out, mlir::Value zeroPoint,
                       int64_t axis);

mlir::LogicalResult importQuantizeLinear(NodeContext &node);
mlir::LogicalResult importDequantizeLinear(NodeContext &node);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_QUANTIZATION_H
