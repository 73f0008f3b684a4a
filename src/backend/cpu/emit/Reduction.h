//===- Reduction.h - what reductions carry from element to element --------===//

#ifndef SINTER_BACKEND_CPU_EMIT_REDUCTION_H
#define SINTER_BACKEND_CPU_EMIT_REDUCTION_H

#include "backend/cpu/emit/Elemental.h"
#include "backend/cpu/emit/FloatOrder.h"
#include "backend/cpu/emit/WideSum.h"

namespace sinter::cpu {

/// Values that the region of a reduce or reduce_window combines, in the form in
/// which they are carried: as they are, in f32, or as integers in their order.
struct Reduction {
  Elemental &elemental;
  mlir::Region &body;
  /// Elements and what is carried are vectors of neighbours.
  bool asVectors;
  bool reassociate = mayReassociate(body);
  /// The operation on narrow floats that is carried out in f32, rounding once.
  std::optional<llvm::StringRef> wideOperation = {};
  /// What floatMinMax gives, where floats are carried as integers.
  llvm::SmallVector<MinOrMax> minMax = {};

  /// Whether sums or products of floats are what \p body makes: these may be
  /// taken in an order that suits vectors, the same in every run.
  static bool mayReassociate(mlir::Region &body);
  /// The min and max of floats that \p body looks for, one of each input; none
  /// if it does anything else.
  static llvm::SmallVector<MinOrMax> floatMinMax(mlir::Region &body);
  static bool hasComplex(mlir::Region &body);

  /// The type in which result \p i is carried.
  mlir::Type accumulatorType(size_t i) const;
  /// The initial values, as they are carried.
  Values start(mlir::ValueRange initialValues) const;
  /// The element of input \p i, \p tensor, at \p place, as it is carried.
  mlir::Value element(mlir::Value tensor, size_t i,
                      llvm::ArrayRef<Coordinate> place) const;
  /// \p carried and the elements of \p inputs at \p place.
  Values combine(mlir::ValueRange carried, mlir::ValueRange inputs,
                 llvm::ArrayRef<Coordinate> place) const;
  /// \p carried and \p elements, which are as they are carried, too.
  Values combine(mlir::ValueRange carried, mlir::ValueRange elements) const;
  /// The results that \p carried stands for.
  Values finish(mlir::ValueRange carried) const;
};

/// One dimension of a window at one place: which elements it covers.
struct WindowRange {
  mlir::Value first;      ///< Where the window's first element lies.
  mlir::Value begin, end; ///< The window's elements that may lie inside.
  bool mustCheck;         ///< Some of them may lie between the elements.

  /// The part of the window at \p place that lies inside a dimension of \p size
  /// elements; the loop over it needs no test where nothing is base-dilated.
  static WindowRange of(KernelBuilder &code, mlir::Value place, Dim size,
                        const stablehlo::WindowDimension &window);
};

/// Whether windows of \p op reach beyond its inputs, and what they see there
/// changes the result.
bool seesPadding(stablehlo::ReduceWindowOp op);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_REDUCTION_H
