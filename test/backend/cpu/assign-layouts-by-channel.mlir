// RUN: sinter-opt %s -split-input-file '--cpu-assign-layouts=cpu=x86-64-v4' | FileCheck %s

// What keeps channels apart is computed on blocks, whatever it is.
// CHECK-LABEL: func.func @main({{.*}}-> (tensor<1x32x4x4xf32>, tensor<1x32xf32>)
// CHECK: %[[A:.*]] = "cpu.convolution"
// CHECK: "stablehlo.reduce_window"(%[[A]]
// CHECK-SAME: window_dimensions = array<i64: 1, 1, 2, 2, 1>
// CHECK: (tensor<1x2x8x8x16xf32>, tensor<f32>) -> tensor<1x2x4x4x16xf32>
// CHECK: %[[S:.*]] = stablehlo.slice %[[A]] [0:1, 0:2, 1:7, 0:8:2, 0:16] : (tensor<1x2x8x8x16xf32>) -> tensor<1x2x6x4x16xf32>
// CHECK: %[[R:.*]] = stablehlo.reverse %[[S]], dims = [3] : tensor<1x2x6x4x16xf32>
// CHECK: stablehlo.concatenate %[[S]], %[[R]], dim = 2 : {{.*}} -> tensor<1x2x12x4x16xf32>
// CHECK: stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [2, 3] : (tensor<1x2x12x4x16xf32>, tensor<f32>) -> tensor<1x2x16xf32>
// CHECK: stablehlo.reshape {{.*}} : (tensor<1x2x16xf32>) -> tensor<1x32xf32>
func.func @main(%x: tensor<1x32x8x8xf32>, %w: tensor<32x32x3x3xf32>) -> (tensor<1x32x4x4xf32>, tensor<1x32xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x32x8x8xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x8x8xf32>
  %p = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %m = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<1x32x8x8xf32>, tensor<f32>) -> tensor<1x32x4x4xf32>
  %s = stablehlo.slice %a [0:1, 0:32, 1:7, 0:8:2] : (tensor<1x32x8x8xf32>) -> tensor<1x32x6x4xf32>
  %v = stablehlo.reverse %s, dims = [3] : tensor<1x32x6x4xf32>
  %j = stablehlo.concatenate %s, %v, dim = 2 : (tensor<1x32x6x4xf32>, tensor<1x32x6x4xf32>) -> tensor<1x32x12x4xf32>
  %t = stablehlo.reduce(%j init: %z) applies stablehlo.add across dimensions = [2, 3]
    : (tensor<1x32x12x4xf32>, tensor<f32>) -> tensor<1x32xf32>
  return %p, %t : tensor<1x32x4x4xf32>, tensor<1x32xf32>
}

// -----

// What has no channels of their own any more is not, be it of as many
// dimensions; nor is a joint with what does not stand in blocks.
// CHECK-LABEL: func.func @main({{.*}}-> (tensor<32x8xf32>
// CHECK: %[[B:.*]] = "cpu.convolution"
// CHECK: %[[P:.*]] = cpu.unpack %[[B]]
// CHECK-NOT: cpu.pack
// CHECK: stablehlo.reduce(%[[P]] init: {{.*}} across dimensions = [0, 2] : (tensor<1x32x8x8xf32>, tensor<f32>) -> tensor<32x8xf32>
// CHECK: stablehlo.reverse %[[P]], dims = [1] : tensor<1x32x8x8xf32>
// CHECK: stablehlo.concatenate %[[P]], %{{.*}}, dim = 2 : (tensor<1x32x8x8xf32>, tensor<1x32x1x8xf32>)
func.func @main(%x: tensor<1x32x8x8xf32>, %w: tensor<32x32x3x3xf32>, %y: tensor<1x32x1x8xf32>) -> (tensor<32x8xf32>, tensor<1x32x8x8xf32>, tensor<1x32x9x8xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x32x8x8xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x8x8xf32>
  %s = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0, 2]
    : (tensor<1x32x8x8xf32>, tensor<f32>) -> tensor<32x8xf32>
  %v = stablehlo.reverse %a, dims = [1] : tensor<1x32x8x8xf32>
  %j = stablehlo.concatenate %a, %y, dim = 2 : (tensor<1x32x8x8xf32>, tensor<1x32x1x8xf32>) -> tensor<1x32x9x8xf32>
  return %s, %v, %j : tensor<32x8xf32>, tensor<1x32x8x8xf32>, tensor<1x32x9x8xf32>
}
