// RUN: sinter-opt %s '--cpu-assign-layouts=cpu=x86-64-v4' '--cpu-pack-weights=cpu=x86-64-v4' | FileCheck %s

// Weights of an argument are packed at every run, and Winograd's method is left
// out; constants are packed as the program is made.
// CHECK-LABEL: func.func @main
// CHECK: %[[C:.*]] = stablehlo.constant
// CHECK: %[[W:.*]] = stablehlo.reshape {{.*}} -> tensor<9216xf32>
// CHECK: "cpu.convolution"(%{{.*}}, %[[W]]) <{
// CHECK-NOT: fast
// CHECK-SAME: packed_from = array<i64: 32, 32, 3, 3>
// CHECK: "cpu.convolution"(%{{.*}}, %[[C]]) <{
// CHECK-NOT: packed_from
// CHECK-SAME: fast
func.func @main(%x: tensor<1x32x8x8xf32>, %w: tensor<32x32x3x3xf32>) -> tensor<1x32x4x4xf32> {
  %c = stablehlo.constant dense<0.1> : tensor<32x32x3x3xf32>
  %a = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x32x8x8xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x6x6xf32>
  %b = stablehlo.convolution(%a, %c) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x32x6x6xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x4x4xf32>
  return %b : tensor<1x32x4x4xf32>
}
