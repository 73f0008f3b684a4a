//===- QuantizedProducts.h - int8 matmuls that stay one node --------------===//
//
//   quantize(conv(a, b) + bias)   ->  QLinearConv
//   quantize(dot_general(a, b))   ->  QLinearMatMul
//   conv(a, b), dot_general(a, b) ->  ConvInteger, MatMulInteger
//
// Applies to ops with an attribute that they were such a node
// (graph/QuantizedProducts.h).
//
// Restrictions:
//   - Operands and a rescaled result are 8-bit integers; only the right operand
//     may have scales or zero points along a dimension, that of the result's
//     features.
//   - A bias is constant, with one element per feature.
//   - Values between the op and its rescale have no other use, and both are in
//     the same block.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_WRITE_QUANTIZEDPRODUCTS_H
#define SINTER_FORMATS_ONNX_WRITE_QUANTIZEDPRODUCTS_H

#include "formats/onnx/write/NodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::onnx {

/// Merges each matmul and convolution in \p function that keeps its form with
/// the bias and the rescale after it, and restores weights' original storage
/// types. Removes the attribute of those that cannot keep their form.
void keepProductForms(mlir::func::FuncOp function);

/// Whether \p op was made by keepProductForms.
bool keepsProductForm(mlir::Operation *op);

/// The further inputs of a matmul or convolution that keeps its form.
struct QuantizedInputs {
  /// After the left operand, and after the right one.
  Names between, others;
  /// The zero point of the left operand.
  Name zero;
  /// Whether the node rescales, rounds and saturates.
  bool hasScales = false;
  /// The element type of the node's output.
  mlir::Type element;
};

/// Nothing for an op that does not keep its form.
std::optional<QuantizedInputs> quantizedInputs(NodeWriter &e,
                                               mlir::Operation *op);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_WRITE_QUANTIZEDPRODUCTS_H
