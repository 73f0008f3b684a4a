//===- OpenResize.h - resize along a dimension of unknown size ------------===//
//
// What DecomposeResize computes while it compiles, computed when it runs: which
// elements each place of the result is made of, and with what weights.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_NN_OPENRESIZE_H
#define SINTER_GRAPH_NN_OPENRESIZE_H

#include "graph/nn/TensorBuilder.h"

namespace sinter::nn {

/// The attributes of `nn.resize` that say how a place is computed.
struct ResizeForm {
  llvm::StringRef mode, coordinates, nearest;
  double cubicCoefficient = -0.75;
  bool excludesOutside = false, isAntialiased = false;
};

/// One dimension: its sizes, how they relate, and the part that is looked at.
struct OpenAxis {
  Size in, out;
  /// The scale, as a number or as a scalar of f64; where neither is there it is
  /// out / in (divided by the extent of the part).
  std::optional<double> scale;
  mlir::Value openScale;
  double roiStart = 0, roiEnd = 1;
};

/// Whether resizeAlongOpen has a form: the number of weights must be known.
bool hasOpenForm(const ResizeForm &form, const OpenAxis &axis);

/// Resizes \p x, of floats, along \p dimension. \p outside, an i1 tensor<?>, is
/// set where the extrapolation value belongs, else null.
mlir::Value resizeAlongOpen(TensorBuilder &emit, const ResizeForm &form,
                            const OpenAxis &axis, mlir::Value x,
                            int64_t dimension, mlir::Value &outside);

/// The size of the result by a scale that is given: floor(in * extent * scale),
/// the product rounded to f32.
Size scaledSize(TensorBuilder &emit, const OpenAxis &axis);

} // namespace sinter::nn

#endif // SINTER_GRAPH_NN_OPENRESIZE_H
