//===- UnrankedTypes.h - ranks that a mark of exporters gives -------------===//
//
//   %y = custom_call @stablehlo.shape_refinement_operand_wrapper(%x, %shape)
//        : (tensor<4xi32>, tensor<1xi64>) -> tensor<*xi32>
//   return %y : tensor<*xi32>
//   ->
//   %y = ... -> tensor<4xi32>
//   return %y : tensor<4xi32>
//
// The mark gives what it takes, so that its type is known, and with it that of
// what functions return and calls give. All else that has no rank stays as it
// is: a custom call that we know nothing of may have such values.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_UNRANKEDTYPES_H
#define SINTER_FORMATS_STABLEHLO_UNRANKEDTYPES_H

#include "mlir/IR/BuiltinOps.h"

namespace sinter {

/// Fails after an error where the mark's type contradicts what it takes.
mlir::LogicalResult rankWrappers(mlir::ModuleOp module);

} // namespace sinter

#endif // SINTER_FORMATS_STABLEHLO_UNRANKEDTYPES_H
