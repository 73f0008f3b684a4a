//===- NnAssume.h - assumptions about a graph's inputs --------------------===//
//
// Apart from the other operations, since only readers and executors of a graph
// use it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_NN_NNASSUME_H
#define SINTER_GRAPH_NN_NNASSUME_H

#include "graph/nn/NnOps.h"

#define GET_OP_CLASSES
#include "graph/nn/NnAssume.h.inc"

#endif // SINTER_GRAPH_NN_NNASSUME_H
