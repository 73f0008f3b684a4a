//===- ArgMinMax.h - reductions to the position of an extreme -------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_ARGMINMAX_H
#define SINTER_BACKEND_CPU_EMIT_ARGMINMAX_H

#include "backend/cpu/emit/Elemental.h"

namespace sinter::cpu {

/// A reduction of pairs, a number and what comes with it (its index, mostly),
/// that keeps the pair of the greatest or least number. Frameworks write it in
/// many ways: what the region does is found by running it on all the orders
/// that two pairs may have.
class ArgMinMax {
public:
  /// Nothing if \p op is something else.
  static std::optional<ArgMinMax> of(stablehlo::ReduceOp op);

  /// The results, from the initial values \p start and the elements at
  /// \p coordinatesOf each index. Two passes over the elements, which LLVM
  /// vectorises: the minimum or maximum, then its index. What a region does
  /// with NaN is left to \p inOrder, which goes over the elements in order.
  llvm::SmallVector<mlir::Value>
  emit(Elemental &elemental, mlir::ValueRange start,
       llvm::function_ref<Coordinates(mlir::Value)> coordinatesOf,
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
  positionOf(Elemental &elemental, mlir::Value minOrMax, Pick pick,
             llvm::function_ref<Coordinates(mlir::Value)> coordinatesOf) const;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_ARGMINMAX_H
