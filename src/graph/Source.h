//===- Source.h - the file node that an operation came from ---------------===//
//
// A reader marks the operations that it makes of one node of a file with the
// node's number, except for constants, and keeps a record of each node at the
// module. From these the writer of the same format restores untouched groups
// exactly:
//
//   module  sinter.source.format   whose records these are: "onnx"
//           sinter.source.records  an array with one dictionary a node: "name",
//                                  as in locations, "op_type", what the file
//                                  calls the operation, and what is the
//                                  format's affair
//           sinter.source.whole    the nodes that passes leave alone or take
//                                  away as a whole (passes/Groups.h)
//           sinter.source.lasting  those that stay even if they are constant
//           sinter.source.notes    the reader's notes for the user, in lines
//           sinter.source.*        what else the format keeps
//   op      sinter.source          the node's number
//
// A mark means that an operation is as the reader made it; a pass that changes
// or copies one removes the mark. That is why it is not part of the location:
// passes copy locations to the operations that replace others. A record could
// then not always tell the original from a replacement: shapes and types become
// known while passes run, so they cannot be in a fingerprint, but only they
// distinguish one reshape from another.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_SOURCE_H
#define SINTER_GRAPH_SOURCE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sinter {

inline constexpr llvm::StringLiteral sourceAttribute = "sinter.source";
inline constexpr llvm::StringLiteral sourceFormatAttribute =
    "sinter.source.format";
inline constexpr llvm::StringLiteral sourceRecordsAttribute =
    "sinter.source.records";
inline constexpr llvm::StringLiteral recordedName = "name";
inline constexpr llvm::StringLiteral recordedOperation = "op_type";
inline constexpr llvm::StringLiteral wholeSourcesAttribute =
    "sinter.source.whole";
inline constexpr llvm::StringLiteral lastingSourcesAttribute =
    "sinter.source.lasting";
inline constexpr llvm::StringLiteral sourceNotesAttribute =
    "sinter.source.notes";

/// Whether \p number can be a node's. Attributes can come from other tools.
constexpr bool isSourceNumber(int64_t number) {
  return number >= 0 && number <= std::numeric_limits<int32_t>::max();
}

/// The number of the node that \p op came from, if it is as the reader made it.
std::optional<int64_t> sourceOf(mlir::Operation *op);
void setSource(mlir::Operation *op, int64_t number);
void removeSource(mlir::Operation *op);

/// Whether an attribute called \p name is one of the above.
bool isSourceAttribute(llvm::StringRef name);

/// Removes all records of the file and marks: writers then see only the
/// operations.
void dropSources(mlir::ModuleOp module);

/// The module's attribute \p name, if a reader of \p format kept it; else null.
template <typename Kind>
Kind keptOfSource(mlir::ModuleOp module, llvm::StringRef format,
                  llvm::StringRef name) {
  auto whose = module->getAttrOfType<mlir::StringAttr>(sourceFormatAttribute);
  return whose && whose.getValue() == format ? module->getAttrOfType<Kind>(name)
                                             : Kind();
}

/// The file's operator names of its nodes, by the nodes' names. Several nodes
/// may share a name.
std::map<std::string, std::set<std::string>>
operationsInFile(mlir::ModuleOp module);

/// The reader's notes for the user.
std::vector<std::string> sourceNotes(mlir::ModuleOp module);

} // namespace sinter

#endif // SINTER_GRAPH_SOURCE_H
