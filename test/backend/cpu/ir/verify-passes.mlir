// RUN: sinter run %s --input random --no-cache --verify-numerics 2>&1 | FileCheck %s
// RUN: sinter run %s --input random --no-cache --print-ir-after cpu-form-kernels 2>&1 | FileCheck %s --check-prefix=PRINT
// RUN: sinter run %s --input random --no-cache --disable-patterns block-channels,join-producer --print-ir-after cpu-form-kernels 2>&1 | FileCheck %s --check-prefix=OFF
// RUN: sinter run %s --input random --no-cache --disable-patterns all
// RUN: not sinter run %s --input random --no-cache --disable-patterns no-such 2>&1 | FileCheck %s --check-prefix=WRONG
// Covers: backend/cpu/ir Decompositions
// Covers: interpreter Decomposed

// The oracle runs what each pass of the backend made, kernels included.
// CHECK: --verify-numerics: preparing for the CPU: all agree
// CHECK-NOT: nothing was compared
// PRINT: // after cpu-form-kernels
// PRINT: "cpu.convolution"
// OFF: // after cpu-form-kernels
// OFF-NOT: cpu.convolution
// WRONG: there is no pattern 'no-such'
func.func @main(%x: tensor<1x32x8x8xf32>) -> tensor<1x32x4x4xf32> {
  %w = stablehlo.constant dense<0.05> : tensor<32x32x3x3xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x32x8x8xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x8x8xf32>
  %z = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<1x32x8x8xf32>
  %m = stablehlo.maximum %a, %z : tensor<1x32x8x8xf32>
  %n = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %p = "stablehlo.reduce_window"(%m, %n) ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %0 = stablehlo.maximum %l, %r : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) {window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}
    : (tensor<1x32x8x8xf32>, tensor<f32>) -> tensor<1x32x4x4xf32>
  return %p : tensor<1x32x4x4xf32>
}
