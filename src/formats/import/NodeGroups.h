//===- NodeGroups.h - the ops that came from one node of a file -----------===//
//
// What a reader records of node i of a file (graph/Source.h), so that a writer
// of the same format can check whether its operations are unchanged, and find
// their current operands and results:
//
//   proto        the node itself, encoded by the format; absent if the
//                node cannot be given back
//   group        i64: a fingerprint of the group's ops in block order: names,
//                attributes, nested ops, and how they use each other's results
//   uses         for each use of an external operand in the group:
//                which external operand it is
//   inputs       one entry for each input of the node:
//                  unit           absent
//                  i64 k          the k-th external operand of the group
//                  elements       not used by the group: a constant to write
//   constants    for each external operand that is no input of the node: the
//                value that it must have; unit for the others
//   outputs      one entry for each output of the node: unit if absent, else
//                [i, j]: result j of the group's i-th op
//   captures     what the node's graphs use from outside: [name, k], the k-th
//                external operand; absent if there are none
//
// A node with graphs has one op that holds them. Of the ops in its regions, the
// fingerprint covers the node's own, not those made for nested nodes: these
// have groups of their own, and what the graphs compute may change.
//
// External operands are indexed in the order of their first use, equal
// constants of one name as one; two of them may become one value. A group is
// untouched if its fingerprint and its constants are unchanged, and if no
// result that is not an output is used outside. Its external operands and the
// types of all values may have changed.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_IMPORT_NODEGROUPS_H
#define SINTER_FORMATS_IMPORT_NODEGROUPS_H

#include "graph/Source.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>
#include <vector>

namespace sinter::formats {

/// Whether ops of this kind hold a node's graphs in their regions.
bool holdsGraphs(mlir::Operation *op);

/// The node's own ops (such as a loop's counter) among those in the regions of
/// the op of the group \p ops that holds the graphs.
llvm::SmallVector<mlir::Operation *>
heldOps(llvm::ArrayRef<mlir::Operation *> ops);

/// What a reader knows of a node that it has translated.
struct GroupRecord {
  /// The node, encoded; empty if it cannot be given back.
  std::string node;
  /// The ops made for it, in block order, without constants and what is in
  /// their regions.
  llvm::ArrayRef<mlir::Operation *> ops;
  /// Null where absent. `known` holds the value of an input that no op uses,
  /// where it is not a constant itself, or where its op is gone.
  llvm::SmallVector<mlir::Value> inputs;
  llvm::SmallVector<mlir::ElementsAttr> known;
  llvm::SmallVector<mlir::Value> outputs;
  /// What the node's graphs use from outside.
  std::vector<std::pair<std::string, mlir::Value>> captures;
};

/// Adds the entries listed above to a record; adds nothing if the node cannot
/// be given back.
void setGroup(mlir::NamedAttrList &entry, const GroupRecord &record,
              mlir::MLIRContext *context);

/// A node that can be written as it was read.
struct UntouchedNode {
  struct Input {
    /// One of the two, or neither for an absent input.
    mlir::Value value;
    mlir::ElementsAttr constant;
  };
  llvm::StringRef node;
  llvm::SmallVector<Input> inputs;
  std::vector<std::pair<std::string, mlir::Value>> captures;
  /// Null where absent.
  llvm::SmallVector<mlir::Value> outputs;
};

/// What to write for the ops \p ops (all those of a block that are marked with
/// one node, in block order), if they are as the reader made them.
std::optional<UntouchedNode>
untouchedNode(mlir::DictionaryAttr record,
              llvm::ArrayRef<mlir::Operation *> ops);

/// The op of an untouched group at whose position its node can be written:
/// after its operands and before its users. Null if there is none.
mlir::Operation *insertionPoint(const UntouchedNode &node,
                                llvm::ArrayRef<mlir::Operation *> ops);

/// A fingerprint of all ops in \p block and in their regions: names,
/// attributes, and which results are used where. Types are not covered.
uint64_t fingerprintOf(mlir::Block &block);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_NODEGROUPS_H
