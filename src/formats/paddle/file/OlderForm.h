//===- OlderForm.h - PIR programs for ProgramDesc -------------------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_OLDERFORM_H
#define SINTER_FORMATS_PADDLE_FILE_OLDERFORM_H

#include "formats/paddle/file/Program.h"

namespace sinter::paddle {

/// Whether any of \p program was read from PIR.
bool isFromPir(const Program &program);

/// \p program as exporters before PIR wrote it: constants in slots for tensors
/// become the corresponding attributes, constants that are then unused are
/// removed, and `shape64` becomes a shape and a cast. The result has no encoded
/// bytes.
Program inOlderForm(const Program &program);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_OLDERFORM_H
