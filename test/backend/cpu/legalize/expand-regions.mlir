// RUN: sinter-opt %s --cpu-expand-regions | FileCheck %s

// A region of scalars is part of a kernel; one that calls the process is not.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.reduce(
// CHECK: stablehlo.while
// CHECK: cpu.host_call "f"
// CHECK-NOT: "stablehlo.map"
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = "stablehlo.map"(%x) ({
  ^bb0(%a: tensor<f32>):
    %c = cpu.host_call "f"(%a) with "" : (tensor<f32>) -> tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) {dimensions = array<i64: 0, 1>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0, %1 : tensor<4xf32>, tensor<4x8xf32>
}
