//===- ResolveShapes.h - what is known of shapes becomes constants --------===//
//
// Operations that ask for sizes, and those whose result has a shape known only
// when run, in terms of what is known already.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_RESOLVESHAPES_H
#define SINTER_PASSES_RESOLVESHAPES_H

#include "passes/Rules.h"

namespace sinter {

/// shape(x : 2x3) -> [2, 3]; dynamic_reshape(x, [2, 3]) -> reshape(x); ...
llvm::ArrayRef<Rule> shapeRules();

} // namespace sinter

#endif // SINTER_PASSES_RESOLVESHAPES_H
