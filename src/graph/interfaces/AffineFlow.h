//===- AffineFlow.h - moving per-channel scales across operations ---------===//

#ifndef SINTER_GRAPH_INTERFACES_AFFINEFLOW_H
#define SINTER_GRAPH_INTERFACES_AFFINEFLOW_H

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace sinter {

/// Which scales can move across an operation.
enum class ScaleRule {
  Any,
  /// Not negative: the operation is monotonic.
  Positive
};

/// Which operands take up a shift.
enum class ShiftRule {
  /// All operands of the way.
  Every,
  /// Any one operand of the way.
  One,
  /// The first operand of the way.
  First,
  /// None: a shift does not pass.
  None
};

/// The kind of operation that is crossed: each has a label that disables it.
enum class AffinePassage {
  Movement,
  Concatenation,
  Sum,
  Product,
  Clip,
  Slope,
  Pool,
  Resize,
  Reduction,
  Selection
};

/// Operands that a scale and a shift are applied to together.
struct AffineWay {
  AffinePassage passage;
  llvm::SmallVector<unsigned> operands;
  ScaleRule scale = ScaleRule::Any;
  ShiftRule shift = ShiftRule::Every;
  /// Whether an operand's scale and shift move to its slices of the result
  /// though the other operands have none.
  bool isSeparate = false;
  /// The shift of the result for a shift of 1 of the operands.
  double gain = 1;
};

struct AffineFlowSummary {
  llvm::StringRef operands, scale, shift;
};

} // namespace sinter

#include "graph/interfaces/AffineFlow.h.inc"

namespace sinter {

/// Attaches AffineFlowOpInterface to the operations that scales and shifts can
/// move across, in \p context, whose dialects are loaded.
void attachAffineFlow(mlir::MLIRContext *context);

} // namespace sinter

#endif // SINTER_GRAPH_INTERFACES_AFFINEFLOW_H
