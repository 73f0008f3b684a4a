//===- UnrankedTypes.h - ranks from exporters' wrapper calls --------------===//
//
//   %y = custom_call @stablehlo.shape_refinement_operand_wrapper(%x, %shape)
//        : (tensor<4xi32>, tensor<1xi64>) -> tensor<*xi32>
//   return %y : tensor<*xi32>
//   ->
//   %y = ... -> tensor<4xi32>
//   return %y : tensor<4xi32>
//
// The wrapper returns its operand, so its result type is known, and with it the
// result types of functions and calls. All other unranked values stay: unknown
// custom calls may have them.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_UNRANKEDTYPES_H
#define SINTER_FORMATS_STABLEHLO_UNRANKEDTYPES_H

#include "mlir/IR/BuiltinOps.h"

namespace sinter {

/// Fails with an error if the wrapper's type contradicts its operand's.
mlir::LogicalResult rankWrappers(mlir::ModuleOp module);

} // namespace sinter

#endif // SINTER_FORMATS_STABLEHLO_UNRANKEDTYPES_H
