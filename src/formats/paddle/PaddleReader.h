//===- PaddleReader.h - read a Paddle program into the graph language -----===//

#ifndef SINTER_FORMATS_PADDLE_PADDLEREADER_H
#define SINTER_FORMATS_PADDLE_PADDLEREADER_H

#include "formats/ReadOptions.h"
#include "formats/paddle/file/PaddleFile.h"
#include "graph/Model.h"
#include "runtime/Result.h"

namespace sinter {

/// The program with its parameters, which stay in the mapped files as long as
/// the model's context lives. Unknown dimensions of inputs are symbols. Errors
/// are one line: file, operator, reason; what is unsupported is listed all at
/// once.
Result<Model> readPaddle(const paddle::PaddleFile &file,
                         const ReadOptions &options = {});

/// Whether \p file has operators that readPaddle does not know: nothing that is
/// given makes it readable.
bool hasUnknownOperators(const paddle::PaddleFile &file);

} // namespace sinter

#endif // SINTER_FORMATS_PADDLE_PADDLEREADER_H
