//===- Repetition.h - the value that a value broadcasts -------------------===//

#ifndef SINTER_GRAPH_REPETITION_H
#define SINTER_GRAPH_REPETITION_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace sinter {

/// The source of a value, looking through broadcasts, and through reshapes and
/// transposes that move at most dimensions of size 1.
struct Repetition {
  mlir::Value source;
  /// Dimension i of the source is dimension `places[i]` of the value; -1 for
  /// one of size 1 that the value does not have.
  llvm::SmallVector<int64_t> places;

  /// The source of \p value, a ranked tensor: itself where nothing is
  /// broadcast.
  static Repetition of(mlir::Value value);
};

} // namespace sinter

#endif // SINTER_GRAPH_REPETITION_H
