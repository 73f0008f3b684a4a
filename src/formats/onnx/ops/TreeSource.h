//===- TreeSource.h - the trees of a node of ai.onnx.ml -------------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_TREESOURCE_H
#define SINTER_FORMATS_ONNX_OPS_TREESOURCE_H

#include "formats/onnx/NodeContext.h"
#include "graph/nn/NnTrees.h"

namespace sinter::onnx {

/// Trees as a file has them, checked. A child or a root is a node if it is at
/// least 0, and leaf ~child if it is negative.
struct TreeSource {
  struct Node {
    int32_t feature = 0;
    double split = 0;
    nn::TreeMode mode = nn::TreeMode::LessOrEqual;
    bool holdsForNaN = false;
    int32_t whenTrue = 0, whenFalse = 0;
  };
  std::vector<Node> nodes;
  std::vector<int32_t> roots;
  /// The weights of leaf l are those from leafStarts[l] to leafStarts[l + 1].
  std::vector<int32_t> leafStarts{0}, targets;
  std::vector<double> weights;
  int64_t targetCount = 0;

  /// Whether what some tree gives to \p target is there in every row, in some,
  /// or in none.
  enum class Given { Never, Sometimes, Always };
  Given isGiven(int64_t target) const;

  /// What the trees say of the rows \p x, [N, targetCount]. With \p counts each
  /// weight is taken as 1.
  mlir::Value evaluate(NodeContext &node, mlir::Value x,
                       llvm::StringRef aggregate, bool counts = false) const;
};

/// Of TreeEnsembleClassifier and TreeEnsembleRegressor: lists of nodes that
/// tell their tree and number in it, and of weights likewise in the attributes
/// that begin with \p weights ("class" or "target"), for \p targetCount of
/// them.
std::optional<TreeSource> readNumberedTrees(NodeContext &node,
                                            llvm::StringRef weights,
                                            int64_t targetCount);

/// Of TreeEnsemble: nodes and leaves that refer to each other by index.
std::optional<TreeSource> readIndexedTrees(NodeContext &node);

/// Attribute \p name, or \p name + "_as_tensor".
std::optional<llvm::SmallVector<double>> floatsOrTensor(NodeContext &node,
                                                        llvm::StringRef name);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_TREESOURCE_H
