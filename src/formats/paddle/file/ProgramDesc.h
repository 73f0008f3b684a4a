//===- ProgramDesc.h - programs as protobuf -------------------------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_PROGRAMDESC_H
#define SINTER_FORMATS_PADDLE_FILE_PROGRAMDESC_H

#include "formats/paddle/file/Program.h"
#include "runtime/Result.h"

#include <string>
#include <string_view>

namespace sinter::paddle {

/// Decodes the program in the bytes of `__model__` or `.pdmodel`. Parents of
/// blocks come before them, and operators refer to direct sub-blocks; unknown
/// fields are kept for encodeProgramDesc. Errors are without a file name.
Result<Program> decodeProgramDesc(std::string_view bytes);

/// The bytes of \p program. What was decoded and not changed keeps its bytes,
/// except for call stacks, which are left out. Unsupported, with a list, if
/// operators have no name in protobuf's era.
Result<std::string> encodeProgramDesc(const Program &program);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_PROGRAMDESC_H
