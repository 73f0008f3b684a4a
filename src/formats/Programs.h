//===- Programs.h - programs as text --------------------------------------===//
//
// What a test of programs needs that check themselves: the graph language as
// text, in which they are written, whole files of them.
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

/// A part of a text between lines `// -----`.
struct TextChunk {
  std::string_view text;
  /// Lines of the text before it.
  size_t linesBefore = 0;
};
std::vector<TextChunk> splitChunks(std::string_view text);

/// The module of a text that stands at \p linesBefore lines after the start of
/// the file \p path; it need not have a function @main.
Result<Model> parseProgram(std::string_view text, const std::string &path,
                           size_t linesBefore);

/// Whether a module that is written, read and written again is the same, in
/// each form that there is: else WrongResult.
Result<void> checkWriting(const Model &model);

} // namespace sinter

#endif // SINTER_FORMATS_PROGRAMS_H
