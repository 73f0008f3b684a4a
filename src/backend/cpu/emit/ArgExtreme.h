//===- ArgExtreme.h - reductions to the position of an extreme ------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_ARGEXTREME_H
#define SINTER_BACKEND_CPU_EMIT_ARGEXTREME_H

#include "backend/cpu/emit/Elemental.h"

namespace sinter::cpu {

/// A reduction of pairs, a number and what comes with it (its index, mostly),
/// that keeps the pair of the greatest or least number. Frameworks write it in
/// many ways: what the region does is found by running it on all the orders
/// that two pairs may have.
class ArgExtreme {
public:
  /// Nothing if \p op is something else.
  static std::optional<ArgExtreme> of(stablehlo::ReduceOp op);

  /// The results, from the initial values \p start and the elements at
  /// \p placeOf each index. Two passes over the numbers, which LLVM vectorises:
  /// the extreme, then where it is. What a region does with NaN is left to
  /// \p inOrder, one element after the other.
  llvm::SmallVector<mlir::Value>
  emit(Elemental &elemental, mlir::ValueRange start,
       llvm::function_ref<Coordinates(mlir::Value)> placeOf,
       llvm::function_ref<llvm::SmallVector<mlir::Value>()> inOrder) const;

private:
  /// Which of two pairs: the one of the lower index or of the higher.
  enum class Pick { First, Last };

  stablehlo::ReduceOp op;
  int64_t length = 0;
  /// Which result has the number, and which what comes with it.
  unsigned number = 0;
  bool isGreatest = false;
  /// Of equal numbers (as 0.0 and -0.0 are), which stays, and what with it.
  Pick equalNumber = Pick::First, equalCompanion = Pick::First;

  bool readRegion(unsigned which);
  mlir::Value
  positionOf(Elemental &elemental, mlir::Value extreme, Pick pick,
             llvm::function_ref<Coordinates(mlir::Value)> placeOf) const;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_ARGEXTREME_H
