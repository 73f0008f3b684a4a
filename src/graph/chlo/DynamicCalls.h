//===- DynamicCalls.h - calls of what StableHLO lacks, once sizes are known ==//

#ifndef SINTER_GRAPH_CHLO_DYNAMICCALLS_H
#define SINTER_GRAPH_CHLO_DYNAMICCALLS_H

#include "mlir/IR/Operation.h"

namespace sinter {

/// Replaces JAX's custom calls for operations with sizes as operands
/// (stablehlo.dynamic_top_k, dynamic_rng_bit_generator, dynamic_reduce_window,
/// dynamic_approx_top_k) by operations once the sizes are constants, and
/// ApproxTopK by an exact top-k. Malformed calls stay. Returns whether any was
/// replaced.
bool raiseDynamicCalls(mlir::Operation *root);

} // namespace sinter

#endif // SINTER_GRAPH_CHLO_DYNAMICCALLS_H
