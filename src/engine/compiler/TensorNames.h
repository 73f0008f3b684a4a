//===- TensorNames.h - what a user's file calls the values of a graph -----===//

#ifndef SINTER_ENGINE_COMPILER_TENSORNAMES_H
#define SINTER_ENGINE_COMPILER_TENSORNAMES_H

#include "graph/Model.h"

#include <string>
#include <vector>

namespace sinter {

/// The names of the values of a graph as it was read: those of inputs, outputs,
/// states and constants; what the format has to say (Format::nameValues), and
/// for a value inside of what one node became the node's name; in a text, what
/// stands before the equals sign.
class TensorNames {
public:
  explicit TensorNames(const Model &model);

  std::string nameOf(mlir::Value value) const;

private:
  void takeBorder(mlir::func::FuncOp entry, const Model &model);
  void readText(const std::string &path);
  std::string inText(mlir::OpResult result) const;

  llvm::DenseMap<mlir::Value, std::string> names;
  /// The lines of the text that the model was read from.
  std::vector<std::string> lines;
};

/// "f32 [2, ?]"; quantised types as MLIR writes them.
std::string typeText(mlir::Type type);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_TENSORNAMES_H
