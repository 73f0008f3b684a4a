//===- DecomposeChlo.h - lowers chlo to stablehlo -------------------------===//

#ifndef SINTER_GRAPH_CHLO_DECOMPOSECHLO_H
#define SINTER_GRAPH_CHLO_DECOMPOSECHLO_H

#include "mlir/IR/BuiltinOps.h"

namespace sinter {

/// Replaces every `chlo` operation of \p module by its decomposition into
/// `stablehlo`. Operations that need sizes that are still dynamic stay. Returns
/// whether any was replaced.
bool decomposeChlo(mlir::ModuleOp module);

} // namespace sinter

#endif // SINTER_GRAPH_CHLO_DECOMPOSECHLO_H
