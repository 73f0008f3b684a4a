//===- NnDeferred.h - a node of a file that waits for sizes ---------------===//
//
// Apart from the other operations, since only what reads and writes files has
// to do with it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_NN_NNDEFERRED_H
#define SINTER_GRAPH_NN_NNDEFERRED_H

#include "graph/nn/NnOps.h"

#define GET_OP_CLASSES
#include "graph/nn/NnDeferred.h.inc"

#endif // SINTER_GRAPH_NN_NNDEFERRED_H
