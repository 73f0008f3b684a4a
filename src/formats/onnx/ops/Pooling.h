//===- Pooling.h - averages over windows and images -----------------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_POOLING_H
#define SINTER_FORMATS_ONNX_OPS_POOLING_H

#include "formats/onnx/NodeContext.h"

namespace sinter::onnx {

/// Average pooling of \p input [N, C, spatial...] with the window in the node's
/// attributes.
mlir::Value averagePool(NodeContext &node, mlir::Value input);
/// The averages over all spatial dimensions, which become 1.
mlir::Value globalAveragePool(NodeContext &node, mlir::Value input);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_POOLING_H
