//===- NnOps.h - the structured operations that StableHLO lacks -----------===//

#ifndef SINTER_GRAPH_NN_NNOPS_H
#define SINTER_GRAPH_NN_NNOPS_H

#include "graph/interfaces/Interfaces.h"
#include "graph/stablehlo/StablehloOps.h"

#include "graph/nn/NnDialect.h.inc"

#define GET_OP_CLASSES
#include "graph/nn/NnOps.h.inc"

#endif // SINTER_GRAPH_NN_NNOPS_H
