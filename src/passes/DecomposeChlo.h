//===- DecomposeChlo.h - chlo away, stablehlo instead ---------------------===//
//
//   %r = chlo.broadcast_add %a, %b  ->  %c = stablehlo.broadcast_in_dim %b
//                                       %r = stablehlo.add %a, %c
//
// What readers do to every file, as a pass.
//
// Restrictions: an operation that needs sizes that are still unknown stays.
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
