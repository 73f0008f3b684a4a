//===- PackWeights.h - packs weights at run time --------------------------===//
//
//   cpu.convolution(x, w)
//     ->  cpu.convolution(x, transpose(reshape(pad(w))))
//             {packed_from = [K, C, R, S]}
//
// Constant weights are packed at compile time. Weights that are inputs, states
// or computed are packed by operations of the graph before the kernel.
//
// Restrictions:
//   - Winograd's method is not used: transforming the weights at every run
//     costs what it would gain.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_WEIGHTS_PACKWEIGHTS_H
#define SINTER_BACKEND_CPU_WEIGHTS_PACKWEIGHTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::cpu {

struct Target;

/// Packs the weights of the convolutions of \p function that are no constants.
void packWeights(mlir::func::FuncOp function, const Target &target);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_WEIGHTS_PACKWEIGHTS_H
