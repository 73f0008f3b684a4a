//===- KnownCalls.h - custom calls whose meaning is known -----------------===//

#ifndef SINTER_GRAPH_CHLO_KNOWNCALLS_H
#define SINTER_GRAPH_CHLO_KNOWNCALLS_H

#include "mlir/IR/Operation.h"

namespace sinter {

/// Replaces the custom calls in \p root by which frameworks write what has an
/// operation: functions (`mhlo.erf`, ..., also as a composite) and `mhlo.topk`
/// by `chlo` operations, markers of sharding and placement by their operands;
/// takes `shape_assertion` away where it is known to hold. What is not written
/// as those frameworks do stays.
void raiseKnownCalls(mlir::Operation *root);

/// What a host function (runtime/HostFunctions.h) is told of a call: its
/// backend_config, where that is text; "key=1;other=2" of the integers where it
/// is a dictionary, as calls of typed functions (api_version 4) have one.
std::string hostConfiguration(mlir::Operation *call);

} // namespace sinter

#endif // SINTER_GRAPH_CHLO_KNOWNCALLS_H
