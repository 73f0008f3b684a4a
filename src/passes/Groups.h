//===- Groups.h - operations that came from one source node ---------------===//
//
// An exporter writes an untouched group back as the node of the file that it
// came from (graph/Source.h). A pass that removes or changes an operation of a
// group removes the mark from the others: these are exported by what they
// compute.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_GROUPS_H
#define SINTER_PASSES_GROUPS_H

#include "graph/Source.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace sinter {

/// Whether an operand of \p op comes from an operation of the same source node.
bool isPartOfNode(mlir::Operation *op);

/// The source nodes that passes leave alone or remove as a whole: an array of
/// units, each an array of node indices. A unit is one node that an exporter
/// could only write as several (an integer convolution, a mean), or the nodes
/// of a form that other runtimes recognise in the file (a decomposed layer
/// norm). A module that will not be exported need not have them. Some of the
/// nodes stay even if their operands are constant (the dequantisation of
/// weights).
class WholeNodes {
public:
  explicit WholeNodes(mlir::ModuleOp module);

  /// Whether the module will be exported.
  bool areKept() const { return isGiven; }
  /// Whether \p op belongs to a unit.
  bool contains(mlir::Operation *op) const { return unitOf(op).has_value(); }
  /// Whether \p op belongs to a unit that stays even if it is constant.
  bool lasts(mlir::Operation *op) const;
  /// Whether \p op belongs to a unit of one node.
  bool isOneNode(mlir::Operation *op) const;
  /// Whether \p value is only used inside of one unit; users among \p others do
  /// not count.
  bool isInside(mlir::Value value,
                const llvm::SmallPtrSetImpl<mlir::Operation *> &others) const;

private:
  std::optional<int64_t> unitOf(mlir::Operation *op) const;

  bool isGiven = false;
  /// The unit of each node, and how many nodes each has.
  llvm::DenseMap<int64_t, int64_t> units;
  llvm::SmallVector<int64_t> sizes;
  llvm::DenseSet<int64_t> lasting;
};

/// The discardable attribute with the trace numbers of an operation's results
/// (ValueNumbers.h). Copies of the operation do not have it.
inline constexpr llvm::StringLiteral traceAttribute = "sinter.trace";
/// Likewise for the arguments of an operation's regions.
inline constexpr llvm::StringLiteral argumentTraceAttribute =
    "sinter.trace_arguments";

/// A copy that will become another operation: it has neither mark.
mlir::Operation *cloneApart(mlir::OpBuilder &builder, mlir::Operation *op,
                            mlir::IRMapping mapping = {});

/// Remembers the groups of the operations that a rewriter erases or that are
/// passed to touch(); dissolve() removes the mark from the rest of these
/// groups.
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
    if (std::optional<int64_t> group = sourceOf(op))
      touched.insert(*group);
  }
  void dissolve(mlir::Operation *root);

  /// The operations that were created since the last call, nested ones too.
  llvm::SmallVector<mlir::Operation *> takeInserted() {
    return std::exchange(inserted, {});
  }

private:
  llvm::SmallVector<mlir::Operation *> inserted;
  llvm::DenseSet<int64_t> touched;
};

} // namespace sinter

#endif // SINTER_PASSES_GROUPS_H
