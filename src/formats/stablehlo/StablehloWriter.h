//===- StablehloWriter.h - write StableHLO text ---------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_STABLEHLOWRITER_H
#define SINTER_FORMATS_STABLEHLO_STABLEHLOWRITER_H

#include "graph/Model.h"
#include "runtime/Result.h"

#include <string>

namespace sinter {

enum class StablehloForm { Text, Bytecode };

/// Writes \p model to \p path, whole or not at all, in a form that other
/// StableHLO tools read: constants stand in the file itself, and `nn`
/// operations are decomposed. Unsupported errors name the operations that
/// cannot be (their shapes are open, say).
Result<void> writeStablehlo(const Model &model, const std::string &path,
                            StablehloForm form = StablehloForm::Text);

/// What writeStablehlo would write.
Result<std::string> stablehloBytes(const Model &model, StablehloForm form);

} // namespace sinter

#endif // SINTER_FORMATS_STABLEHLO_STABLEHLOWRITER_H
