//===- Lists.h - inputs that are lists of sizes or places -----------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_LISTS_H
#define SINTER_FORMATS_ONNX_OPS_LISTS_H

#include "formats/onnx/NodeContext.h"

namespace sinter::onnx {

/// More dimensions than any tensor has.
inline constexpr int64_t mostDimensions = 1024;

/// The length of a list with one element a dimension; fails where \p list is
/// not a vector, or its length is not known or beyond mostDimensions.
inline std::optional<int64_t> listLength(NodeContext &node, mlir::Value list,
                                         llvm::StringRef name) {
  if (!list || node.rank(list) != 1 || node.shape(list)[0] > mostDimensions)
    return node.fail("input '" + name + "' is not a list of sizes");
  if (!node.isStatic(list))
    return node.unknown("the length of input '" + name + "' is not known");
  return node.shape(list)[0];
}

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_LISTS_H
