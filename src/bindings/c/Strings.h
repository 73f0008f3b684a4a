//===- Strings.h - strings that the library gives to a caller -------------===//

#ifndef SINTER_BINDINGS_C_STRINGS_H
#define SINTER_BINDINGS_C_STRINGS_H

#include "runtime/Result.h"

#include <string>

namespace sinter::c {

/// Puts a copy of \p text, which sinter_string_free frees, into \p to, unless
/// that is null.
Result<void> giveString(const std::string &text, char **to);

} // namespace sinter::c

#endif // SINTER_BINDINGS_C_STRINGS_H
