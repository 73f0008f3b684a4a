//===- Collectives.h - process groups of collective operations ------------===//

#ifndef SINTER_GRAPH_COLLECTIVES_H
#define SINTER_GRAPH_COLLECTIVES_H

#include "mlir/IR/Operation.h"
#include "runtime/ProcessGroups.h"

namespace sinter {

/// How a collective operation (all_gather, all_reduce, reduce_scatter,
/// all_to_all, collective_broadcast, collective_reduce) groups the processes.
/// Unsupported for meshes that cannot be found.
Result<Groups> groupsOf(mlir::Operation *op);

/// The `source_target_pairs` of an operation, as groups of two; no rows if it
/// has none.
Groups pairsOf(mlir::Operation *op);

/// The handle of the operation's channel; 0 if it has none.
int64_t channelOf(mlir::Operation *op);

} // namespace sinter

#endif // SINTER_GRAPH_COLLECTIVES_H
