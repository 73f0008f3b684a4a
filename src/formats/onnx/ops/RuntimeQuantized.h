//===- RuntimeQuantized.h - what ONNX Runtime's quantised operators share -===//

#ifndef SINTER_FORMATS_ONNX_OPS_RUNTIMEQUANTIZED_H
#define SINTER_FORMATS_ONNX_OPS_RUNTIMEQUANTIZED_H

#include "formats/onnx/ops/Quantization.h"

namespace sinter::onnx {

/// Input \p index; fails if it is absent.
mlir::Value requiredInput(NodeContext &node, int64_t index);

/// Input \p index, of one element, as a scalar; null if it is absent.
mlir::Value scalarOperand(NodeContext &node, int64_t index);

/// Whether \p element is u8 or i8.
bool isByte(mlir::Type element);

/// Fails unless \p zeroPoint, which may be null, has elements of \p element.
void checkZeroPoint(NodeContext &node, mlir::Value zeroPoint,
                    mlir::Type element);

/// Elements, scale and zero point: inputs \p first and the next two. The scale
/// and zero point are scalars if \p areScalars, else may be per axis.
QuantizedValue quantizedAt(NodeContext &node, int64_t first,
                           bool areScalars = true);

/// The elements of \p given as floats.
mlir::Value dequantized(NodeContext &node, const QuantizedValue &given);

/// Quantises \p values to type \p element, with the scale in input \p first
/// and the zero point in the next.
mlir::Value quantizedBy(NodeContext &node, mlir::Value values, int64_t first,
                        mlir::Type element);

/// The i32 matmul of two integer tensors; the right one may have a zero point
/// per column.
mlir::Value integerMatmul(NodeContext &node, const QuantizedValue &lhs,
                          const QuantizedValue &rhs);

/// Dequantises an i32 accumulator to the scales' type; narrow floats cannot
/// represent the accumulator itself.
mlir::Value scaledSum(NodeContext &node, mlir::Value sum, mlir::Value lhs,
                      mlir::Value rhs);

/// Input \p elements with inputs \p scale and \p zeroPoint, which may be
/// absent, along its last dimension.
QuantizedValue weightAt(NodeContext &node, int64_t elements, int64_t scale,
                        int64_t zeroPoint);

/// Unpacks the bytes \p packed along their last dimension to elements of
/// \p bits bits, the lowest bits first.
mlir::Value unpacked(NodeContext &node, mlir::Value packed, int64_t bits);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_RUNTIMEQUANTIZED_H
