// RUN: split-file %s %t
// RUN: sinter optimize %t/wrapper.mlir -o %t/out.mlir --force && FileCheck %s --input-file %t/out.mlir
// RUN: not sinter optimize %t/other-type.mlir -o %t/out.mlir --force 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not sinter run %t/unknown.mlir --input random 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sinter test %t/values.mlir --backend interpreter
// RUN: sinter test %t/values.mlir --backend cpu
// Covers: formats/stablehlo UnrankedTypes

//--- wrapper.mlir

// CHECK-LABEL: func.func @mark(%arg0: tensor<4xi32>) -> tensor<4xi32>
// CHECK-NEXT: return %arg0 : tensor<4xi32>
func.func @mark(%arg0: tensor<4xi32>) -> tensor<*xi32> {
  %0 = stablehlo.constant dense<[4]> : tensor<1xi64>
  %1 = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%arg0, %0) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<4xi32>, tensor<1xi64>) -> tensor<*xi32>
  func.return %1 : tensor<*xi32>
}

// Through a call that is marked again.
// CHECK-LABEL: func.func @called(%arg0: tensor<4xi32>) -> tensor<4xi32>
// CHECK-NEXT: return %arg0 : tensor<4xi32>
func.func @called(%arg0: tensor<4xi32>) -> tensor<*xi32> {
  %s = stablehlo.constant dense<[4]> : tensor<1xi64>
  %0 = func.call @mark(%arg0) : (tensor<4xi32>) -> tensor<*xi32>
  %1 = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%0, %s) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<*xi32>, tensor<1xi64>) -> tensor<*xi32>
  func.return %1 : tensor<*xi32>
}

//--- other-type.mlir

// OTHER: gives 'tensor<*xf32>' where it takes 'tensor<4xi32>'
func.func @main(%arg0: tensor<4xi32>) -> tensor<*xf32> {
  %0 = stablehlo.constant dense<[4]> : tensor<1xi64>
  %1 = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%arg0, %0) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<4xi32>, tensor<1xi64>) -> tensor<*xf32>
  func.return %1 : tensor<*xf32>
}

//--- unknown.mlir

// UNKNOWN: @main takes or gives tensor<*xf32>
func.func @main(%arg0: tensor<4xf32>) -> tensor<*xf32> {
  %1 = stablehlo.custom_call @foo(%arg0) : (tensor<4xf32>) -> tensor<*xf32>
  func.return %1 : tensor<*xf32>
}

//--- values.mlir

func.func @main() {
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %s = stablehlo.constant dense<[3]> : tensor<1xi64>
  %0 = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%x, %s) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<3xi32>, tensor<1xi64>) -> tensor<*xi32>
  %1 = func.call @same(%x) : (tensor<3xi32>) -> tensor<*xi32>
  %2 = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%1, %s) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<*xi32>, tensor<1xi64>) -> tensor<3xi32>
  check.expect_eq_const %2, dense<[1, 2, 3]> : tensor<3xi32>
  return
}
func.func private @same(%x: tensor<3xi32>) -> tensor<*xi32> {
  %s = stablehlo.constant dense<[3]> : tensor<1xi64>
  %0 = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%x, %s) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<3xi32>, tensor<1xi64>) -> tensor<*xi32>
  return %0 : tensor<*xi32>
}
