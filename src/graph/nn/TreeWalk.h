//===- TreeWalk.h - a tree ensemble by its tables, in stablehlo -----------===//

#ifndef SINTER_GRAPH_NN_TREEWALK_H
#define SINTER_GRAPH_NN_TREEWALK_H

#include "graph/nn/TensorBuilder.h"
#include "graph/nn/TreeTables.h"

namespace sinter::nn {

/// Goes through all trees side by side: a loop over their levels, in which
/// places, words and features are gathered. Paths that have ended stay at their
/// leaf.
struct TreeWalk {
  TreeLayout layout;
  llvm::StringRef aggregate;
  int64_t targets;
  mlir::Value nodes = {}, roots = {}; ///< Of i64 and of i32.
  mlir::Value weights = {};           ///< With rows: of f64, flat.
  llvm::ArrayRef<int64_t> targetStarts = {};

  /// The result for \p x [N, features], [N, targets] in f64.
  mlir::Value build(TensorBuilder &emit, mlir::Value x) const;

private:
  struct Node {
    mlir::Value number, control;
  };
  Node read(TensorBuilder &emit, mlir::Value place) const;
  mlir::Value nextPlace(TensorBuilder &emit, mlir::Value x,
                        mlir::Value place) const;
  mlir::Value reduceTrees(TensorBuilder &emit, mlir::Value given,
                          bool isEmpty) const;
};

} // namespace sinter::nn

#endif // SINTER_GRAPH_NN_TREEWALK_H
