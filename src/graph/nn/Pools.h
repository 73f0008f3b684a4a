//===- Pools.h - the elements in the windows of a pool --------------------===//

#ifndef SINTER_GRAPH_NN_POOLS_H
#define SINTER_GRAPH_NN_POOLS_H

#include "graph/nn/NnOps.h"

namespace sinter::nn {

/// Whether each window of \p pool has an element of its operand, whatever the
/// sizes are; a window of padding alone has no maximum.
bool meetsElements(MaxPoolOp pool);

} // namespace sinter::nn

#endif // SINTER_GRAPH_NN_POOLS_H
