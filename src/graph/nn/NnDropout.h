//===- NnDropout.h - dropout ----------------------------------------------===//
//
// Apart from the other operations, since backends do not use it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_NN_NNDROPOUT_H
#define SINTER_GRAPH_NN_NNDROPOUT_H

#include "graph/nn/NnOps.h"

#define GET_OP_CLASSES
#include "graph/nn/NnDropout.h.inc"

#endif // SINTER_GRAPH_NN_NNDROPOUT_H
