//===- ValueScopes.h - values of a text are used where they are known -----===//
//
// MLIR's parser takes an unknown name for the promise of a definition to come,
// and takes that from wherever it comes: the body of another function, or of an
// operation further down. If it then fails inside of that body, it frees the
// value, and later writes to the uses that are left, in memory that is no
// longer its own. So every name is held against what is known where it stands,
// before the parser sees the text:
//
//     func.func @f() { use(%0) }         use of undeclared value '%0'
//     func.func @g() { %0 = ... }
//
// What holds of a text that passes: whatever it means otherwise, each use of a
// value lies behind its definition (or in the operation that defines it) and
// inside of the body that holds it. That body is freed after them, in whatever
// state the parser leaves it. This rests on what the operations that are loaded
// look like: none ends behind an open bracket, none lets the names of its body
// hide others, none takes `(%a:` or `(%a =` for a use, and all names of results
// stand where an operation begins.
//
// The parser makes room for as many results as a text claims, so their numbers
// are checked here, too.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_VALUESCOPES_H
#define SINTER_FORMATS_STABLEHLO_VALUESCOPES_H

#include "runtime/Result.h"

#include <string_view>

namespace sinter {

/// An invalid model with line and column ("3:7: ...") where brackets of \p text
/// do not match, where a value is used that is not known there, or not with
/// that many results, and where one is defined again.
Result<void> checkValueScopes(std::string_view text);

} // namespace sinter

#endif // SINTER_FORMATS_STABLEHLO_VALUESCOPES_H
