//===- DynamicTypes.h - result types of deferred nodes --------------------===//

#ifndef SINTER_FORMATS_ONNX_DYNAMICTYPES_H
#define SINTER_FORMATS_ONNX_DYNAMICTYPES_H

#include "formats/onnx/NodeContext.h"

namespace sinter::onnx {

/// The types of all outputs of a node that cannot be translated yet, absent
/// ones included: element types, ranks, and those sizes that follow from the
/// operands. Nothing if a rank neither follows nor is declared in the file.
std::optional<llvm::SmallVector<mlir::Type>> dynamicTypes(NodeContext &node);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_DYNAMICTYPES_H
