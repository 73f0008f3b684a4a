//===- ViewGraph.h - a graph as nodes and tensors, to be shown ------------===//
//
//     graph                               view
//
//     %c = constant                       a tensor with facts of its values
//     %b = broadcast_in_dim %c            the same tensor
//     %0 = convolution %x, %w   (Conv)    node "Conv": x, w, c -> 1
//     %1 = add %0, %b           (Conv)
//     %2 = while ...                      a node, and those in its body
//
// Operations of one node of the file that are as the reader made them are one
// node (graph/Source.h). Constants are no nodes.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_COMPILER_VIEWGRAPH_H
#define SINTER_ENGINE_COMPILER_VIEWGRAPH_H

#include "engine/ModelView.h"
#include "graph/Model.h"
#include "runtime/Result.h"

namespace sinter {

struct NodesOfGraph {
  GraphView view;
  /// The node of each operation of the entry function, those in branches and
  /// loops included.
  llvm::DenseMap<mlir::Operation *, uint32_t> nodeOf;
};

/// Errors: InvalidModel for states that break a rule.
Result<NodesOfGraph> viewGraph(const Model &model);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_VIEWGRAPH_H
