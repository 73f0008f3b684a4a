//===- FindFiles.h - which files a program consists of --------------------===//
//
// Paddle saved a program under several names through the years: `__model__`
// with a file a parameter or with one of all (`__params__`), `X.pdmodel` and,
// since version 3, `X.json` with `X.pdiparams`.
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
/// main block comes first and says that it is number 0 and has no parent (no
/// other protobuf message of models begins so), or as PIR's JSON.
bool beginsProtobufProgram(std::string_view contents);
bool beginsPirProgram(std::string_view contents);

/// The program files in \p folder, by name.
std::vector<std::string> programsIn(const std::string &folder);

/// The program's file: \p path itself, or the one in the folder \p path.
/// InvalidModel where there is none, Usage where there are several.
Result<std::string> findProgram(const std::string &path);

/// The combined parameters that lie beside a program's file under one of the
/// names that are usual for it; those that exist.
std::vector<std::string> combinedFilesOf(const std::string &program);

/// The name beside the program's file under which its parameters are written:
/// `X.pdiparams`, or `__params__`.
std::string parametersNameFor(const std::string &program);

/// What a file of Paddle's is that is no program, by its name ("a
/// checkpoint ..., which ..."); empty where it may be one.
std::string whatElse(const std::string &path);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_FINDFILES_H
