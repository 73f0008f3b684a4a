//===- SamplePositions.h - positions of samples in tensors ----------------===//

#ifndef SINTER_AUTODIFF_SAMPLEPOSITIONS_H
#define SINTER_AUTODIFF_SAMPLEPOSITIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace sinter::autodiff {

/// A tensor as [before, samples, behind], in row-major order: the elements of
/// one sample are those with one index in the middle.
struct SamplePosition {
  int64_t before = 1, behind = 1;

  bool operator==(const SamplePosition &) const = default;
};

/// The positions of \p samples samples in the values of \p function's block,
/// whose shapes are static, as far as they follow from axes
/// (graph/interfaces/Axes.h) and from the first dimension of the arguments that
/// \p isInput selects.
llvm::DenseMap<mlir::Value, SamplePosition>
samplePositions(mlir::func::FuncOp function, int64_t samples,
                llvm::function_ref<bool(mlir::BlockArgument)> isInput);

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_SAMPLEPOSITIONS_H
