//===- Inputs.h - inputs and attributes of several operators --------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_INPUTS_H
#define SINTER_FORMATS_ONNX_OPS_INPUTS_H

#include "formats/import/Building.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/ops/Inputs.h"

namespace sinter::onnx {

using formats::Combine;

/// An input of one element, as a scalar.
mlir::Value scalarInput(NodeContext &node, int64_t input);

/// The value of attribute `reduction`; fails for an unknown one.
std::optional<Combine> readCombine(NodeContext &node);

/// Maximum rank.
inline constexpr int64_t mostDimensions = 1024;

/// The length of a list with one element per dimension; fails if \p list is not
/// a vector, or its length is not known or above mostDimensions.
std::optional<int64_t> listLength(NodeContext &node, mlir::Value list,
                                  llvm::StringRef name);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_INPUTS_H
