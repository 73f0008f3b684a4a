//===- StablehloReader.h - read StableHLO text ----------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_STABLEHLOREADER_H
#define SINTER_FORMATS_STABLEHLO_STABLEHLOREADER_H

#include "formats/FileCounts.h"
#include "formats/ModelMetadata.h"
#include "graph/Model.h"
#include "runtime/Result.h"

#include <span>
#include <string>
#include <string_view>

namespace sinter {

/// Reads the module of StableHLO operations at \p path and verifies it. The
/// contents determine the format: MLIR text, a portable artifact, a file of
/// `jax.export` around one, or a folder of PyTorch/XLA. Constants are in the
/// file. InvalidModel errors give the position in a text and the reason.
/// \p leftOut is set to what was left out of an artifact because it is not
/// supported (vhlo/ArtifactReader.h). \p metadata gets the module's name and
/// attributes, and an artifact's producer; \p counts, what it consists of.
Result<Model> readStablehlo(const std::string &path,
                            std::string *leftOut = nullptr,
                            ModelMetadata *metadata = nullptr,
                            FileCounts *counts = nullptr);

/// Whether \p path is a folder that readStablehlo reads.
bool isStablehloFolder(const std::string &path);

/// Whether readStablehlo reads the file \p path with contents \p bytes, by its
/// name or its contents.
bool isStablehlo(std::span<const std::byte> bytes, const std::string &path);

/// Parses the module of a text, or of an artifact, that starts \p linesBefore
/// lines into the file \p path; it need not have a function @main. Texts of
/// newer releases are rewritten for MLIR 19 (ForeignText.h), and attributes of
/// unknown dialects are kept unchanged. Unsupported for element types that MLIR
/// 19 lacks, else as above.
Result<Model> parseStablehlo(std::string_view text, const std::string &path,
                             size_t linesBefore = 0);

} // namespace sinter

#endif // SINTER_FORMATS_STABLEHLO_STABLEHLOREADER_H
