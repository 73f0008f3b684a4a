//===- StablehloReader.h - read StableHLO text ----------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_STABLEHLOREADER_H
#define SINTER_FORMATS_STABLEHLO_STABLEHLOREADER_H

#include "graph/Model.h"
#include "runtime/Result.h"

#include <string>
#include <string_view>

namespace sinter {

/// Reads the module of StableHLO operations at \p path, MLIR text or bytecode,
/// and verifies it. Constants are in the file. InvalidModel errors give the
/// place in the file and what is wrong there.
Result<Model> readStablehlo(const std::string &path);

/// The module of a text, or of bytecode, that stands at \p linesBefore lines
/// after the start of the file \p path; it need not have a function @main.
/// Texts of newer releases are put in our terms (ForeignText.h), and attributes
/// of dialects that nobody knows here are carried along as they are.
/// Unsupported for element types that MLIR 19 lacks, else as above.
Result<Model> parseStablehlo(std::string_view text, const std::string &path,
                             size_t linesBefore = 0);

} // namespace sinter

#endif // SINTER_FORMATS_STABLEHLO_STABLEHLOREADER_H
