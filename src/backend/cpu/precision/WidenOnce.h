//===- WidenOnce.h - materialise f32 casts that products read -------------===//
//
//   v = maximum(x, y) : f16                v = maximum(x, y) : f16
//   p = convolution(convert<f32>(v))       w = convert<f32>(v)
//   q = dot_general(convert<f32>(v))  ->   p = convolution(w)
//   r = add(v, u)                          q = dot_general(w)
//                                          r = add(convert<f16>(w), u)
//
//   convert<f32>(reshape(v))          ->   reshape(convert<f32>(v))
//   convert<f32>(transpose(v))        ->   transpose(convert<f32>(v))
//   convert<f32>(concatenate(v, u))   ->   concatenate(convert<f32>(v), ...)
//
// Kernels of products read f32 activations. If one of them uses an f16 or bf16
// value, or if it is returned as f32, the kernel that computes and rounds it
// stores it as f32. All other users read the f32 value and narrow it, which is
// exact. So no kernel only converts.
//
// Pools read f16 and bf16: a value that only they use stays narrow.
//
// The same holds for int8 values that are widened to i16 (quantized/WidenInt8).
// Pools then read i16 where others do, and return i16.
//
// Restrictions:
//   - Inputs, constants and results of control flow or calls stay in memory as
//     they are: their f32 users share one conversion.
//   - So do values that are returned, carried by a loop, or used by operations
//     on whole tensors (a sort, a scatter, a call).
//   - A transpose or a concatenate has one use, and a concatenate's operands
//     are computed.
//   - Each window of a pool of i16 has an element: the least i16 is no int8
//     value.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_PRECISION_WIDENONCE_H
#define SINTER_BACKEND_CPU_PRECISION_WIDENONCE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

/// Rewrites all of \p function, whose shapes are static.
void widenOnce(mlir::func::FuncOp function, PatternRun &run);

llvm::ArrayRef<PatternInfo> widenOncePatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PRECISION_WIDENONCE_H
