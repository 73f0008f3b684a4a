//===- NodeGroups.h - the ops that came from one node of a file -----------===//
//
// What a reader records of node i of a file (graph/Source.h), so that a writer
// of the same format can tell whether its operations are as they were, and what
// they read and give now:
//
//   proto        the node itself, encoded as the format likes; absent where the
//                node cannot be given back
//   group        i64: a fingerprint of the group's ops in block order: names,
//                attributes, nested ops, and how they use each other's results
//   uses         for each place of the group that uses an operand from outside:
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
// A node with graphs has one op that holds them. Of what is in its regions, the
// fingerprint has what the node's own ops are, not what came of the nodes
// inside: these have groups of their own, and what the graphs compute may
// change.
//
// External operands are numbered in the order of their first use, equal
// constants of one name as one; two of them may become one value. A group is
// untouched if its fingerprint and its constants are what they were, and if
// nothing outside uses a result that is no output. Its external operands and
// the types of all values may have changed.
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

/// Whether \p op is of a kind that holds a node's graphs.
bool holdsGraphs(mlir::Operation *op);

/// The node's own ops (what counts the rounds of a loop) among those that the
/// graphs became, which one of the group \p ops holds.
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

/// Adds to a record what is listed above; nothing if the node cannot be given
/// back.
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

/// The op of an untouched group in whose place its node can stand: after all
/// that it uses, before all that use it. Null if there is no such place.
mlir::Operation *placeOf(const UntouchedNode &node,
                         llvm::ArrayRef<mlir::Operation *> ops);

/// A fingerprint of all ops in \p block and in their regions: names,
/// attributes, and who uses what. Types are not in it.
uint64_t fingerprintOf(mlir::Block &block);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_NODEGROUPS_H
