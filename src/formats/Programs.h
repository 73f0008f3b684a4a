//===- Programs.h - programs as text --------------------------------------===//
//
// Support for tests by self-checking programs, which are written in the textual
// graph language, several to a file.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_PROGRAMS_H
#define SINTER_FORMATS_PROGRAMS_H

#include "graph/Model.h"
#include "runtime/Result.h"

#include <string>
#include <string_view>
#include <vector>

namespace sinter {

/// A section of a text between lines `// -----`.
struct TextChunk {
  std::string_view text;
  /// Lines of the text before it.
  size_t linesBefore = 0;
};
std::vector<TextChunk> splitChunks(std::string_view text);

/// Parses the module \p text, which starts \p linesBefore lines into the file
/// \p path; it need not have a function @main.
Result<Model> parseProgram(std::string_view text, const std::string &path,
                           size_t linesBefore);

/// Checks that a module that is written, read and written again stays the same,
/// in each written form; else WrongResult.
Result<void> checkWriting(const Model &model);

} // namespace sinter

#endif // SINTER_FORMATS_PROGRAMS_H
