// RUN: sinter-opt %s --cpu-absorb-transposes | FileCheck %s
// RUN: sinter-opt %s --cpu-absorb-transposes --cpu-absorb-transposes | FileCheck %s
// RUN: sinter-opt %s '--cpu-absorb-transposes=disable-patterns=absorb-transpose' | FileCheck %s --check-prefix=OFF

// CHECK-LABEL: func.func @main
// CHECK: stablehlo.dot_general %arg0, %arg1, contracting_dims = [0] x [1]
// The free dimensions would be in another order.
// CHECK: %[[T:.*]] = stablehlo.transpose %arg2
// CHECK: stablehlo.dot_general %[[T]], %arg1

// OFF: stablehlo.transpose
// OFF: stablehlo.dot_general {{.*}} contracting_dims = [1] x [0]
func.func @main(%x: tensor<8x4xf32>, %w: tensor<6x8xf32>, %y: tensor<3x8x4xf32>)
    -> (tensor<4x6xf32>, tensor<4x3x6xf32>) {
  %xt = stablehlo.transpose %x, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %wt = stablehlo.transpose %w, dims = [1, 0] : (tensor<6x8xf32>) -> tensor<8x6xf32>
  %0 = stablehlo.dot_general %xt, %wt, contracting_dims = [1] x [0]
    : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %yt = stablehlo.transpose %y, dims = [2, 0, 1] : (tensor<3x8x4xf32>) -> tensor<4x3x8xf32>
  %1 = stablehlo.dot_general %yt, %w, contracting_dims = [2] x [1]
    : (tensor<4x3x8xf32>, tensor<6x8xf32>) -> tensor<4x3x6xf32>
  return %0, %1 : tensor<4x6xf32>, tensor<4x3x6xf32>
}
