//===- Groups.h - operations that came from one source node ---------------===//
//
// A reader marks the operations that one node of the file became with the
// node's number, and a writer gives an untouched group back as that node. A
// pass that takes an operation out of a group, or changes one, takes the mark
// from the others: what is left is written by what it does.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_GROUPS_H
#define SINTER_PASSES_GROUPS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace sinter {

/// The discardable attribute with the number of the source node.
inline constexpr llvm::StringLiteral groupAttribute = "onnx.node";

/// Whether \p op computes only a part of its source node: an operand comes from
/// an operation of the same node.
bool isPartOfNode(mlir::Operation *op);

/// The module's attribute with the numbers of the source nodes of which a
/// writer cannot write a part (an integer convolution, say). A module that is
/// not to be written again need not have it.
inline constexpr llvm::StringLiteral wholeNodesAttribute = "onnx.whole_nodes";

/// The source nodes that passes leave alone or take away as a whole.
class WholeNodes {
public:
  explicit WholeNodes(mlir::ModuleOp module);

  /// Whether the module is to be written again.
  bool areKept() const { return isGiven; }
  /// Whether \p op is a part of one.
  bool contains(mlir::Operation *op) const;
  /// Whether \p value is known inside of one only; users among \p others do
  /// not count.
  bool isInside(mlir::Value value,
                const llvm::SmallPtrSetImpl<mlir::Operation *> &others) const;

private:
  bool isGiven = false;
  llvm::DenseSet<int64_t> numbers;
};

/// The discardable attribute with the numbers that --verify-numerics knows an
/// operation's results by (VerifyNumerics.h). It is no part of what the
/// operation is: copies do not have it.
inline constexpr llvm::StringLiteral traceAttribute = "sinter.trace";
/// Likewise for the arguments of an operation's regions.
inline constexpr llvm::StringLiteral argumentTraceAttribute =
    "sinter.trace_arguments";

/// Remembers the groups of the operations that a rewriter erases or that
/// touch() names; dissolve() takes the mark from what is left of them.
class GroupTracker : public mlir::RewriterBase::Listener {
public:
  void notifyOperationInserted(mlir::Operation *op,
                               mlir::OpBuilder::InsertPoint from) override {
    if (from.isSet())
      return;
    inserted.push_back(op);
    op->removeAttr(traceAttribute);
    op->removeAttr(argumentTraceAttribute);
  }
  void notifyOperationErased(mlir::Operation *op) override {
    llvm::erase(inserted, op);
    touch(op);
  }
  void touch(mlir::Operation *op) {
    if (mlir::Attribute group = op->getAttr(groupAttribute))
      touched.insert(group);
  }
  void dissolve(mlir::Operation *root);

  /// The operations that were made since the last call, nested ones too.
  llvm::SmallVector<mlir::Operation *> takeInserted() {
    return std::exchange(inserted, {});
  }

private:
  llvm::SmallVector<mlir::Operation *> inserted;
  llvm::DenseSet<mlir::Attribute> touched;
};

} // namespace sinter

#endif // SINTER_PASSES_GROUPS_H
