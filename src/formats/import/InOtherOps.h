//===- InOtherOps.h - decomposes ops that no rule writes ------------------===//

#ifndef SINTER_FORMATS_IMPORT_INOTHEROPS_H
#define SINTER_FORMATS_IMPORT_INOTHEROPS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <vector>

namespace sinter::formats {

/// Operations that compute the results of another one.
struct OtherOps {
  llvm::SmallVector<mlir::Value> values;
  /// All but those in regions of others, each after its operands.
  std::vector<mlir::Operation *> made;
};

/// Computes the results of \p op by other ops, made in front of it: by its
/// decomposition, or for a reduce_window of static shape by slices of its
/// inputs, one for each offset in the window, which its region combines in the
/// window's order. Returns nothing, and makes nothing, if there are no such ops
/// or too many.
std::optional<OtherOps> inOtherOps(mlir::Operation *op);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_INOTHEROPS_H
