//===- DescribeModel.h - the inputs and outputs of a graph ----------------===//

#ifndef SINTER_ENGINE_COMPILER_DESCRIBEMODEL_H
#define SINTER_ENGINE_COMPILER_DESCRIBEMODEL_H

#include "engine/ModelDescription.h"
#include "graph/Model.h"

namespace sinter {

/// The description of a model's entry function. An error if there is none to
/// run, or if it takes or gives what is no tensor.
Result<ModelDescription> describeModel(const Model &model);

/// Gives dynamic dimensions of \p outputs that have no symbol the one that the
/// output of the same name has in \p known.
void addSymbols(const std::vector<ModelOutput> &known,
                std::vector<ModelOutput> &outputs);

/// Marks the inputs of \p description whose values the sizes of tensors in
/// \p model depend on. Returns whether there are any.
bool markShapeInputs(const Model &model, ModelDescription &description);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_DESCRIBEMODEL_H
