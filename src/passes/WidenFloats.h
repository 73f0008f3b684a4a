//===- WidenFloats.h - the same program, in f64 ---------------------------===//
//
//   add(x, c) : f32  ->  add(convert(x), convert(c)) : f64
//
// What a program computes in f32 is off by what each operation rounds. In f64
// nearly nothing is, so that two ways to compute a tensor in f32 can be held
// against it: the one that is nearer is no mistake.
//
// Restrictions:
//   - A program that looks at the bits of its floats stays as it is.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_WIDENFLOATS_H
#define SINTER_PASSES_WIDENFLOATS_H

#include "mlir/IR/BuiltinOps.h"

namespace sinter {

/// Lets \p module compute in f64 what it computes in f32. Inputs of the entry
/// function and constants stay of f32; its results are of f64 then. False where
/// that would be another program; it may have changed then.
bool widenFloats(mlir::ModuleOp module);

} // namespace sinter

#endif // SINTER_PASSES_WIDENFLOATS_H
