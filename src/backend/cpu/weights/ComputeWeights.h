//===- ComputeWeights.h - evaluate large weights at compile time ----------===//
//
//   w : 4096x4096xf16                        w : 4096x4096xf16
//   dot_general(x, convert<f32>(w))    ->    c = cpu.computed_constant
//                                                  { convert<f32>(w) }
//                                            dot_general(x, c)
//
//   convolution(x, convert<f32>(w))    ->    convolution(x, w' : f32)
//
// Constant folding skips results that are much larger than their operands: a
// weight of f16 or of integers with a scale. A product needs its elements once,
// in packed order. They are computed when they are packed, one weight after the
// other, so that there is never a second copy of all weights. Layouts of
// convolutions need the value of a constant, so theirs are computed at once.
//
// Restrictions:
//   - Values computed from constants by elementwise operations and data
//     movement of static shapes, at most 64; none much larger than the weight.
//   - Operands of matmuls above the limit of constant folding; smaller ones
//     fold.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_WEIGHTS_COMPUTEWEIGHTS_H
#define SINTER_BACKEND_CPU_WEIGHTS_COMPUTEWEIGHTS_H

#include "backend/cpu/ir/CpuOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"
#include "runtime/Result.h"
#include "runtime/Tensor.h"

namespace sinter::cpu {

/// Whether \p value is a constant of the program, or will be made one.
bool isWeight(mlir::Value value);

/// Evaluates the weights of convolutions to constants, unless \p isRead: these
/// are used as they are.
void computeKernels(mlir::func::FuncOp function,
                    llvm::function_ref<bool(stablehlo::ConvolutionOp)> isRead,
                    PatternRun &run);

/// Makes computed constants of operands of matmuls.
void computeOperands(mlir::func::FuncOp function, int64_t byteLimit,
                     PatternRun &run);

/// \p value, for which isWeight() holds, as a constant that is computed when it
/// is packed; \p value itself if it is a constant.
mlir::Value computedLater(mlir::Value value);

llvm::ArrayRef<PatternInfo> computeWeightsPatterns();

/// The value of a constant, computed or not.
Result<Tensor> weightValue(mlir::Value constant);

/// The value of \p value, if it is computed from constants; nothing for
/// anything else, or if the evaluation fails.
std::optional<Tensor> computedWeight(mlir::Value value);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_WEIGHTS_COMPUTEWEIGHTS_H
