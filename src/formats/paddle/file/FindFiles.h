//===- FindFiles.h - the files of a program -------------------------------===//
//
// Paddle versions save programs under different names: `__model__` with a file
// per parameter or with one for all (`__params__`), `X.pdmodel` and, since
// version 3, `X.json` with `X.pdiparams`.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_FINDFILES_H
#define SINTER_FORMATS_PADDLE_FILE_FINDFILES_H

#include "runtime/Result.h"

#include <string>
#include <string_view>
#include <vector>

namespace sinter::paddle {

/// Whether the bytes of a file begin as a program does: as a ProgramDesc, whose
/// main block comes first with index 0 and no parent (no other protobuf message
/// of a model format begins so), or as PIR's JSON.
bool beginsProtobufProgram(std::string_view contents);
bool beginsPirProgram(std::string_view contents);

/// The program files in \p folder, by name.
std::vector<std::string> programsIn(const std::string &folder);

/// The program's file: \p path itself, or the one in the folder \p path.
/// InvalidModel if there is none, Usage if there are several.
Result<std::string> findProgram(const std::string &path);

/// The existing combined parameter files beside a program's file, under the
/// usual names.
std::vector<std::string> combinedFilesOf(const std::string &program);

/// The name beside the program's file under which its parameters are written:
/// `X.pdiparams`, or `__params__`.
std::string parametersNameFor(const std::string &program);

/// What a file of Paddle's that is no program is, by its name ("a checkpoint
/// ..., which ..."); empty if it may be a program.
std::string whatElse(const std::string &path);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_FINDFILES_H
