//===- SymbolicTypes.h - types of values, with names of dynamic sizes -----===//

#ifndef SINTER_ENGINE_COMPILER_SYMBOLICTYPES_H
#define SINTER_ENGINE_COMPILER_SYMBOLICTYPES_H

#include "graph/Model.h"

#include <string>

namespace sinter {

/// The types of a graph's values as text: "f32 [N, 2*S+1]", where N and S are
/// dimensions of inputs. A size that does not follow from those is "?".
class SymbolicTypes {
public:
  explicit SymbolicTypes(const Model &model);

  std::string textOf(mlir::Value value) const;

private:
  void nameInputs(mlir::func::FuncOp entry);
  void followSizes(const Model &model);

  /// Of values with dynamic dimensions, as far as some are known.
  llvm::DenseMap<mlir::Value, std::string> texts;
};

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_SYMBOLICTYPES_H
