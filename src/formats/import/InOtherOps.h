//===- InOtherOps.h - ops that no rule writes, said in others -------------===//

#ifndef SINTER_FORMATS_IMPORT_INOTHEROPS_H
#define SINTER_FORMATS_IMPORT_INOTHEROPS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace sinter::formats {

/// What gives the results of \p op in other ops, which are made in front of it:
/// its decomposition, or, of a reduce_window of known sizes, slices of its
/// inputs, one for each place of the window, which its region combines one
/// after the other, in the window's order. Nothing, and nothing is made, where
/// there are no such ops, or too many.
std::optional<llvm::SmallVector<mlir::Value>> inOtherOps(mlir::Operation *op);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_INOTHEROPS_H
