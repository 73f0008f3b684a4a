//===- DropShardings.h - a program without shardings ----------------------===//

#ifndef SINTER_GRAPH_SDY_DROPSHARDINGS_H
#define SINTER_GRAPH_SDY_DROPSHARDINGS_H

#include "graph/sdy/SdyOps.h"

namespace sinter::sdy {

/// Whether what each device computes on is all of the operands, and gives all
/// of the results, so that one process computes the same.
bool isOnWholeTensors(ManualComputationOp op);

/// Removes what only says where tensors lie, annotations of dialects that are
/// not there, and puts computations on whole tensors in their place. Others
/// stay.
void dropShardings(mlir::ModuleOp module);

} // namespace sinter::sdy

#endif // SINTER_GRAPH_SDY_DROPSHARDINGS_H
