//===- KnownForms.h - node patterns that runtimes fuse --------------------===//
//
// Runtimes match patterns of several nodes and replace them by one kernel: a
// decomposed layer norm, a gelu, the core of an attention. A file that is
// written again should keep them, so passes leave them alone (passes/Groups.h).
// The patterns, here called forms, are a table of texts, see KnownForms.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_KNOWNFORMS_H
#define SINTER_FORMATS_ONNX_KNOWNFORMS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace sinter::onnx {

/// A node of the imported file: its operator, inputs and outputs.
struct ReadNode {
  std::string opType;
  /// Null where absent.
  llvm::SmallVector<mlir::Value, 4> inputs;
  llvm::SmallVector<mlir::Value, 1> outputs;
};

/// The node indices of each form found in \p nodes; no node is in two forms.
std::vector<llvm::SmallVector<int64_t>>
findKnownForms(llvm::ArrayRef<ReadNode> nodes);

/// Whether passes may decompose a node of this operator although it would
/// become several nodes: because its pieces fold into others (a batch norm into
/// a convolution), or because each piece is a node of the same operator.
bool comesApart(llvm::StringRef opType);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_KNOWNFORMS_H
