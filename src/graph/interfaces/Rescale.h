//===- Rescale.h - moving rescales across an operation --------------------===//

#ifndef SINTER_GRAPH_INTERFACES_RESCALE_H
#define SINTER_GRAPH_INTERFACES_RESCALE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include <optional>

namespace sinter {

/// The condition on the values for a rescale to move.
enum class RescaleRanges {
  /// None: rounding and clamping move, too, since they are monotonic.
  Any,
  /// The rescale maps zero to zero (the zero points match).
  KeepsZero,
  /// The rescale clamps nothing; rounding may differ by one.
  CutsNothing
};

/// Operands that are rescaled together.
struct RescaleWay {
  llvm::SmallVector<unsigned> operands;
  RescaleRanges ranges = RescaleRanges::Any;
  /// Operands of the way without effect where no value of the others is less
  /// (greater): the initial value of a maximum, the bounds of a clamp.
  llvm::SmallVector<unsigned> floors = {}, ceilings = {};
};

/// A description of this kind of operation.
struct RescaleSummary {
  /// The operands of each way, and when there is none; "" if there never is
  /// one.
  llvm::StringRef ways;
  /// The conditions on the values.
  llvm::StringRef ranges;
  bool absorbsOfOperands = false, absorbsOfResult = false;
};

} // namespace sinter

#include "graph/interfaces/Rescale.h.inc"

namespace sinter {

/// Attaches RescaleOpInterface to the operations that rescales can move across,
/// in \p context, whose dialects are loaded.
void attachRescales(mlir::MLIRContext *context);

} // namespace sinter

#endif // SINTER_GRAPH_INTERFACES_RESCALE_H
