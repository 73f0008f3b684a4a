//===- Weights.h - the constants of a model that can be trained -----------===//
//
// A weight is a constant of floating-point numbers with a dimension, under its
// name in the file (`sinter.name`). Where a file names none of its constants,
// they are called constant.0, constant.1 and so on, in the order of the entry
// function. What nodes of a file give (graph/Literals.h) is a weight where the
// file lists no others.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_AUTODIFF_WEIGHTS_H
#define SINTER_AUTODIFF_WEIGHTS_H

#include "graph/Model.h"
#include "graph/stablehlo/StablehloOps.h"
#include "runtime/Tensor.h"

namespace sinter::autodiff {

/// What a caller knows of a model's constants.
enum class UnnamedConstants {
  MadeByReader, ///< No weights.
  OfTheFile,    ///< Weights where no other has a name.
};

/// A constant that can be trained.
struct WeightConstant {
  stablehlo::ConstantOp constant;
  std::string name;
  /// Whether it is only trained if its name is asked for: a node of a file that
  /// lists its weights gives it, or no list has it and all its elements are the
  /// same number, as the zeros of a maximum are.
  bool isAskedFor = false;
};

/// Those of the entry function \p entry, in its order.
llvm::SmallVector<WeightConstant> weightConstants(mlir::func::FuncOp entry,
                                                  UnnamedConstants unnamed);

/// A weight of a model that became an argument.
struct LiftedWeight {
  std::string name;
  unsigned argument = 0;
  Tensor value;
  /// As in WeightConstant.
  bool isAskedFor = false;
};

/// Makes arguments of the weights of \p model's entry function, behind those
/// that it has. Unsupported where one name stands for two tensors.
Result<std::vector<LiftedWeight>>
liftWeights(Model &model,
            UnnamedConstants unnamed = UnnamedConstants::MadeByReader);

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_WEIGHTS_H
