//===- OpenTypes.h - result types of nodes that cannot be read yet --------===//

#ifndef SINTER_FORMATS_ONNX_OPENTYPES_H
#define SINTER_FORMATS_ONNX_OPENTYPES_H

#include "formats/onnx/NodeContext.h"

namespace sinter::onnx {

/// The types of all outputs of a node that cannot be translated yet, absent
/// ones included: the element types and ranks, and those sizes that follow from
/// the operands all the same. Nothing where a rank does not follow and the file
/// does not declare it either.
std::optional<llvm::SmallVector<mlir::Type>> openTypes(NodeContext &node);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPENTYPES_H
