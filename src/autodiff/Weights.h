//===- Weights.h - the constants of a model that can be trained -----------===//
//
// graph/WeightConstants.h defines which constants are weights.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_AUTODIFF_WEIGHTS_H
#define SINTER_AUTODIFF_WEIGHTS_H

#include "graph/Model.h"
#include "graph/WeightConstants.h"
#include "runtime/Tensor.h"

namespace sinter::autodiff {

/// A weight of a model that became an argument.
struct LiftedWeight {
  std::string name;
  unsigned argument = 0;
  Tensor value;
  /// As in WeightConstant.
  bool isAskedFor = false;
};

/// Turns the weights of \p model's entry function into arguments, behind those
/// that it has. Unsupported where two tensors have one name.
Result<std::vector<LiftedWeight>>
liftWeights(Model &model,
            UnnamedConstants unnamed = UnnamedConstants::MadeByReader);

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_WEIGHTS_H
