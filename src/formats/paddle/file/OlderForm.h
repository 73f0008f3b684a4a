//===- OlderForm.h - programs of PIR as ProgramDesc has them --------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_OLDERFORM_H
#define SINTER_FORMATS_PADDLE_FILE_OLDERFORM_H

#include "formats/paddle/file/Program.h"

namespace sinter::paddle {

/// Whether parts of \p program were read from PIR.
bool isFromPir(const Program &program);

/// \p program as exporters before PIR wrote it: constants that stand in slots
/// for tensors become the attributes that the slots stand for, those that
/// nobody reads then go, and `shape64` is a shape and a cast. Nothing of it is
/// encoded.
Program inOlderForm(const Program &program);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_OLDERFORM_H
