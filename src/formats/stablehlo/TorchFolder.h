//===- TorchFolder.h - program folders of PyTorch/XLA ---------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_TORCHFOLDER_H
#define SINTER_FORMATS_STABLEHLO_TORCHFOLDER_H

#include "graph/Model.h"
#include "runtime/Result.h"

#include <string>

namespace sinter {

/// Whether \p path is a folder that `StableHLOGraphModule.save` of torch_xla
/// wrote: it has a folder `functions` with a `.meta` in it.
bool isTorchFolder(const std::string &path);

/// Reads the program in the folder: functions/NAME.bytecode (or NAME.mlir),
/// whose arguments functions/NAME.meta describes in JSON. Parameters of the
/// network (data/NAME) and other constants (constants/NUMBER), NumPy arrays
/// both, become constants of the model under their names; inputs stay
/// arguments. Of several functions `forward` is read.
Result<Model> readTorchFolder(const std::string &path);

} // namespace sinter

#endif // SINTER_FORMATS_STABLEHLO_TORCHFOLDER_H
