// RUN: sinter convert %s -o %t.mlir.bc
// RUN: sinter convert %t.mlir.bc -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: sinter run %t.mlir.bc --shape arg0:3x2 --input random --backend interpreter | FileCheck %s --check-prefix=SUMS
// RUN: sinter run %t.mlir.bc --shape arg0:3x2 --input random --backend cpu --no-cache | FileCheck %s --check-prefix=SUMS

// What is decomposed once its sizes are known goes into artifacts, and out of them.
// CHECK: chlo.scan
// CHECK-SAME: reverse
// SUMS: {{^ *}}3 3 2 2 1 1
func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
  %is = stablehlo.compare EQ, %x, %x : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xi1>
  %ones = stablehlo.convert %is : (tensor<?x2xi1>) -> tensor<?x2xf32>
  %all, %last = chlo.scan(%ones) inits(%zero) dimension=0 attributes {is_reverse = true} {
  ^bb0(%value: tensor<2xf32>, %sum: tensor<2xf32>):
    %next = stablehlo.add %value, %sum : tensor<2xf32>
    stablehlo.return %next, %next : tensor<2xf32>, tensor<2xf32>
  } : (tensor<?x2xf32>, tensor<2xf32>) -> (tensor<?x2xf32>, tensor<2xf32>)
  return %all : tensor<?x2xf32>
}
