//===- Values.h - a list of values ----------------------------------------===//

#ifndef SINTER_GRAPH_VALUES_H
#define SINTER_GRAPH_VALUES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace sinter {

/// The operands or results of an operation, loop-carried values, and the like.
using Values = llvm::SmallVector<mlir::Value>;

} // namespace sinter

#endif // SINTER_GRAPH_VALUES_H
