//===- Bodies.h - branches and bodies as regions --------------------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_BODIES_H
#define SINTER_FORMATS_ONNX_OPS_BODIES_H

#include "formats/import/Regions.h"
#include "formats/onnx/NodeContext.h"

namespace sinter::onnx {

using formats::Carried;
using formats::joinTypes;
using formats::returnedTypes;

/// Before the names of nodes in a node's graphs.
std::string innerPrefix(const NodeContext &node);
bool anyPoisoned(llvm::ArrayRef<Bound> values);

/// Fills a region's block with a graph that ends with the values \p select
/// chooses of its outputs (all without it). Fails if one is no tensor.
bool fillRegion(NodeContext &node, mlir::Region &region,
                const GraphProto &graph, llvm::ArrayRef<Bound> inputs,
                llvm::function_ref<Values(Values)> select = nullptr);

/// Makes the op itself of a holder, whose first \p hidden results are none of
/// the node's.
mlir::LogicalResult finishHolder(NodeContext &node, mlir::Operation *holder,
                                 mlir::TypeRange types, unsigned hidden);

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
