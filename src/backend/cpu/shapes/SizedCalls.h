//===- SizedCalls.h - operations with data-dependent shapes ---------------===//
//
//   y = nn.non_zero x : tensor<2x?xi64>  ->  n = reduce add (x != 0) : i64
//                                            y = cpu.host_call
//                                                "sinter.non_zero"(x != 0, n)
//
// What a loop adds to the end of a value each time is kept in lists of the run,
// whose length is known after the loop.
//
// A slice that begins where a number says, and padding as wide as one, take
// elements by their places.
//
// The size is computed first, so that the result has memory of that size when
// the call fills it (InferDimensions.h).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_SHAPES_SIZEDCALLS_H
#define SINTER_BACKEND_CPU_SHAPES_SIZEDCALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::cpu {

void outlineSizedCalls(mlir::func::FuncOp function);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_SHAPES_SIZEDCALLS_H
