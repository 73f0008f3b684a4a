//===- StablehloReader.h - read StableHLO text ----------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_STABLEHLOREADER_H
#define SINTER_FORMATS_STABLEHLO_STABLEHLOREADER_H

#include "graph/Model.h"
#include "runtime/Result.h"

#include <span>
#include <string>
#include <string_view>

namespace sinter {

/// Reads the module of StableHLO operations at \p path and verifies it. What it
/// is in is told by the contents: MLIR text, a portable artifact, what
/// `jax.export` serialises around one, or the folder that PyTorch/XLA saves.
/// Constants are in the file. InvalidModel errors give the place in a text and
/// what is wrong there. \p leftOut says what could be left out of an artifact
/// that has what we lack (vhlo/ArtifactReader.h).
Result<Model> readStablehlo(const std::string &path,
                            std::string *leftOut = nullptr);

/// Whether \p path is a folder that readStablehlo reads.
bool isStablehloFolder(const std::string &path);

/// Whether the file \p path, which has \p bytes, is to be read by
/// readStablehlo, by its name or its contents.
bool isStablehlo(std::span<const std::byte> bytes, const std::string &path);

/// The module of a text, or of an artifact, that stands at \p linesBefore lines
/// after the start of the file \p path; it need not have a function @main.
/// Texts of newer releases are put in our terms (ForeignText.h), and attributes
/// of dialects that nobody knows here are carried along as they are.
/// Unsupported for element types that MLIR 19 lacks, else as above.
Result<Model> parseStablehlo(std::string_view text, const std::string &path,
                             size_t linesBefore = 0);

} // namespace sinter

#endif // SINTER_FORMATS_STABLEHLO_STABLEHLOREADER_H
