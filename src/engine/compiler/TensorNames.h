//===- TensorNames.h - names of values in the user's file -----------------===//

#ifndef SINTER_ENGINE_COMPILER_TENSORNAMES_H
#define SINTER_ENGINE_COMPILER_TENSORNAMES_H

#include "graph/Model.h"

#include <string>
#include <vector>

namespace sinter {

/// The names of the values of a graph as it was read: those of inputs, outputs,
/// states and constants; those of the format (Format::nameValues); inside of a
/// node the node's name; in a text, the name before the equals sign.
class TensorNames {
public:
  explicit TensorNames(const Model &model);

  std::string nameOf(mlir::Value value) const;

private:
  void takeBorder(mlir::func::FuncOp entry, const Model &model);
  void readText(const std::string &path);
  std::string inText(mlir::OpResult result) const;

  llvm::DenseMap<mlir::Value, std::string> names;
  /// The lines of the text from which the model was read.
  std::vector<std::string> lines;
};

/// "f32 [2, ?]"; quantised types as MLIR writes them.
std::string typeText(mlir::Type type);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_TENSORNAMES_H
