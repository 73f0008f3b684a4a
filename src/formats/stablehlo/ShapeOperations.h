//===- ShapeOperations.h - sizes that other dialects compute --------------===//
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
// MLIR. What has an exact counterpart becomes that; an index and a scalar
// become tensors, an index of 64 bits. What functions, calls and loops take and
// give keeps its type: there, indices are converted, which is
// `arith.index_cast` in a file.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_SHAPEOPERATIONS_H
#define SINTER_FORMATS_STABLEHLO_SHAPEOPERATIONS_H

#include "mlir/IR/BuiltinOps.h"

#include <string_view>

namespace sinter {

/// Whether the text may use those dialects.
bool mentionsShapeDialects(std::string_view text);

/// Makes the context read them.
void loadShapeDialects(mlir::MLIRContext *context);

/// Replaces the operations of those dialects. Fails after an error that names
/// the first that has no counterpart.
mlir::LogicalResult translateShapeOperations(mlir::ModuleOp module);

/// Whether there is a conversion from or to indices.
bool hasIndexCasts(mlir::ModuleOp module);

/// The other way for what StableHLO has no word for: a conversion from or to
/// indices becomes arith.index_cast.
void writeIndexCasts(mlir::ModuleOp module);

} // namespace sinter

#endif // SINTER_FORMATS_STABLEHLO_SHAPEOPERATIONS_H
