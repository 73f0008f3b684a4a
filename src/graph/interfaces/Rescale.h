//===- Rescale.h - what a rescale may do around an operation --------------===//

#ifndef SINTER_GRAPH_INTERFACES_RESCALE_H
#define SINTER_GRAPH_INTERFACES_RESCALE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include <optional>

namespace sinter {

/// What must hold of the numbers for a rescale to move.
enum class RescaleRanges {
  /// Nothing: rounding and cutting move, too, since they keep the order.
  Any,
  /// The rescale takes zero to zero (their zero points match).
  KeepsZero,
  /// The rescale cuts nothing; its rounding may come out otherwise by one.
  CutsNothing
};

/// Operands that are rescaled together.
struct RescaleWay {
  llvm::SmallVector<unsigned> operands;
  RescaleRanges ranges = RescaleRanges::Any;
  /// Those of them that do not show where no number of the others is less
  /// (greater): what a maximum begins with, and the bounds of a clamp.
  llvm::SmallVector<unsigned> floors = {}, ceilings = {};
};

/// What kind of operation it is, in words.
struct RescaleSummary {
  /// The operands of each way, and where there is none; "" where there never
  /// is.
  llvm::StringRef ways;
  /// What must hold of the numbers.
  llvm::StringRef ranges;
  bool absorbsOfOperands = false, absorbsOfResult = false;
};

} // namespace sinter

#include "graph/interfaces/Rescale.h.inc"

namespace sinter {

/// Makes the operations that let rescales pass implement RescaleOpInterface in
/// \p context, whose dialects are loaded.
void attachRescales(mlir::MLIRContext *context);

} // namespace sinter

#endif // SINTER_GRAPH_INTERFACES_RESCALE_H
