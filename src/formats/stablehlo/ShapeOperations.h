//===- ShapeOperations.h - shape computations of other dialects -----------===//
//
//   %n = tensor.dim %x, %c0 : tensor<?x4xf32>
//   %m = arith.muli %n, %c4 : index
//   %s = tensor.from_elements %m
//   ->
//   %n = stablehlo.get_dimension_size %x, dim = 0
//   %m = stablehlo.multiply %n, %c4
//   %s = stablehlo.concatenate %m
//
// Exporters compute shapes in the dialects `arith`, `shape` and `tensor` of
// MLIR. Operations with an exact counterpart are replaced by it; indices and
// scalars become tensors, indices with 64 bits. Operands and results of
// functions, calls and loops keep their types: there, indices are converted,
// which is `arith.index_cast` in a file.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_SHAPEOPERATIONS_H
#define SINTER_FORMATS_STABLEHLO_SHAPEOPERATIONS_H

#include "mlir/IR/BuiltinOps.h"

#include <string_view>

namespace sinter {

/// Whether the text may use those dialects.
bool mentionsShapeDialects(std::string_view text);

/// Loads them into the context.
void loadShapeDialects(mlir::MLIRContext *context);

/// Replaces the operations of those dialects. Fails with an error that names
/// the first one without a counterpart.
mlir::LogicalResult translateShapeOperations(mlir::ModuleOp module);

/// Whether the module has a conversion from or to indices.
bool hasIndexCasts(mlir::ModuleOp module);

/// The inverse for what StableHLO lacks: a conversion from or to indices
/// becomes arith.index_cast.
void writeIndexCasts(mlir::ModuleOp module);

} // namespace sinter

#endif // SINTER_FORMATS_STABLEHLO_SHAPEOPERATIONS_H
