// RUN: not sinter run %s --backend interpreter 2>&1 | FileCheck %s
// RUN: not sinter run %s --backend cpu 2>&1 | FileCheck %s
// CHECK: the operands or results are not those of the routine

func.func @main() -> tensor<i32> {
  %0 = stablehlo.constant dense<1.0> : tensor<3x2xf32>
  %1:2 = stablehlo.custom_call @lapack_spotrf_ffi(%0) : (tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<i32>)
  return %1#1 : tensor<i32>
}
