//===- ProgramDesc.h - programs as protobuf -------------------------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_PROGRAMDESC_H
#define SINTER_FORMATS_PADDLE_FILE_PROGRAMDESC_H

#include "formats/paddle/file/Program.h"
#include "runtime/Result.h"

#include <string>
#include <string_view>

namespace sinter::paddle {

/// The program in the bytes of `__model__` or `.pdmodel`. Blocks name parents
/// before them, and operators blocks that lie directly inside; what nobody
/// knows is kept for encodeProgramDesc. Errors are without a file name.
Result<Program> decodeProgramDesc(std::string_view bytes);

/// The bytes of \p program. What was decoded and is as it was has the bytes it
/// had, call stacks excepted, which are left out. Unsupported, with all
/// operators that protobuf's era has no name for.
Result<std::string> encodeProgramDesc(const Program &program);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_PROGRAMDESC_H
