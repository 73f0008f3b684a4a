//===- DecomposeChlo.h - chlo away, stablehlo instead ---------------------===//

#ifndef SINTER_GRAPH_CHLO_DECOMPOSECHLO_H
#define SINTER_GRAPH_CHLO_DECOMPOSECHLO_H

#include "mlir/IR/BuiltinOps.h"

namespace sinter {

/// Replaces every `chlo` operation of \p module by the `stablehlo` ones that it
/// is built from. One that needs sizes that are still unknown stays. Returns
/// whether any was replaced.
bool decomposeChlo(mlir::ModuleOp module);

} // namespace sinter

#endif // SINTER_GRAPH_CHLO_DECOMPOSECHLO_H
