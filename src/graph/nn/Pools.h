//===- Pools.h - what the windows of a pool meet --------------------------===//

#ifndef SINTER_GRAPH_NN_POOLS_H
#define SINTER_GRAPH_NN_POOLS_H

#include "graph/nn/NnOps.h"

namespace sinter::nn {

/// Whether each window of \p pool has an element of its operand, whatever the
/// sizes are; one of padding alone has nothing that is the greatest.
bool meetsElements(MaxPoolOp pool);

} // namespace sinter::nn

#endif // SINTER_GRAPH_NN_POOLS_H
