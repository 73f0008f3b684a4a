//===- DropShardings.h - removes shardings from a program -----------------===//

#ifndef SINTER_GRAPH_SDY_DROPSHARDINGS_H
#define SINTER_GRAPH_SDY_DROPSHARDINGS_H

#include "graph/sdy/SdyOps.h"

namespace sinter::sdy {

/// Whether each device computes on whole operands and yields whole results, so
/// that one process computes the same.
bool isOnWholeTensors(ManualComputationOp op);

/// Removes shardings and annotations of unregistered dialects, and inlines
/// manual computations on whole tensors. Other computations stay.
void dropShardings(mlir::ModuleOp module);

} // namespace sinter::sdy

#endif // SINTER_GRAPH_SDY_DROPSHARDINGS_H
