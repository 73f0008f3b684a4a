//===- NodeGroups.h - the ops that came from one node of the file ---------===//
//
// The reader marks every op that it makes for node i of the file with the
// attribute `onnx.node` = i (constants excepted) and keeps in the module's
// attribute `onnx.nodes` what is needed to give the node back as it was. The
// i-th entry is a dictionary:
//
//   op_type, domain, name  strings; `version`, the domain's opset, an i64
//   proto        the serialised NodeProto; absent where the node cannot be
//                given back (it has graphs, or large tensors as attributes)
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
//
// External operands are numbered in the order of their first use, equal
// constants of one name as one. A group is untouched if its fingerprint and its
// constants are what they were, and if nothing outside uses a result that is no
// output. Its external operands and the types of all values may have changed.
//
// The module's attribute `onnx.opsets` is a dictionary: domain -> i64, and
// `onnx.whole_nodes` has the numbers of the nodes that passes leave alone.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_NODEGROUPS_H
#define SINTER_FORMATS_ONNX_NODEGROUPS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include <optional>
#include <string>

namespace sinter::onnx {

inline constexpr llvm::StringLiteral nodeAttribute = "onnx.node";
inline constexpr llvm::StringLiteral nodesAttribute = "onnx.nodes";
inline constexpr llvm::StringLiteral wholeNodesAttribute = "onnx.whole_nodes";
inline constexpr llvm::StringLiteral opsetsAttribute = "onnx.opsets";

/// What the reader knows of a node that it has translated.
struct NodeRecord {
  std::string opType, domain, name;
  int64_t version = 0;
  /// Empty if the node cannot be given back.
  std::string proto;
  /// The ops made for it, in block order, without constants.
  llvm::ArrayRef<mlir::Operation *> ops;
  /// Null where absent. `known` holds the value of an input that no op uses,
  /// where it is not a constant itself.
  llvm::SmallVector<mlir::Value> inputs;
  llvm::SmallVector<mlir::ElementsAttr> known;
  llvm::SmallVector<mlir::Value> outputs;
};

/// The entry of `onnx.nodes`; without `proto` if the node cannot be given back.
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
