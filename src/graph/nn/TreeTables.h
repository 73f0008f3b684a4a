//===- TreeTables.h - a tree ensemble as tables ---------------------------===//

#ifndef SINTER_GRAPH_NN_TREETABLES_H
#define SINTER_GRAPH_NN_TREETABLES_H

#include "graph/Constants.h"
#include "graph/nn/NnTrees.h"
#include "graph/nn/TensorBuilder.h"
#include "graph/nn/TreeLayout.h"

namespace sinter::nn {

struct TreeTables {
  TreeLayout layout;
  std::vector<int64_t> nodes;
  /// The place of each tree's root. Without rows the trees of target k are
  /// those from targetStarts[k] to targetStarts[k + 1].
  std::vector<int32_t> roots;
  std::vector<int64_t> targetStarts;
  /// With rows: a row of a weight for each target. What a leaf does not give is
  /// 0 in sums, NaN in minima and maxima.
  std::vector<double> weights;
};

/// The tables of \p op. Nothing where they would be larger than memory allows.
std::optional<TreeTables> treeTablesOf(TreeEnsembleOp op);

/// A constant of the numbers of a table, of \p type, whose C++ type is T.
template <typename T>
mlir::Value tableConstant(TensorBuilder &emit, ElementType type,
                          const std::vector<T> &numbers) {
  return makeConstant(
      emit.builder, emit.location,
      Tensor::of<T>(type, {static_cast<int64_t>(numbers.size())}, numbers));
}

} // namespace sinter::nn

#endif // SINTER_GRAPH_NN_TREETABLES_H
