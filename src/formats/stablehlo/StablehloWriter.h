//===- StablehloWriter.h - write StableHLO --------------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_STABLEHLOWRITER_H
#define SINTER_FORMATS_STABLEHLO_STABLEHLOWRITER_H

#include "graph/Model.h"
#include "runtime/Result.h"

#include <string>

namespace sinter {

enum class StablehloForm {
  Text,
  Artifact, ///< A portable artifact: VHLO in MLIR's bytecode.
};

/// Writes \p model to \p path, whole or not at all, in a form that other
/// StableHLO tools read: constants are in the file itself, and `nn` operations
/// are decomposed. Unsupported errors name the operations that cannot be
/// decomposed (because of dynamic dimensions, say).
///
/// An artifact is for readers of \p targetVersion of StableHLO ("1.0.0"; empty:
/// the newest) and later; operations that it lacks are Unsupported, too.
Result<void> writeStablehlo(const Model &model, const std::string &path,
                            StablehloForm form = StablehloForm::Text,
                            const std::string &targetVersion = "");

/// The bytes that writeStablehlo would write.
Result<std::string> stablehloBytes(const Model &model, StablehloForm form,
                                   const std::string &targetVersion = "");

} // namespace sinter

#endif // SINTER_FORMATS_STABLEHLO_STABLEHLOWRITER_H
