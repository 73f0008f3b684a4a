//===- TensorFiles.h - tensors of other tools -----------------------------===//

#ifndef SINTER_DRIVER_TENSORFILES_H
#define SINTER_DRIVER_TENSORFILES_H

#include "engine/Compiler.h"

#include <string>
#include <vector>

namespace sinter::driver {

/// The tensors in KIND_0.pb, KIND_1.pb, ... of \p folder, as ONNX's tests have
/// them: one for each input of \p model. Usage errors for a number that is not
/// that of the inputs.
Result<std::vector<Tensor>> readDataSet(const std::string &folder,
                                        const std::string &kind,
                                        const ModelDescription &model);

/// The arrays in a folder by name, in order: .npy files, or all that
/// PyTorch/XLA put into the `data` of a folder of its own, where files have the
/// weights' names alone. \p flag is the option, for errors.
Result<NamedTensors> readArrayFolder(const std::string &flag,
                                     const std::string &folder);

/// The tensors of an .npz archive, of a folder of arrays, or, with the names of
/// the outputs of \p model, of output_0.pb, ... in a folder. \p flag as above.
Result<NamedTensors> readNamedTensors(const std::string &flag,
                                      const std::string &path,
                                      const ModelDescription &model);

} // namespace sinter::driver

#endif // SINTER_DRIVER_TENSORFILES_H
