//===- DecomposeChlo.h - chlo away, stablehlo instead ---------------------===//
//
//   %r = chlo.broadcast_add %a, %b  ->  %c = stablehlo.broadcast_in_dim %b
//                                       %r = stablehlo.add %a, %c
//
// The importers do this to every file; this is the same as a pass.
//
// Restrictions: an operation that depends on dynamic dimensions stays.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_DECOMPOSECHLO_H
#define SINTER_PASSES_DECOMPOSECHLO_H

#include "mlir/Pass/Pass.h"

namespace sinter {

/// The pass `decompose-chlo`.
std::unique_ptr<mlir::Pass> createDecomposeChlo();

} // namespace sinter

#endif // SINTER_PASSES_DECOMPOSECHLO_H
