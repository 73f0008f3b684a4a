// RUN: sinter-opt %s '--cpu-assign-layouts=cpu=x86-64-v4' | FileCheck %s
// RUN: sinter-opt %s '--cpu-assign-layouts=cpu=x86-64-v3' | FileCheck %s --check-prefix=AVX2
// RUN: sinter-opt %s '--cpu-assign-layouts=cpu=x86-64-v4 precision=f32-exact' | FileCheck %s --check-prefix=EXACT
// RUN: sinter-opt %s '--cpu-assign-layouts=cpu=x86-64-v4 disable-patterns=block-channels' | FileCheck %s --check-prefix=OFF

// What stands between two convolutions stays blocked.
// CHECK-LABEL: func.func @main
// CHECK: %[[X:.*]] = cpu.pack %arg0 : (tensor<1x32x8x8xf32>) -> tensor<1x2x8x8x16xf32>
// CHECK: %[[A:.*]] = "cpu.convolution"(%[[X]], %arg1) <{{.*}}fast
// CHECK: %[[M:.*]] = stablehlo.maximum %[[A]], {{.*}} : tensor<1x2x8x8x16xf32>
// CHECK: %[[B:.*]] = "cpu.convolution"(%[[M]], %arg1)
// CHECK: cpu.unpack %[[B]] : (tensor<1x2x8x8x16xf32>) -> tensor<1x32x8x8xf32>
// AVX2: cpu.pack %arg0 : (tensor<1x32x8x8xf32>) -> tensor<1x4x8x8x8xf32>
// EXACT: "cpu.convolution"
// EXACT-NOT: fast
// OFF-NOT: cpu.
func.func @main(%x: tensor<1x32x8x8xf32>, %w: tensor<32x32x3x3xf32>) -> tensor<1x32x8x8xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %zero = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> tensor<1x32x8x8xf32>
  %a = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x32x8x8xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x8x8xf32>
  %m = stablehlo.maximum %a, %zero : tensor<1x32x8x8xf32>
  %b = stablehlo.convolution(%m, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x32x8x8xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x8x8xf32>
  return %b : tensor<1x32x8x8xf32>
}
