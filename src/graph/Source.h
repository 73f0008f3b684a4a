//===- Source.h - which node of a file an operation came of ---------------===//
//
// A reader marks the operations that one node of its file became with the
// node's number, constants excepted, and keeps at the module a record of each
// node, from which the writer of the same format gives an untouched group back
// as it was:
//
//   module  sinter.source.format   whose records these are: "onnx"
//           sinter.source.records  an array with one dictionary a node: "name",
//                                  as in locations, "op_type", what the file
//                                  calls the operation, and what is the
//                                  format's affair
//           sinter.source.whole    the nodes that passes leave alone or take
//                                  away as a whole (passes/Groups.h)
//           sinter.source.lasting  those that stay even if they are constant
//           sinter.source.notes    what the reader tells the user, in lines
//           sinter.source.*        what else the format keeps
//   op      sinter.source          the node's number
//
// A mark says that an operation is as the reader made it; a pass that changes
// or copies one takes the mark away. That is why it is no metadata of the
// location: a location says what an operation stands for and is handed on to
// whatever takes its place. Only a format's own record could tell the two apart
// then, and not always: sizes and types become known while passes run, so that
// they are in no fingerprint, but they are all that tells one reshape from
// another.
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

/// Whether \p number can be a node's. Attributes come from strangers, too.
constexpr bool isSourceNumber(int64_t number) {
  return number >= 0 && number <= std::numeric_limits<int32_t>::max();
}

/// The number of the node that \p op came of, if it is as the reader made it.
std::optional<int64_t> sourceOf(mlir::Operation *op);
void setSource(mlir::Operation *op, int64_t number);
void removeSource(mlir::Operation *op);

/// Whether an attribute called \p name is one of the above.
bool isSourceAttribute(llvm::StringRef name);

/// Takes away all that was kept of a file: what is written then is written by
/// what it does.
void dropSources(mlir::ModuleOp module);

/// The module's attribute \p name, if a reader of \p format kept it; else null.
template <typename Kind>
Kind keptOfSource(mlir::ModuleOp module, llvm::StringRef format,
                  llvm::StringRef name) {
  auto whose = module->getAttrOfType<mlir::StringAttr>(sourceFormatAttribute);
  return whose && whose.getValue() == format ? module->getAttrOfType<Kind>(name)
                                             : Kind();
}

/// What the file calls the operations of its nodes, by the nodes' names. A name
/// may be that of several.
std::map<std::string, std::set<std::string>>
operationsInFile(mlir::ModuleOp module);

/// What the reader tells the user.
std::vector<std::string> sourceNotes(mlir::ModuleOp module);

} // namespace sinter

#endif // SINTER_GRAPH_SOURCE_H
