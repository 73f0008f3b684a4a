//===- Inputs.h - inputs that a caller of the C interface gives -----------===//

#ifndef SINTER_BINDINGS_C_INPUTS_H
#define SINTER_BINDINGS_C_INPUTS_H

#include "sinter.h"

#include "engine/ModelDescription.h"
#include "runtime/Tensor.h"

#include <functional>
#include <string>
#include <vector>

namespace sinter::c {

/// Copies of \p tensors, one an input of \p model. Usage errors begin with \p
/// where, if that is not empty.
Result<std::vector<Tensor>> copiesOf(const sinter_tensor *tensors,
                                     const ModelDescription &model,
                                     const std::string &where = "");

/// Has a caller fill in \p inputs; not 0: it could not.
using GiveInputs =
    std::function<int32_t(sinter_tensor *inputs, size_t inputCount)>;
/// The inputs of sample \p index of \p model that \p give gives; Cancelled if
/// it does not.
Result<std::vector<Tensor>> sampleInputs(const GiveInputs &give, size_t index,
                                         const ModelDescription &model);
/// "sample 3", for messages.
std::string sampleName(size_t index);

} // namespace sinter::c

#endif // SINTER_BINDINGS_C_INPUTS_H
