//===- PairExtremes.h - the least and the greatest are found together -----===//
//
//   l = reduce(x) applies minimum            l, g = reduce(x, x) applies
//   g = reduce(x) applies maximum      ->             minimum, maximum
//
// Scales that are known at run time only are made of both. One kernel goes over
// the tensor once, and what follows from the two numbers is the same kernel for
// tensors of any shape.
//
// Restrictions:
//   - All dimensions are reduced, so that nothing is lost to a kernel of rows.
//   - What they start from are constants.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_PAIREXTREMES_H
#define SINTER_BACKEND_CPU_LAYOUT_PAIREXTREMES_H

#include "graph/nn/TensorBuilder.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

#include <optional>

namespace sinter::cpu {

/// The greatest and the least of all numbers of one tensor. What they start
/// from, a constant each, may count more than once.
struct ExtremesOfAll {
  mlir::Value tensor;
  llvm::SmallVector<mlir::Value> initial;
  /// Which results are the greatest; others are the least.
  llvm::SmallVector<bool> areGreatest;

  static std::optional<ExtremesOfAll> match(stablehlo::ReduceOp op);
  /// The same of \p tensors, one for each result, over \p dims.
  mlir::ValueRange emit(nn::TensorBuilder &emit, mlir::ValueRange tensors,
                        llvm::ArrayRef<int64_t> dims) const;
};

/// Rewrites all of \p function.
void pairExtremes(mlir::func::FuncOp function, PatternRun &run);

llvm::ArrayRef<PatternInfo> pairExtremesPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_PAIREXTREMES_H
