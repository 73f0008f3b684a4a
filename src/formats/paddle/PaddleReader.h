//===- PaddleReader.h - read a Paddle program into the graph language -----===//

#ifndef SINTER_FORMATS_PADDLE_PADDLEREADER_H
#define SINTER_FORMATS_PADDLE_PADDLEREADER_H

#include "formats/import/ReadOptions.h"
#include "formats/paddle/file/PaddleFile.h"
#include "graph/Model.h"
#include "runtime/Result.h"

namespace sinter {

/// Imports the program with its parameters, which stay in the mapped files as
/// long as the model's context lives. Dynamic dimensions of inputs get symbols.
/// Errors are one line: file, operator, reason; all that is unsupported is
/// listed at once.
Result<Model> readPaddle(const paddle::PaddleFile &file,
                         const ReadOptions &options = {});

/// Whether \p file has operators that readPaddle does not know: no shapes or
/// values make it readable.
bool hasUnknownOperators(const paddle::PaddleFile &file);

} // namespace sinter

#endif // SINTER_FORMATS_PADDLE_PADDLEREADER_H
