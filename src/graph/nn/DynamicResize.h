//===- DynamicResize.h - resize along a dynamic dimension -----------------===//
//
// Computes at run time what DecomposeResize computes at compile time: which
// elements each element of the result combines, and with which weights.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_NN_DYNAMICRESIZE_H
#define SINTER_GRAPH_NN_DYNAMICRESIZE_H

#include "graph/nn/TensorBuilder.h"

namespace sinter::nn {

/// The attributes of `nn.resize` that define how an element is computed.
struct ResizeForm {
  llvm::StringRef mode, coordinates, nearest;
  double cubicCoefficient = -0.75;
  bool excludesOutside = false, isAntialiased = false;
};

/// One dimension: its sizes, the scale, and the region that is resized.
struct DynamicAxis {
  Size in, out;
  /// The scale, as a constant or as an f64 scalar; without either it is out /
  /// in (divided by the extent of the region).
  std::optional<double> scale;
  mlir::Value dynamicScale;
  double roiStart = 0, roiEnd = 1;
};

/// Whether resizeAlongDynamic supports this: the number of weights must be
/// static.
bool hasDynamicForm(const ResizeForm &form, const DynamicAxis &axis);

/// Resizes \p x, of floats, along \p dimension. \p outside, an i1 tensor<?>, is
/// set where the extrapolation value is used, else null.
mlir::Value resizeAlongDynamic(TensorBuilder &emit, const ResizeForm &form,
                               const DynamicAxis &axis, mlir::Value x,
                               int64_t dimension, mlir::Value &outside);

/// The size of the result for a given scale: floor(in * extent * scale), the
/// product rounded to f32.
Size scaledSize(TensorBuilder &emit, const DynamicAxis &axis);

} // namespace sinter::nn

#endif // SINTER_GRAPH_NN_DYNAMICRESIZE_H
