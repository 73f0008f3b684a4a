//===- Bodies.h - branches and bodies as regions --------------------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_BODIES_H
#define SINTER_FORMATS_ONNX_OPS_BODIES_H

#include "formats/import/Regions.h"
#include "formats/onnx/NodeContext.h"

namespace sinter::onnx {

using formats::Carried;
using formats::joinTypes;
using formats::returnedTypes;

/// The prefix of the names of nodes in a node's graphs.
std::string innerPrefix(const NodeContext &node);
bool anyPoisoned(llvm::ArrayRef<Bound> values);

/// The values of \p bounds; fails if one is no tensor.
std::optional<Values> tensorsOf(NodeContext &node,
                                llvm::ArrayRef<Bound> bounds);

/// Fills a region's block with the graph that \p read builds there. It returns
/// the values that \p select computes from the graph's outputs.
bool fillRegion(NodeContext &node, mlir::Region &region,
                llvm::function_ref<std::optional<std::vector<Bound>>()> read,
                llvm::function_ref<Values(std::vector<Bound>)> select);
/// The same for a graph of tensors; returns those that \p select chooses, or
/// all without it.
bool fillRegion(NodeContext &node, mlir::Region &region,
                const GraphProto &graph, llvm::ArrayRef<Bound> inputs,
                llvm::function_ref<Values(Values)> select = nullptr);

/// A node that runs a body several times and concatenates scan outputs,
/// deferred until the trip count is known.
struct KeptLoop {
  const GraphProto &body;
  Values operands;
  /// The types of the body's arguments before and after the loop-carried ones.
  llvm::SmallVector<mlir::Type> before, after;
  std::vector<Carried> states;
  /// The number of the body's results before the loop-carried ones.
  int64_t given = 0;
  /// The axes along which the scan outputs are concatenated.
  Ints axes;
  /// The trip count, unless the body's condition ends the loop earlier.
  std::optional<int64_t> rounds;
};

/// Makes nn.deferred with the body as its region.
mlir::LogicalResult keepLoop(NodeContext &node, KeptLoop loop,
                             llvm::StringRef reason);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_BODIES_H
