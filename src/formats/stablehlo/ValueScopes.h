//===- ValueScopes.h - checks that uses of values are in scope ------------===//
//
// MLIR's parser treats an unknown name as a forward reference, and accepts its
// definition anywhere: in the body of another function, or of a later
// operation. If it then fails inside of that body, it frees the value, and
// later writes to the remaining uses, in freed memory. So every use is checked
// against the visible definitions before the parser sees the text:
//
//     func.func @f() { use(%0) }         use of undeclared value '%0'
//     func.func @g() { %0 = ... }
//
// In a text that passes, each use of a value comes after its definition (or in
// the operation that defines it) and inside of the region that contains it.
// That region is freed after the uses, in whatever state the parser leaves it.
// This relies on the syntax of the loaded operations: none ends after an open
// bracket, none lets names of its region shadow others, none has `(%a:` or `(%a
// =` as a use, and all result names are at the start of an operation.
//
// The parser allocates as many results as a text claims, so their number is
// checked here, too.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_VALUESCOPES_H
#define SINTER_FORMATS_STABLEHLO_VALUESCOPES_H

#include "runtime/Result.h"

#include <string_view>

namespace sinter {

/// InvalidModel with line and column ("3:7: ...") if brackets of \p text do not
/// match, if a value is used that is not visible there or has fewer results, or
/// if one is defined again.
Result<void> checkValueScopes(std::string_view text);

} // namespace sinter

#endif // SINTER_FORMATS_STABLEHLO_VALUESCOPES_H
