//===- Recompute.h - recomputation in the backward pass -------------------===//
//
//   y = f(x)                      y = f(x)
//   z = g(y)                ->    z = g(y)
//   dy = g'(y, dz)                x', dz' = optimization_barrier(x, dz)
//                                 y' = f(x')
//                                 dy = g'(y', dz')
//
// A value that the backward pass uses is live until then, unless it is
// recomputed from values that are live anyway (gradient checkpointing). The
// forward pass is divided into segments; values that cross a boundary are kept,
// and values inside a segment are recomputed when the backward pass comes to it
// (Chen et al. 2016, "Training deep nets with sublinear memory cost", section
// 4). The barrier keeps common subexpression elimination from merging the two.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_AUTODIFF_RECOMPUTE_H
#define SINTER_AUTODIFF_RECOMPUTE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace sinter::autodiff {

/// Which values are recomputed.
struct RecomputePlan {
  /// A segment ends after so many bytes of values that the backward pass uses;
  /// 0: in front of and behind each matmul or convolution, so that none of
  /// these is computed twice.
  double segmentBytes = 0;
  /// The segments in front of this share of those bytes are recomputed with
  /// their matmuls and convolutions, later ones without them.
  double share = 0;

  static RecomputePlan nothing() { return {0, -1}; }
};

/// The cost and the peak memory of a plan, by the graph alone.
struct RecomputeEstimate {
  RecomputePlan plan;
  /// Arithmetic operations that are done twice.
  double operations = 0;
  /// The largest sum of bytes of values that are live at one time, each counted
  /// on its own.
  double peakBytes = 0;
};

/// Makes the operations behind \p boundary, the last operation of the forward
/// pass in \p function's one block, recompute values by \p plan. Returns how
/// many arithmetic operations that adds. Takes time linear in the graph.
double recompute(mlir::func::FuncOp function, mlir::Operation *boundary,
                 const RecomputePlan &plan);

/// The largest sum of bytes of values of \p function's block that are live at
/// one time, arguments and results included.
double peakBytes(mlir::func::FuncOp function);

/// Plans for \p function, the cheapest first, each of which needs less memory
/// than all in front of it.
std::vector<RecomputeEstimate> recomputePlans(mlir::func::FuncOp function,
                                              mlir::Operation *boundary);

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_RECOMPUTE_H
