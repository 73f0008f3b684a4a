//===- NnDeferred.h - file nodes that wait for static sizes ---------------===//
//
// Apart from the other operations, since only readers and writers of files use
// it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_NN_NNDEFERRED_H
#define SINTER_GRAPH_NN_NNDEFERRED_H

#include "graph/nn/NnOps.h"

#define GET_OP_CLASSES
#include "graph/nn/NnDeferred.h.inc"

#endif // SINTER_GRAPH_NN_NNDEFERRED_H
