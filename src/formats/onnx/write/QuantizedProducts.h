//===- QuantizedProducts.h - products that keep their form ----------------===//
//
//   quantize(conv(a, b) + bias)   ->  QLinearConv
//   quantize(dot_general(a, b))   ->  QLinearMatMul
//   conv(a, b), dot_general(a, b) ->  ConvInteger, MatMulInteger
//
// Of those that say that they were such a node (graph/QuantizedProducts.h).
//
// Restrictions:
//   - Operands and a rescaled result are bytes; only the right operand may have
//     scales or zero points along a dimension, that of the result's features.
//   - A bias is constant, one number for each feature.
//   - Nobody else reads what stands between the product and its rescale, which
//     is in the same block.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_WRITE_QUANTIZEDPRODUCTS_H
#define SINTER_FORMATS_ONNX_WRITE_QUANTIZEDPRODUCTS_H

#include "formats/onnx/write/NodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::onnx {

/// Makes one operation of each product in \p function that keeps its form, with
/// the bias and the rescale behind it, and gives weights the storage type that
/// they came in. What cannot keep its form says no more that it had one.
void keepProductForms(mlir::func::FuncOp function);

/// Whether \p op is what keepProductForms made.
bool keepsProductForm(mlir::Operation *op);

/// What a product that keeps its form takes beside its operands.
struct QuantizedInputs {
  /// Behind the left operand, and behind the right one.
  Names between, others;
  /// The zero point of the left operand.
  Name zero;
  /// Whether the node scales, rounds and cuts.
  bool hasScales = false;
  /// What the node gives.
  mlir::Type element;
};

/// Nothing for a product that keeps no form.
std::optional<QuantizedInputs> quantizedInputs(NodeWriter &e,
                                               mlir::Operation *op);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_WRITE_QUANTIZEDPRODUCTS_H
