//===- StablehloReader.h - read StableHLO text ----------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_STABLEHLOREADER_H
#define SINTER_FORMATS_STABLEHLO_STABLEHLOREADER_H

#include "graph/Model.h"
#include "runtime/Result.h"

#include <string>

namespace sinter {

/// Reads the module of StableHLO operations at \p path, MLIR text or bytecode,
/// and verifies it. Constants are in the file. InvalidModel errors give the
/// place in the file and what is wrong there.
Result<Model> readStablehlo(const std::string &path);

} // namespace sinter

#endif // SINTER_FORMATS_STABLEHLO_STABLEHLOREADER_H
