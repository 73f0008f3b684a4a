//===- KnownForms.h - nodes that stay together ----------------------------===//
//
// Runtimes look for forms of several nodes and replace them by one kernel: a
// layer norm that is spelt out, a gelu, the core of an attention. A file that
// is written again is worth most with these as they were, so passes leave them
// alone (passes/Groups.h). The forms are a table of texts, see KnownForms.cpp.
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

/// A node of the file that was read: what it is, and between which values.
struct ReadNode {
  std::string opType;
  /// Null where absent.
  llvm::SmallVector<mlir::Value, 4> inputs;
  llvm::SmallVector<mlir::Value, 1> outputs;
};

/// The numbers of the nodes of each form that \p nodes hold, none in two forms.
std::vector<llvm::SmallVector<int64_t>>
findKnownForms(llvm::ArrayRef<ReadNode> nodes);

/// Whether passes may take a node of this operator apart although its parts
/// would be several nodes: because the parts go elsewhere (a batch norm into a
/// convolution), or because each part is a node like this one.
bool comesApart(llvm::StringRef opType);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_KNOWNFORMS_H
