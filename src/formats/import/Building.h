//===- Building.h - pieces that several operators are built from ----------===//

#ifndef SINTER_FORMATS_IMPORT_BUILDING_H
#define SINTER_FORMATS_IMPORT_BUILDING_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// select, with the three broadcast together.
mlir::Value select(GraphBuilder &builder, mlir::Value predicate,
                   mlir::Value onTrue, mlir::Value onFalse);

/// Counts up from zero along \p axis of a tensor of sizes \p dims.
mlir::Value iota(GraphBuilder &builder, llvm::ArrayRef<Dim> dims, int64_t axis,
                 mlir::Type element);

/// A size as a scalar of \p element.
mlir::Value sizeScalar(GraphBuilder &builder, const Dim &dim,
                       mlir::Type element);

/// Indices as i64 in which a negative one counts from the end of \p size
/// elements.
mlir::Value wrapNegative(GraphBuilder &builder, mlir::Value indices,
                         const Dim &size);

/// Whether the indices that are known all lie in [-size, size) of dimension
/// \p dimension of \p data; fails for the first that does not. Indices are a
/// tensor whose element i, i + step, ... speak of that dimension.
bool indicesFit(GraphBuilder &builder, mlir::Value indices, mlir::Value data,
                int64_t dimension, int64_t first = 0, int64_t step = 1);

/// Elements along a dimension of which each is computed by itself, at most.
inline constexpr int64_t longestTable = int64_t(1) << 27;

/// A constant of \p values, rounded to \p element, a floating-point type.
mlir::Value numbers(GraphBuilder &builder, mlir::Type element,
                    llvm::ArrayRef<double> values,
                    llvm::ArrayRef<int64_t> shape);

/// A constant of i64.
mlir::Value integers(GraphBuilder &builder, llvm::ArrayRef<int64_t> values,
                     llvm::ArrayRef<int64_t> shape);

/// The same in the shape of \p like.
mlir::Value integersLike(GraphBuilder &builder, llvm::ArrayRef<int64_t> values,
                         mlir::Value like);

/// \p value in f32 if it is of floats narrower than that: what one operator of
/// a file computes by several operations (a mean's sum, then its division) is
/// rounded when all is done. Null for null.
mlir::Value widened(GraphBuilder &builder, mlir::Value value);

/// \p value clamped to what the floating-point type \p element can hold; NaN
/// stays.
mlir::Value saturate(GraphBuilder &builder, mlir::Value value,
                     mlir::Type element);

/// How an update is combined with what is in its place.
enum class Combine { Replace, Add, Multiply, Max, Min };

/// stablehlo.scatter of one tensor.
mlir::Value scatter(GraphBuilder &builder, mlir::Value operand,
                    mlir::Value indices, mlir::Value updates,
                    stablehlo::ScatterDimensionNumbersAttr numbers,
                    Combine combine);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_BUILDING_H
