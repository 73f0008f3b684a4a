//===- PirProgram.h - programs as PIR's JSON ------------------------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_PIRPROGRAM_H
#define SINTER_FORMATS_PADDLE_FILE_PIRPROGRAM_H

#include "formats/paddle/file/Program.h"
#include "runtime/Result.h"

#include <string>
#include <string_view>

namespace sinter::paddle {

/// Decodes the program in the text of a `.json` file of Paddle 3, in the older
/// vocabulary (PirNames.h). Errors are without a file name.
Result<Program> decodePir(std::string_view text);

/// The text of \p program. What was decoded and not changed keeps its text.
/// Unsupported, with a list, if operators have no name in PIR.
Result<std::string> encodePir(const Program &program);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_PIRPROGRAM_H
