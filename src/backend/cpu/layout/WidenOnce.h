//===- WidenOnce.h - what products read in f32 lies in memory so ----------===//
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
// Kernels of products read activations of f32. A value of f16 or bf16 that one
// of them reads, or that is returned as f32, is written so by the kernel that
// computes and rounds it; all others read it there, too, and take it for what
// it is, which is exact. So no step does nothing but convert.
//
// Pools read f16 and bf16: what they alone read stays as it is.
//
// So it goes with bytes that become words of 16 bits (layout/WidenBytes). Pools
// read words where others do, and the greatest of them are words.
//
// Restrictions:
//   - An input, a constant, and what control flow or a call gives, lie in
//     memory as they are: what reads them in f32 shares one conversion.
//   - So does what is returned, carried by a loop, or read by what takes whole
//     tensors (a sort, a scatter, a call).
//   - A transpose or a joint has one reader, and a joint's parts are computed.
//   - A pool of words has an element in each window: the least word is none of
//     the bytes.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_WIDENONCE_H
#define SINTER_BACKEND_CPU_LAYOUT_WIDENONCE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

/// Rewrites all of \p function, whose shapes are static.
void widenOnce(mlir::func::FuncOp function, PatternRun &run);

llvm::ArrayRef<PatternInfo> widenOncePatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_WIDENONCE_H
