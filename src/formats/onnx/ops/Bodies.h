//===- Bodies.h - branches and bodies as regions --------------------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_BODIES_H
#define SINTER_FORMATS_ONNX_OPS_BODIES_H

#include "formats/onnx/NodeContext.h"

namespace sinter::onnx {

/// Before the names of nodes in a node's graphs.
std::string innerPrefix(const NodeContext &node);
bool anyPoisoned(llvm::ArrayRef<Bound> values);
/// Null, with an error, for what is no tensor or has more elements than one.
mlir::Value scalarOf(NodeContext &node, mlir::Value value);

/// Fills a region's block with a graph that ends with the values \p select
/// chooses of its outputs (all without it). Fails if one is no tensor.
bool fillRegion(NodeContext &node, mlir::Region &region,
                const GraphProto &graph, llvm::ArrayRef<Bound> inputs,
                llvm::function_ref<Values(Values)> select = nullptr);

/// An op of the state's kind whose regions are filled in place, so that what is
/// in them is verified where it stands; finishHolder() makes the op itself of
/// it, whose first \p hidden results are none of the node's.
mlir::Operation *makeHolder(NodeContext &node, llvm::StringRef name,
                            mlir::ValueRange operands, mlir::TypeRange types);
mlir::LogicalResult finishHolder(NodeContext &node, mlir::Operation *holder,
                                 mlir::TypeRange types, unsigned hidden);

llvm::SmallVector<mlir::Type> returnedTypes(mlir::Region &region);
/// A type that both are of: sizes in which they differ are open. Null where
/// they differ in rank or element type.
mlir::Type joinTypes(mlir::Type lhs, mlir::Type rhs);

/// What a loop carries: its type, and which of its sizes stay those of the
/// start. As long as nothing speaks against it, all do.
struct Carried {
  Carried(NodeContext &node, mlir::Value start)
      : start(start), type(node.type(start)), stays(type.getRank(), true) {}

  /// The size that dimension \p i has in every iteration; nothing if it may
  /// change.
  std::optional<Element> sizeAt(KnownValues &known, int64_t i) const;
  /// Gives \p value the symbols of the sizes that stay.
  void mark(KnownValues &known, mlir::Value value) const;
  /// Opens the sizes that an iteration changes. Fails where \p next has another
  /// rank or element type; \p changed is set where a size was opened.
  bool admit(KnownValues &known, mlir::Value next, bool &changed);

  mlir::Value start;
  mlir::RankedTensorType type;
  std::vector<bool> stays;
};

/// Admits what a body gives, \p next, to each of \p states. Fails where a rank
/// or an element type differs; \p changed is set where the body must be read
/// again.
bool admitAll(NodeContext &node, llvm::MutableArrayRef<Carried> states,
              mlir::ValueRange next, bool &changed);

/// A node that runs a body some number of times and gathers what it gives, as
/// it is kept until that number is known.
struct KeptLoop {
  const GraphProto &body;
  Values operands;
  /// What the body takes before and after what is carried.
  llvm::SmallVector<mlir::Type> before, after;
  std::vector<Carried> states;
  /// How many values the body gives before what is carried.
  int64_t given = 0;
  /// Along which dimension the further values are gathered.
  Ints axes;
  /// How often the body runs as long as it does not say that this is enough.
  std::optional<int64_t> rounds;
};

/// Makes nn.deferred with the body as its region.
mlir::LogicalResult keepLoop(NodeContext &node, KeptLoop loop,
                             llvm::StringRef reason);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_BODIES_H
