//===- WidenFloats.h - the same program, in f64 ---------------------------===//
//
//   add(x, c) : f32  ->  add(convert(x), convert(c)) : f64
//
// Each operation of a program in f32 has a rounding error. In f64 these nearly
// vanish, so that two ways to compute a tensor in f32 can be compared with it:
// the closer one is not an error.
//
// Restrictions:
//   - A program that uses the bits of its floats is not widened.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_WIDENFLOATS_H
#define SINTER_PASSES_WIDENFLOATS_H

#include "mlir/IR/BuiltinOps.h"

namespace sinter {

/// Changes the f32 computations of \p module to f64. Inputs of the entry
/// function and constants stay f32; its results become f64. False where that
/// would change the program's meaning; the module may be half changed then.
bool widenFloats(mlir::ModuleOp module);

} // namespace sinter

#endif // SINTER_PASSES_WIDENFLOATS_H
