//===- Pooling.h - averages over windows and images -----------------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_POOLING_H
#define SINTER_FORMATS_ONNX_OPS_POOLING_H

#include "formats/onnx/NodeContext.h"

namespace sinter::onnx {

/// The averages over the windows of the node's attributes of \p input
/// [N, C, spatial...].
mlir::Value averagePool(NodeContext &node, mlir::Value input);
/// Those over all of its spatial dimensions, which become 1.
mlir::Value globalAveragePool(NodeContext &node, mlir::Value input);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_POOLING_H
