//===- TensorFiles.h - files of tensors -----------------------------------===//

#ifndef SINTER_DATA_TENSORFILES_H
#define SINTER_DATA_TENSORFILES_H

#include "engine/Compiler.h"

#include <set>
#include <string>
#include <vector>

namespace sinter {

/// The tensors in KIND_0.pb, KIND_1.pb, ... of \p folder, as in ONNX's tests:
/// one for each input of \p model. Usage errors for another number of files
/// than of inputs.
Result<std::vector<Tensor>> readDataSet(const std::string &folder,
                                        const std::string &kind,
                                        const ModelDescription &model);

/// The arrays in a folder by name, in order: .npy files, or those in the `data`
/// of a PyTorch/XLA export, whose files have the weights' names only. \p what
/// names the folder in errors.
Result<NamedTensors> readArrayFolder(const std::string &what,
                                     const std::string &folder);

/// The tensors of an .npz archive, of a folder of arrays, or, with the names of
/// the outputs of \p model, of output_0.pb, ... in a folder. \p what as above.
Result<NamedTensors> readNamedTensors(const std::string &what,
                                      const std::string &path,
                                      const ModelDescription &model);

/// A file name for a tensor's name, without an extension: names come from
/// strangers. Unique in the set \p used.
std::string fileName(std::string name, std::set<std::string> &used);

} // namespace sinter

#endif // SINTER_DATA_TENSORFILES_H
