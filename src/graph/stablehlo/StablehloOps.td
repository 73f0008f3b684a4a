//===- StablehloOps.td - the StableHLO operations -------------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_OPS
#define SINTER_GRAPH_STABLEHLO_OPS

include "graph/stablehlo/StablehloElementwise.td"
include "graph/stablehlo/StablehloDataMovement.td"
include "graph/stablehlo/StablehloStructured.td"

#endif // SINTER_GRAPH_STABLEHLO_OPS
