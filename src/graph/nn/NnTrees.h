//===- NnTrees.h - ensembles of decision trees ----------------------------===//
//
// Apart from the other operations, since few sources use it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_NN_NNTREES_H
#define SINTER_GRAPH_NN_NNTREES_H

#include "graph/nn/NnOps.h"

#define GET_OP_CLASSES
#include "graph/nn/NnTrees.h.inc"

namespace sinter::nn {

/// How a node compares (`modes` without the bit for NaN).
enum class TreeMode : int8_t {
  LessOrEqual,
  Less,
  GreaterOrEqual,
  Greater,
  Equal,
  NotEqual
};
/// The bit of `modes` that lets the condition hold for NaN.
inline constexpr int8_t treeHoldsForNaN = 8;
/// Each row of a result has as many numbers, however few a file gives weights.
inline constexpr int64_t mostTreeTargets = int64_t(1) << 16;

} // namespace sinter::nn

#endif // SINTER_GRAPH_NN_NNTREES_H
