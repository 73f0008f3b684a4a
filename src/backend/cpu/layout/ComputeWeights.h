//===- ComputeWeights.h - large weights computed as a program is made -----===//
//
//   w : 4096x4096xf16                        w : 4096x4096xf16
//   dot_general(x, convert<f32>(w))    ->    c = cpu.computed_constant
//                                                  { convert<f32>(w) }
//                                            dot_general(x, c)
//
//   convolution(x, convert<f32>(w))    ->    convolution(x, w' : f32)
//
// Folding leaves alone what would become much larger: a weight of f16 or of
// integers with a scale. A product that reads it wants its numbers in its own
// order, once. They are computed when they are packed, one weight after the
// other, so that no second copy of all is ever there. Layouts of convolutions
// ask for a constant's value, so theirs are computed at once.
//
// Restrictions:
//   - What follows from constants by elementwise operations and data movement
//     of static shapes, 64 of them at most; none much larger than the weight.
//   - Of a product's operands those of more than the limit of folding; smaller
//     ones fold.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_COMPUTEWEIGHTS_H
#define SINTER_BACKEND_CPU_LAYOUT_COMPUTEWEIGHTS_H

#include "backend/cpu/ir/CpuOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"
#include "runtime/Result.h"
#include "runtime/Tensor.h"

namespace sinter::cpu {

/// Whether \p value is a constant of the program, or will be one.
bool isWeight(mlir::Value value);

/// Makes constants of what convolutions' kernels are computed from, but of
/// those that \p isRead says are read as they are.
void computeKernels(mlir::func::FuncOp function,
                    llvm::function_ref<bool(stablehlo::ConvolutionOp)> isRead,
                    PatternRun &run);

/// Makes computed constants of operands of products.
void computeOperands(mlir::func::FuncOp function, int64_t byteLimit,
                     PatternRun &run);

/// \p value, which isWeight, as a constant that is computed when it is packed;
/// as it is where it is a constant.
mlir::Value computedLater(mlir::Value value);

llvm::ArrayRef<PatternInfo> computeWeightsPatterns();

/// The value of a constant, computed or not.
Result<Tensor> weightValue(mlir::Value constant);

/// The value of what follows from constants; nothing for anything else, or
/// where it cannot be computed.
std::optional<Tensor> computedWeight(mlir::Value value);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_COMPUTEWEIGHTS_H
