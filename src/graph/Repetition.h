//===- Repetition.h - what a value repeats --------------------------------===//

#ifndef SINTER_GRAPH_REPETITION_H
#define SINTER_GRAPH_REPETITION_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace sinter {

/// What a value is, seen through broadcasts, and reshapes and transposes that
/// move dimensions of size 1 or none.
struct Repetition {
  mlir::Value source;
  /// Dimension i of the source lies along dimension `places[i]` of the value;
  /// -1 for one of size 1 that the value does not have.
  llvm::SmallVector<int64_t> places;

  /// That of \p value, a ranked tensor: itself where it repeats nothing.
  static Repetition of(mlir::Value value);
};

} // namespace sinter

#endif // SINTER_GRAPH_REPETITION_H
