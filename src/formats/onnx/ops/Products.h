//===- Products.h - the product of Gemm -----------------------------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_PRODUCTS_H
#define SINTER_FORMATS_ONNX_OPS_PRODUCTS_H

#include "formats/onnx/NodeContext.h"

namespace sinter::onnx {

/// alpha * A' * B' + beta * C of the node's inputs and attributes, in the type
/// of A, rounded once, or of accumulators.
mlir::Value gemm(NodeContext &node, bool isRounded);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_PRODUCTS_H
