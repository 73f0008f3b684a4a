//===- SamplePlaces.h - where the samples of a batch lie in tensors -------===//

#ifndef SINTER_AUTODIFF_SAMPLEPLACES_H
#define SINTER_AUTODIFF_SAMPLEPLACES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace sinter::autodiff {

/// A tensor as [before, samples, behind], in row-major order: its elements of
/// one sample are those with one number in the middle.
struct SamplePlace {
  int64_t before = 1, behind = 1;

  bool operator==(const SamplePlace &) const = default;
};

/// Where \p samples samples lie in the values of \p function's block, whose
/// shapes are static, as far as it follows from axes (graph/interfaces/Axes.h)
/// and from the first dimension of the arguments that \p isInput names.
llvm::DenseMap<mlir::Value, SamplePlace>
samplePlaces(mlir::func::FuncOp function, int64_t samples,
             llvm::function_ref<bool(mlir::BlockArgument)> isInput);

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_SAMPLEPLACES_H
