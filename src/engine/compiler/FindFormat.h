//===- FindFormat.h - the format of a model file --------------------------===//

#ifndef SINTER_ENGINE_COMPILER_FINDFORMAT_H
#define SINTER_ENGINE_COMPILER_FINDFORMAT_H

#include "formats/Format.h"

namespace sinter {

/// The format of the model at \p path. An error if it is none, which says what
/// files of other well-known kinds are.
Result<const Format *> findFormat(const std::string &path);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_FINDFORMAT_H
