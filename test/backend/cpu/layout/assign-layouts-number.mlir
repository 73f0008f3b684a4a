// RUN: sinter-opt %s '--cpu-assign-layouts=cpu=x86-64-v4' | FileCheck %s

// A number that is everywhere stays one, whatever lies beyond the last channel.
// CHECK-LABEL: func.func @main
// CHECK-NOT: cpu.pack {{.*}}x27x
// CHECK: %[[N:.*]] = stablehlo.constant dense<1.060000e+02> : tensor<1x2x8x8x16xf32>
// CHECK: stablehlo.subtract {{.*}}, %[[N]] : tensor<1x2x8x8x16xf32>
func.func @main(%x: tensor<1x32x8x8xf32>, %w: tensor<27x32x3x3xf32>, %v: tensor<32x27x3x3xf32>) -> tensor<1x32x8x8xf32> {
  %z = stablehlo.constant dense<106.0> : tensor<1x27x8x8xf32>
  %a = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x32x8x8xf32>, tensor<27x32x3x3xf32>) -> tensor<1x27x8x8xf32>
  %m = stablehlo.subtract %a, %z : tensor<1x27x8x8xf32>
  %b = stablehlo.convolution(%m, %v) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x27x8x8xf32>, tensor<32x27x3x3xf32>) -> tensor<1x32x8x8xf32>
  return %b : tensor<1x32x8x8xf32>
}
