//===- StablehloOps.td - the StableHLO operations -------------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_OPS
#define SINTER_GRAPH_STABLEHLO_OPS

include "graph/stablehlo/StablehloControlFlow.td"
include "graph/stablehlo/StablehloDataMovement.td"
include "graph/stablehlo/StablehloDeprecated.td"
include "graph/stablehlo/StablehloDistribution.td"
include "graph/stablehlo/StablehloDynamism.td"
include "graph/stablehlo/StablehloElementwise.td"
include "graph/stablehlo/StablehloExtensibility.td"
include "graph/stablehlo/StablehloLinearAlgebra.td"
include "graph/stablehlo/StablehloStructured.td"

#endif // SINTER_GRAPH_STABLEHLO_OPS
