// RUN: split-file %s %t
// RUN: sinter optimize %t/signature.mlir -o %t/out.mlir --force && FileCheck %s --input-file %t/out.mlir
// RUN: sinter optimize %t/out.mlir -o %t/again.mlir --force && FileCheck %s --input-file %t/again.mlir
// RUN: sinter test %t/values.mlir --backend interpreter
// RUN: sinter test %t/values.mlir --backend cpu
// RUN: not sinter convert %t/signature.mlir --function turned -o %t/out.mlir.bc --force 2>&1 | FileCheck %s --check-prefix=ARTIFACT

// What a function takes and gives stays an index.

//--- signature.mlir

// CHECK-LABEL: func.func @given(%arg0: tensor<?xf32>, %arg1: tensor<2xindex>) -> tensor<2xindex>
// CHECK-NEXT: return %arg1 : tensor<2xindex>
func.func @given(%x: tensor<?xf32>, %shape: tensor<2xindex>) -> tensor<2xindex> {
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %1 = shape.shape_of %0 : tensor<?x?xf32> -> tensor<2xindex>
  return %1 : tensor<2xindex>
}

// CHECK-LABEL: func.func @own(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32>
// CHECK-NEXT: return %arg0
func.func @own(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = shape.shape_of %x : tensor<?x3xf32> -> tensor<2xindex>
  %1 = stablehlo.dynamic_reshape %x, %0 : (tensor<?x3xf32>, tensor<2xindex>) -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}

// Computed from what is taken.
// CHECK-LABEL: func.func @turned(%arg0: tensor<2xindex>) -> tensor<2xindex>
// CHECK: %[[I:.*]] = arith.index_cast %arg0 : tensor<2xindex> to tensor<2xi64>
// CHECK: %[[R:.*]] = arith.index_cast %{{.*}} : tensor<2xi64> to tensor<2xindex>
// CHECK: return %[[R]] : tensor<2xindex>
func.func @turned(%s: tensor<2xindex>) -> tensor<2xindex> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = shape.get_extent %s, %c0 : tensor<2xindex>, index -> index
  %b = shape.get_extent %s, %c1 : tensor<2xindex>, index -> index
  %r = tensor.from_elements %b, %a : tensor<2xindex>
  return %r : tensor<2xindex>
}

// CHECK-LABEL: func.func @constant() -> tensor<2xindex>
// CHECK: %[[C:.*]] = stablehlo.constant dense<[4, 7]> : tensor<2xi64>
// CHECK: %[[R:.*]] = arith.index_cast %[[C]] : tensor<2xi64> to tensor<2xindex>
// CHECK: return %[[R]]
func.func @constant() -> tensor<2xindex> {
  %s = arith.constant dense<[4, 7]> : tensor<2xindex>
  return %s : tensor<2xindex>
}

// ARTIFACT: indices that are converted, for which portable artifacts have no operation

//--- values.mlir

func.func @main() {
  %x = stablehlo.constant dense<[4, 7]> : tensor<2xi64>
  %s = arith.index_cast %x : tensor<2xi64> to tensor<2xindex>
  %r = func.call @turned(%s) : (tensor<2xindex>) -> tensor<2xindex>
  %y = arith.index_cast %r : tensor<2xindex> to tensor<2xi32>
  check.expect_eq_const %y, dense<[7, 4]> : tensor<2xi32>
  return
}
func.func private @turned(%s: tensor<2xindex>) -> tensor<2xindex> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = shape.get_extent %s, %c0 : tensor<2xindex>, index -> index
  %b = shape.get_extent %s, %c1 : tensor<2xindex>, index -> index
  %r = tensor.from_elements %b, %a : tensor<2xindex>
  return %r : tensor<2xindex>
}
