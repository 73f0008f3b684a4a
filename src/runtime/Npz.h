//===- Npz.h - NumPy's archives of arrays ---------------------------------===//

#ifndef SINTER_RUNTIME_NPZ_H
#define SINTER_RUNTIME_NPZ_H

#include "runtime/Tensor.h"

#include <string>
#include <utility>
#include <vector>

namespace sinter {

/// The arrays in the zip archive \p path of numpy.savez or savez_compressed, by
/// name, in the archive's order. Uncompressed arrays stay in the mapped file.
/// Errors name the file and what is wrong: System if it cannot be read or is
/// damaged (each array has a checksum).
Result<std::vector<std::pair<std::string, Tensor>>>
readNpz(const std::string &path);

} // namespace sinter

#endif // SINTER_RUNTIME_NPZ_H
