//===- NnOps.td - the structured operations that StableHLO lacks ----------===//
//
// An operation exists here only if a pass, a backend or a writer must see it
// whole; each has a decomposition into `stablehlo`. Dimensions may be dynamic
// (`?`) everywhere. "Channels first" is [N, C, spatial...].
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_NN_OPS
#define SINTER_GRAPH_NN_OPS

include "graph/nn/NnAttention.td"
include "graph/nn/NnElementwise.td"
include "graph/nn/NnShape.td"
include "graph/nn/NnStructured.td"

#endif // SINTER_GRAPH_NN_OPS
