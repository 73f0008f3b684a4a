//===- KnownCalls.h - custom calls whose meaning is known -----------------===//

#ifndef SINTER_GRAPH_CHLO_KNOWNCALLS_H
#define SINTER_GRAPH_CHLO_KNOWNCALLS_H

#include "mlir/IR/Operation.h"

namespace sinter {

/// Replaces the custom calls in \p root by which frameworks write what has an
/// operation: functions (`mhlo.erf`, ...) and `mhlo.topk` by `chlo` operations,
/// markers of sharding and placement by their operands; takes
/// `shape_assertion` away where it is known to hold. What is not written as
/// those frameworks do stays.
void raiseKnownCalls(mlir::Operation *root);

} // namespace sinter

#endif // SINTER_GRAPH_CHLO_KNOWNCALLS_H
