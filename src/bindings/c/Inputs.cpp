#include "bindings/c/Inputs.h"

#include "bindings/c/Session.h"

namespace sinter::c {

Result<std::vector<Tensor>> copiesOf(const sinter_tensor *tensors,
                                     const ModelDescription &model,
                                     const std::string &where) {
  std::vector<Tensor> all;
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    Result<Tensor> copy =
        copyOf(&tensors[i], (where.empty() ? "" : where + ": ") + "input '" +
                                model.inputs[i].spec.name + "'");
    if (!copy)
      return copy.takeError();
    all.push_back(std::move(*copy));
  }
  return all;
}

std::string sampleName(size_t index) {
  return "sample " + std::to_string(index);
}

Result<std::vector<Tensor>> sampleInputs(const GiveInputs &give, size_t index,
                                         const ModelDescription &model) {
  std::vector<sinter_tensor> given(model.inputs.size());
  for (sinter_tensor &each : given)
    each.struct_size = sizeof(each);
  if (give(given.data(), given.size()) != 0)
    return Error{ErrorKind::Cancelled, sampleName(index) + " could not be had"};
  return copiesOf(given.data(), model, sampleName(index));
}

} // namespace sinter::c
