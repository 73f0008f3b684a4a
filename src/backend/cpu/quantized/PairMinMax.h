//===- PairMinMax.h - compute min and max in one reduction ----------------===//
//
//   l = reduce(x) applies minimum            l, g = reduce(x, x) applies
//   g = reduce(x) applies maximum      ->             minimum, maximum
//
// Dynamic quantisation computes scales from both. One kernel reads the tensor
// once, and the arithmetic on the two results is the same kernel for tensors of
// any shape.
//
// Restrictions:
//   - All dimensions are reduced, so that no row kernel is lost.
//   - Initial values are constants.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_QUANTIZED_PAIRMINMAX_H
#define SINTER_BACKEND_CPU_QUANTIZED_PAIRMINMAX_H

#include "graph/nn/TensorBuilder.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

#include <optional>

namespace sinter::cpu {

/// Minima and maxima of all elements of one tensor. The constant initial values
/// may count more than once.
struct MinMaxOfAll {
  mlir::Value tensor;
  llvm::SmallVector<mlir::Value> initial;
  /// For each result, whether it is a maximum, else a minimum.
  llvm::SmallVector<bool> areGreatest;

  static std::optional<MinMaxOfAll> match(stablehlo::ReduceOp op);
  /// Builds the same reduction of \p tensors, one for each result, over
  /// \p dims.
  mlir::ValueRange emit(nn::TensorBuilder &emit, mlir::ValueRange tensors,
                        llvm::ArrayRef<int64_t> dims) const;
};

/// Rewrites all of \p function.
void pairMinMax(mlir::func::FuncOp function, PatternRun &run);

llvm::ArrayRef<PatternInfo> pairMinMaxPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_QUANTIZED_PAIRMINMAX_H
