//===- Building.h - pieces that several operators are built from ----------===//

#ifndef SINTER_FORMATS_ONNX_OPS_BUILDING_H
#define SINTER_FORMATS_ONNX_OPS_BUILDING_H

#include "formats/onnx/NodeContext.h"

namespace sinter::onnx {

/// select, with the three broadcast together.
mlir::Value select(NodeContext &node, mlir::Value predicate, mlir::Value onTrue,
                   mlir::Value onFalse);

/// Counts up from zero along \p axis of a tensor of sizes \p dims.
mlir::Value iota(NodeContext &node, llvm::ArrayRef<Dim> dims, int64_t axis,
                 mlir::Type element);

/// A size as a scalar of \p element.
mlir::Value sizeScalar(NodeContext &node, const Dim &dim, mlir::Type element);

/// Indices as i64 in which a negative one counts from the end of \p size
/// elements.
mlir::Value wrapNegative(NodeContext &node, mlir::Value indices,
                         const Dim &size);

/// Whether the indices that are known all lie in [-size, size) of dimension
/// \p dimension of \p data; fails for the first that does not. Indices are a
/// tensor whose element i, i + step, ... speak of that dimension.
bool indicesFit(NodeContext &node, mlir::Value indices, mlir::Value data,
                int64_t dimension, int64_t first = 0, int64_t step = 1);

/// Elements along a dimension of which each is computed by itself, at most.
inline constexpr int64_t longestTable = int64_t(1) << 27;

/// A constant of \p values, rounded to \p element (a floating-point type or
/// i64).
mlir::Value numbers(NodeContext &node, mlir::Type element,
                    llvm::ArrayRef<double> values,
                    llvm::ArrayRef<int64_t> shape);

/// The same of i64, in the shape of \p like.
mlir::Value integersLike(NodeContext &node, llvm::ArrayRef<int64_t> values,
                         mlir::Value like);

/// An input of one element, as a scalar.
mlir::Value scalarInput(NodeContext &node, int64_t input);

/// How an update is combined with what is in its place.
enum class Combine { Replace, Add, Multiply, Max, Min };
/// The value of attribute `reduction`; fails if it is another word.
std::optional<Combine> readCombine(NodeContext &node);

/// stablehlo.scatter of one tensor.
mlir::Value scatter(NodeContext &node, mlir::Value operand, mlir::Value indices,
                    mlir::Value updates,
                    stablehlo::ScatterDimensionNumbersAttr numbers,
                    Combine combine);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_BUILDING_H
