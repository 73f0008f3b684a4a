//===- Building.h - pieces that several operators are built from ----------===//

#ifndef SINTER_FORMATS_IMPORT_BUILDING_H
#define SINTER_FORMATS_IMPORT_BUILDING_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// stablehlo.select with its three operands broadcast together.
mlir::Value select(GraphBuilder &builder, mlir::Value predicate,
                   mlir::Value onTrue, mlir::Value onFalse);

/// A tensor of shape \p dims whose elements are their index along \p axis.
mlir::Value iota(GraphBuilder &builder, llvm::ArrayRef<Dim> dims, int64_t axis,
                 mlir::Type element);

/// A size as a scalar of type \p element.
mlir::Value sizeScalar(GraphBuilder &builder, const Dim &dim,
                       mlir::Type element);

/// A dimension of an operand.
struct OperandDim {
  mlir::Value tensor;
  int64_t dimension;
  /// What the operand is, for messages.
  llvm::StringRef name;
};
/// Requires that \p a compares with \p b in the given direction (LE or EQ).
/// Fails if that is known to be false; if it is known only at run time, the
/// graph checks it then.
void requireSize(GraphBuilder &builder, OperandDim a, OperandDim b,
                 stablehlo::ComparisonDirection direction =
                     stablehlo::ComparisonDirection::EQ);

/// Indices as i64 in which a negative one counts from the end of \p size
/// elements.
mlir::Value wrapNegative(GraphBuilder &builder, mlir::Value indices,
                         const Dim &size);

/// Whether all known indices lie in [-size, size) of dimension \p dimension of
/// \p data; fails for the first that does not. Elements i, i + step, ... of
/// \p indices index that dimension.
bool indicesFit(GraphBuilder &builder, mlir::Value indices, mlir::Value data,
                int64_t dimension, int64_t first = 0, int64_t step = 1);

/// Maximum number of elements along a dimension that are each computed by
/// themselves.
inline constexpr int64_t longestTable = int64_t(1) << 27;

/// A constant of \p values, rounded to \p element, a floating-point type.
mlir::Value numbers(GraphBuilder &builder, mlir::Type element,
                    llvm::ArrayRef<double> values,
                    llvm::ArrayRef<int64_t> shape);

/// A constant of i64.
mlir::Value integers(GraphBuilder &builder, llvm::ArrayRef<int64_t> values,
                     llvm::ArrayRef<int64_t> shape);

/// The same in the shape of the type \p like.
mlir::Value integersLike(GraphBuilder &builder, llvm::ArrayRef<int64_t> values,
                         mlir::Value like);

/// \p value converted to f32 if its element type is a narrower float. An
/// operator that becomes several operations (a mean: sum, then division) rounds
/// only once, at the end. Null for null.
mlir::Value widened(GraphBuilder &builder, mlir::Value value);

/// \p value clamped to the finite range of the floating-point type \p element;
/// NaN stays.
mlir::Value saturate(GraphBuilder &builder, mlir::Value value,
                     mlir::Type element);

/// How an update is combined with the element that it updates.
enum class Combine { Replace, Add, Multiply, Max, Min };

/// stablehlo.scatter of one tensor.
mlir::Value scatter(GraphBuilder &builder, mlir::Value operand,
                    mlir::Value indices, mlir::Value updates,
                    stablehlo::ScatterDimensionNumbersAttr numbers,
                    Combine combine);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_BUILDING_H
