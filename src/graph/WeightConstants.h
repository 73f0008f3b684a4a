//===- WeightConstants.h - which constants are weights --------------------===//
//
// A weight is a constant of floating-point elements with a dimension, under its
// name in the file (`sinter.name`). Where a file names none of its constants,
// they are called constant.0, constant.1 and so on, in the order of the entry
// function. Literals (graph/Literals.h) are weights where the file lists no
// others. All other constants belong to the computation. Training uses this
// definition, as do writers whose format marks trainable constants.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_WEIGHTCONSTANTS_H
#define SINTER_GRAPH_WEIGHTCONSTANTS_H

#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace sinter {

/// What unnamed constants of a model are.
enum class UnnamedConstants {
  MadeByReader, ///< No weights.
  OfTheFile,    ///< Weights where no other has a name.
};

/// A constant that can be trained.
struct WeightConstant {
  stablehlo::ConstantOp constant;
  std::string name;
  /// Whether it is only trained if its name is requested: it is a literal of a
  /// file that lists its weights, or is in no list and a splat, as the zeros of
  /// a maximum are.
  bool isAskedFor = false;
};

/// The weights of the entry function \p entry, in its order.
llvm::SmallVector<WeightConstant> weightConstants(mlir::func::FuncOp entry,
                                                  UnnamedConstants unnamed);

/// For a format that lists its weights by name: where \p module comes from a
/// file without such a list, its constants get the names that training uses,
/// and those that belong to the computation become literals.
void listWeights(mlir::ModuleOp module, mlir::func::FuncOp entry);

/// Whether a file that lists its weights lists \p constant.
bool isListedWeight(stablehlo::ConstantOp constant);

} // namespace sinter

#endif // SINTER_GRAPH_WEIGHTCONSTANTS_H
