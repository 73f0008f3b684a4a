//===- KnownCalls.h - custom calls whose meaning is known -----------------===//

#ifndef SINTER_GRAPH_CHLO_KNOWNCALLS_H
#define SINTER_GRAPH_CHLO_KNOWNCALLS_H

#include "mlir/IR/Operation.h"

namespace sinter {

/// Replaces frameworks' custom calls in \p root that have an equivalent:
/// functions (`mhlo.erf`, ..., also as a composite) and `mhlo.topk` by `chlo`
/// operations, sharding and placement markers by their operands. Removes
/// `shape_assertion` where it is known to hold. Calls of any other form stay.
void raiseKnownCalls(mlir::Operation *root);

/// The configuration of a call that a host function (runtime/HostFunctions.h)
/// receives: its backend_config, if that is text; "key=1;other=2" of the
/// integers where it is a dictionary, as calls of typed functions (api_version
/// 4) have one.
std::string hostConfiguration(mlir::Operation *call);

} // namespace sinter

#endif // SINTER_GRAPH_CHLO_KNOWNCALLS_H
