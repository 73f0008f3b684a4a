//===- ExpandComplex.h - complex functions in real arithmetic -------------===//
//
//   %r = stablehlo.exponential %z : complex  ->  exp(re z) (cos(im z), sin(im
//   z))
//
// For tools that lack the functions of complex numbers, or have them less
// accurate than StableHLO's public tests ask.
//
// Restrictions: the functions that graph/chlo/ExpandComplex.h names; additions
// and multiplications stay.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_EXPANDCOMPLEX_H
#define SINTER_PASSES_EXPANDCOMPLEX_H

#include "mlir/Pass/Pass.h"

namespace sinter {

/// The pass `expand-complex`.
std::unique_ptr<mlir::Pass> createExpandComplex();

} // namespace sinter

#endif // SINTER_PASSES_EXPANDCOMPLEX_H
