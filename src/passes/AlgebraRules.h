//===- AlgebraRules.h - tables of identities ------------------------------===//
//
// Each identity is exact for every value, signed zeros included, unless its
// label ends in `-relaxed`; those do not apply unless asked for.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_ALGEBRARULES_H
#define SINTER_PASSES_ALGEBRARULES_H

#include "passes/Rules.h"

namespace sinter {

/// Identities of elementwise operations and activations.
llvm::ArrayRef<Rule> elementwiseRules();
/// Identities of transpose, reshape, broadcast, slice, concatenate, pad, ...
llvm::ArrayRef<Rule> movementRules();

} // namespace sinter

#endif // SINTER_PASSES_ALGEBRARULES_H
