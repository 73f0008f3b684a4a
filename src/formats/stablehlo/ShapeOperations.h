//===- ShapeOperations.h - sizes that other dialects compute --------------===//
//
//   %n = tensor.dim %x, %c0 : tensor<?x4xf32>    %n =
//   stablehlo.get_dimension_size %m = arith.muli %n, %c4 : index          -> %m
//   = stablehlo.multiply %s = tensor.from_elements %m                 %s =
//   stablehlo.concatenate
//
// Exporters compute shapes in the dialects `arith`, `shape` and `tensor` of
// MLIR. What has an exact counterpart becomes that; an index and a scalar
// become tensors, an index of 64 bits.
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

} // namespace sinter

#endif // SINTER_FORMATS_STABLEHLO_SHAPEOPERATIONS_H
