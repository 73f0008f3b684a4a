//===- Metadata.h - what a model keeps for its users ----------------------===//
//
// A model may carry texts that no pass reads, and commands do: the names of its
// classes, how its inputs are prepared. They are an attribute of the module:
//
//     module attributes {sinter.metadata = {sinter.labels = "cat\0Adog"}}
//
// Readers take it from the file's metadata, as far as the keys begin with
// "sinter."; writers put it there.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_METADATA_H
#define SINTER_GRAPH_METADATA_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <utility>
#include <vector>

namespace sinter {

inline constexpr llvm::StringLiteral metadataAttribute = "sinter.metadata";

/// Whether a file's entry \p key is for the attribute.
inline bool isKeptMetadata(llvm::StringRef key) {
  return key.starts_with("sinter.");
}

/// Sets the entry \p key, in the place of one of this name if there is one. \p
/// key is not empty.
void setMetadata(mlir::ModuleOp module, llvm::StringRef key,
                 llvm::StringRef text);

/// All entries, by key; none if the attribute, which can come from other tools,
/// is no dictionary. Entries that are no texts are left out.
std::vector<std::pair<std::string, std::string>>
metadataOf(mlir::ModuleOp module);

} // namespace sinter

#endif // SINTER_GRAPH_METADATA_H
