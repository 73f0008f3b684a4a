//===- Widened.h - operators of half precision, computed in f32 -----------===//

#ifndef SINTER_FORMATS_ONNX_OPS_WIDENED_H
#define SINTER_FORMATS_ONNX_OPS_WIDENED_H

#include "formats/onnx/NodeContext.h"
#include "graph/nn/Wide.h"

namespace sinter::onnx {

/// \p value in f32 if it is of floats narrower than that: what one operator of
/// a file computes by several operations (a mean's sum, then its division) is
/// rounded when all is done. Null for null.
inline mlir::Value widened(NodeContext &node, mlir::Value value) {
  return value && nn::isNarrowFloat(value.getType())
             ? node.cast(value, node.f32())
             : value;
}

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_WIDENED_H
