//===- Recompute.h - what the backward pass computes again ----------------===//
//
//   y = f(x)                      y = f(x)
//   z = g(y)                ->    z = g(y)
//   dy = g'(y, dz)                x', dz' = optimization_barrier(x, dz)
//                                 y' = f(x')
//                                 dy = g'(y', dz')
//
// A value that is read on the way back lives until then, unless it is computed
// again from what lives anyway. The way forward is cut into segments; what
// crosses a cut is kept, and what is inside of one is computed again as soon as
// the way back comes to it (Chen et al. 2016, "Training deep nets with
// sublinear memory cost", section 4). The barrier keeps the two apart.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_AUTODIFF_RECOMPUTE_H
#define SINTER_AUTODIFF_RECOMPUTE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace sinter::autodiff {

/// Which values are computed again.
struct RecomputePlan {
  /// Behind so many bytes of values that are read on the way back a segment
  /// ends; 0: in front of and behind each product, so that none of these is
  /// computed twice.
  double segmentBytes = 0;
  /// The segments in front of this share of those bytes are computed again
  /// with their products, what comes behind without them.
  double share = 0;

  static RecomputePlan nothing() { return {0, -1}; }
};

/// What a plan costs and gives, by the graph alone.
struct RecomputeEstimate {
  RecomputePlan plan;
  /// Arithmetic operations that are done twice.
  double operations = 0;
  /// The largest sum of bytes of values that live at one time, each counted on
  /// its own.
  double peakBytes = 0;
};

/// Lets what is behind \p boundary, the last operation of the way forward, in
/// \p function's one block compute again as \p plan says. Gives how many
/// arithmetic operations that adds. Takes time in proportion to the graph.
double recompute(mlir::func::FuncOp function, mlir::Operation *boundary,
                 const RecomputePlan &plan);

/// The largest sum of bytes of values of \p function's block that live at one
/// time, arguments and results with them.
double peakBytes(mlir::func::FuncOp function);

/// Plans for \p function, the cheapest first, each of which needs less memory
/// than all in front of it.
std::vector<RecomputeEstimate> recomputePlans(mlir::func::FuncOp function,
                                              mlir::Operation *boundary);

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_RECOMPUTE_H
