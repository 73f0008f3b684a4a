#include "formats/Programs.h"

#include "formats/stablehlo/StablehloReader.h"
#include "formats/stablehlo/StablehloWriter.h"
#include <algorithm>

namespace sinter {

std::vector<TextChunk> splitChunks(std::string_view text) {
  constexpr std::string_view marker = "// -----";
  std::vector<TextChunk> chunks;
  size_t begin = 0, lines = 0, linesBefore = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    if (text.substr(at).starts_with(marker)) {
      chunks.push_back({text.substr(begin, at - begin), linesBefore});
      begin = end;
      linesBefore = lines + 1;
    }
    ++lines;
    at = end;
  }
  chunks.push_back({text.substr(begin), linesBefore});
  return chunks;
}

Result<Model> parseProgram(std::string_view text, const std::string &path,
                           size_t linesBefore) {
  return parseStablehlo(text, path, linesBefore);
}

/// Checks that a module that is written, read and written again stays the same.
static Result<void> roundTrip(const Model &model, StablehloForm form) {
  Result<std::string> once = stablehloBytes(model, form);
  if (!once)
    return once.takeError();
  Result<Model> again = parseStablehlo(*once, model.path);
  if (!again)
    return again.takeError();
  Result<std::string> twice = stablehloBytes(*again, form);
  if (!twice)
    return twice.takeError();
  if (*once != *twice)
    return Error{ErrorKind::WrongResult,
                 "written, read and written again, the text differs"};
  return {};
}

Result<void> checkWriting(const Model &model) {
  if (Result<void> done = roundTrip(model, StablehloForm::Text); !done)
    return done;
  return roundTrip(model, StablehloForm::Artifact);
}

} // namespace sinter
