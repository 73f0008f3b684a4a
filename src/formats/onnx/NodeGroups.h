//===- NodeGroups.h - the ops that came from one node of the file ---------===//
//
// What ONNX's reader records of node i of the file (graph/Source.h), to give it
// back as it was:
//
//   op_type, domain, name  strings; `version`, the domain's opset, an i64
//   proto        the serialised NodeProto, its graphs without initializers and
//                nodes (except Identity that gives an output); absent where the
//                node cannot be given back (it was written out, or has large
//                tensors as attributes)
//   group        i64: a fingerprint of the group's ops in block order: names,
//                attributes, nested ops, and how they use each other's results
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
// A node with graphs has one op that holds them (heldGraph below). Of what is
// in its regions, the fingerprint has what the node's own ops are, not what
// came of the nodes inside: these have groups of their own, and what the graphs
// compute may change.
//
// External operands are numbered in the order of their first use, equal
// constants of one name as one. A group is untouched if its fingerprint and its
// constants are what they were, and if nothing outside uses a result that is no
// output. Its external operands and the types of all values may have changed.
//
// The module's attribute `sinter.source.opsets` is a dictionary: domain -> i64.
// `sinter.source.header` is the file without its computation, a serialised
// ModelProto: who made it, what it says of itself, the inputs, outputs and
// tensors as it declares them (of initializers: what it says of them, and which
// are sparse), the annotations of tensors with the initializers that these
// name, and the functions that nodes call that are kept. An argument's
// `sinter.default` is the value that it has where none is given.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_NODEGROUPS_H
#define SINTER_FORMATS_ONNX_NODEGROUPS_H

#include "graph/Source.h"
#include <optional>
#include <string>

namespace sinter::onnx {

/// Whose the module's records are (graph/Source.h), and what else is kept of a
/// file.
inline constexpr llvm::StringLiteral formatName = "onnx";
inline constexpr llvm::StringLiteral opsetsAttribute = "sinter.source.opsets";
inline constexpr llvm::StringLiteral headerAttribute = "sinter.source.header";
inline constexpr llvm::StringLiteral defaultAttribute = "sinter.default";

/// Where a graph of a node is in the op that holds it: its inputs are the first
/// arguments of the region's block, its outputs what that returns from
/// \p firstOutput on.
struct HeldGraph {
  mlir::Block *block;
  unsigned firstOutput;
};
/// Where \p op holds the graph that is attribute \p name of its node; nothing
/// if it does not.
std::optional<HeldGraph> heldGraph(mlir::Operation *op, llvm::StringRef name);
/// Whether \p op is of a kind that holds a node's graphs.
bool holdsGraphs(mlir::Operation *op);

/// The node's own ops (what counts the rounds of a loop) among those that the
/// graphs became, which one of the group \p ops holds.
llvm::SmallVector<mlir::Operation *>
heldOps(llvm::ArrayRef<mlir::Operation *> ops);

/// What the reader knows of a node that it has translated.
struct NodeRecord {
  std::string opType, domain, name;
  int64_t version = 0;
  /// Empty if the node cannot be given back.
  std::string proto;
  /// The ops made for it, in block order, without constants and what is in
  /// their regions.
  llvm::ArrayRef<mlir::Operation *> ops;
  /// Null where absent. `known` holds the value of an input that no op uses,
  /// where it is not a constant itself.
  llvm::SmallVector<mlir::Value> inputs;
  llvm::SmallVector<mlir::ElementsAttr> known;
  llvm::SmallVector<mlir::Value> outputs;
  /// What the node's graphs use from outside.
  std::vector<std::pair<std::string, mlir::Value>> captures;
};

/// The record; without `proto` if the node cannot be given back.
mlir::DictionaryAttr toAttribute(const NodeRecord &record,
                                 mlir::MLIRContext *context);

/// A node that can be written as it was read.
struct UntouchedNode {
  struct Input {
    /// One of the two, or neither for an absent input.
    mlir::Value value;
    mlir::ElementsAttr constant;
  };
  llvm::StringRef proto;
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

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_NODEGROUPS_H
