//===- Boxes.h - helpers for operators on boxes ---------------------------===//

#ifndef SINTER_FORMATS_PADDLE_OPS_BOXES_H
#define SINTER_FORMATS_PADDLE_OPS_BOXES_H

#include "formats/import/Building.h"
#include "formats/import/Suppression.h"
#include "formats/paddle/OperatorContext.h"

namespace sinter::paddle {

using formats::BoxEdges;

/// Floating-point arithmetic with broadcasting.
struct BoxArithmetic {
  OperatorContext &op;
  mlir::Type element;

  mlir::Value number(double value) { return op.scalar(element, value); }
  mlir::Value add(mlir::Value a, mlir::Value b) {
    return op.binary<stablehlo::AddOp>(a, b);
  }
  mlir::Value sub(mlir::Value a, mlir::Value b) {
    return op.binary<stablehlo::SubtractOp>(a, b);
  }
  mlir::Value mul(mlir::Value a, mlir::Value b) {
    return op.binary<stablehlo::MulOp>(a, b);
  }
  mlir::Value div(mlir::Value a, mlir::Value b) {
    return op.binary<stablehlo::DivOp>(a, b);
  }
  mlir::Value max(mlir::Value a, mlir::Value b) {
    return op.binary<stablehlo::MaxOp>(a, b);
  }
  mlir::Value min(mlir::Value a, mlir::Value b) {
    return op.binary<stablehlo::MinOp>(a, b);
  }
  mlir::Value add(mlir::Value a, double b) {
    return b == 0 ? a : add(a, number(b));
  }
  mlir::Value sub(mlir::Value a, double b) {
    return b == 0 ? a : sub(a, number(b));
  }
  mlir::Value mul(mlir::Value a, double b) {
    return b == 1 ? a : mul(a, number(b));
  }
  mlir::Value exp(mlir::Value a) { return op.op<stablehlo::ExpOp>(a); }
  mlir::Value sigmoid(mlir::Value a) { return op.op<stablehlo::LogisticOp>(a); }
  /// Slice \p index along the last dimension, which becomes 1.
  mlir::Value part(mlir::Value a, int64_t index) {
    return a ? op.sliceAxis(a, op.rank(a) - 1, index, index + 1)
             : mlir::Value();
  }
  mlir::Value concatenate(llvm::ArrayRef<mlir::Value> parts) {
    return parts.front() ? op.concatenate(mlir::ValueRange(parts),
                                          op.rank(parts.front()) - 1)
                         : mlir::Value();
  }
};

/// The edges [...] of boxes [..., 4]: x and y of a corner, then of the one
/// opposite.
BoxEdges edgesOf(OperatorContext &op, mlir::Value boxes);

/// Intersection over union of boxes, which broadcast; 0 if they do not overlap.
/// \p more is added to extents: 1 if corners are pixels. The area of a box with
/// swapped edges is 0.
mlir::Value jaccard(BoxArithmetic &a, const BoxEdges &one, const BoxEdges &all,
                    double more);

/// Areas of boxes as in jaccard().
mlir::Value boxAreas(BoxArithmetic &a, const BoxEdges &boxes, double more);

/// Suppresses boxes that overlap a box of their group by more than \p threshold
/// (formats/import/Suppression.h). Fails for a threshold that decreases with
/// each box by the factor \p eta, as it does above one half.
mlir::Value strikeOverlaps(BoxArithmetic &a, const BoxEdges &boxes,
                           mlir::Value remaining, double threshold, double eta,
                           double more);

/// The image index of each of \p count rows, given the number of rows of each
/// image, \p counts [images], as tensor<?xi64>.
mlir::Value imagesOf(OperatorContext &op, const Dim &count, mlir::Value counts);

/// Whether an operator that lacks a size is deferred until it is known. In a
/// graph that runs, a size that is still dynamic follows from values.
bool waitsForSizes(const OperatorContext &op);

/// The \p most largest (or smallest) elements along \p axis, at most all, and
/// their indices, sorted; all for -1.
std::pair<mlir::Value, mlir::Value> sortAlong(OperatorContext &op,
                                              mlir::Value value, int64_t axis,
                                              int64_t most, bool isLargest);

/// The coordinates of the elements that are set, [found, rank].
mlir::Value rowsOf(OperatorContext &op, mlir::Value flags);

/// The number of set elements along the last dimension, as i32.
mlir::Value countLast(OperatorContext &op, mlir::Value flags);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_OPS_BOXES_H
