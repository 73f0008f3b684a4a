// RUN: sinter-opt %s -split-input-file --cpu-pair-min-max '--cpu-assign-layouts=cpu=x86-64-v4' | FileCheck %s

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
// dimensions; nor is a concatenate with what does not stand in blocks.
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

// -----

// Pools read bytes where they lie: the greatest is one of them, a mean is of
// their distances from a number.
// CHECK-LABEL: func.func @main({{.*}}-> (tensor<1x32x4x4xui8>
// CHECK: %[[Q:.*]] = stablehlo.convert {{.*}} -> tensor<1x2x8x8x16xui8>
// CHECK: "cpu.pool"(%[[Q]]) <{{.*}}kind = "max"{{.*}} : (tensor<1x2x8x8x16xui8>) -> tensor<1x2x4x4x16xui8>
// CHECK: "cpu.pool"(%[[Q]]) <{{.*}}kind = "average_window"{{.*}}zero_point = 3 : i64{{.*}} : (tensor<1x2x8x8x16xui8>) -> tensor<1x2x4x4x16xf32>
// From another number than a byte they are f32 first.
// CHECK: "cpu.pool"(%{{.*}} : (tensor<1x2x8x8x16xf32>) -> tensor<1x2x4x4x16xf32>
func.func @main(%x: tensor<1x32x8x8xf32>, %w: tensor<32x32x3x3xf32>) -> (tensor<1x32x4x4xui8>, tensor<1x32x4x4xf32>, tensor<1x32x4x4xf32>) {
  %a = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x32x8x8xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x8x8xf32>
  %q = stablehlo.convert %a : (tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xui8>
  %m = nn.max_pool %q, window = [2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>}
    : (tensor<1x32x8x8xui8>) -> tensor<1x32x4x4xui8>
  %f = stablehlo.convert %q : (tensor<1x32x8x8xui8>) -> tensor<1x32x8x8xf32>
  %z = stablehlo.constant dense<3.0> : tensor<1x32x8x8xf32>
  %d = stablehlo.subtract %f, %z : tensor<1x32x8x8xf32>
  %p = nn.average_pool %d, window = [2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>, count_padding = false}
    : (tensor<1x32x8x8xf32>) -> tensor<1x32x4x4xf32>
  %y = stablehlo.constant dense<300.0> : tensor<1x32x8x8xf32>
  %e = stablehlo.subtract %f, %y : tensor<1x32x8x8xf32>
  %o = nn.average_pool %e, window = [2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>, count_padding = false}
    : (tensor<1x32x8x8xf32>) -> tensor<1x32x4x4xf32>
  return %m, %p, %o : tensor<1x32x4x4xui8>, tensor<1x32x4x4xf32>, tensor<1x32x4x4xf32>
}

// -----

// The greatest and the least of all numbers are found together, channel by
// channel: what lies beyond the last one does not count. A sum is not.
// CHECK-LABEL: func.func @main({{.*}}-> (tensor<f32>, tensor<f32>, tensor<f32>)
// CHECK: %[[A:.*]] = "cpu.convolution"
// CHECK: %[[P:.*]] = cpu.unpack %[[A]]
// CHECK: %[[R:.*]]:2 = stablehlo.reduce(%[[A]] init: {{.*}}), (%[[A]] init: {{.*}}) across dimensions = [2, 3]
// CHECK-SAME: -> (tensor<1x2x16xf32>, tensor<1x2x16xf32>)
// CHECK: %[[F:.*]] = stablehlo.reshape %[[R]]#0 : (tensor<1x2x16xf32>) -> tensor<1x32xf32>
// CHECK: %[[S:.*]] = stablehlo.slice %[[F]] [0:1, 0:20]
// CHECK: %{{.*}}:2 = stablehlo.reduce(%[[S]] init: {{.*}}), ({{.*}}) across dimensions = [0, 1]
// CHECK: stablehlo.reduce(%[[P]] {{.*}} applies stablehlo.add
func.func @main(%x: tensor<1x32x8x8xf32>, %w: tensor<20x32x3x3xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %a = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x32x8x8xf32>, tensor<20x32x3x3xf32>) -> tensor<1x20x8x8xf32>
  %l = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %g = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%a init: %l) applies stablehlo.minimum across dimensions = [0, 1, 2, 3] : (tensor<1x20x8x8xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.reduce(%a init: %g) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<1x20x8x8xf32>, tensor<f32>) -> tensor<f32>
  %s = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<1x20x8x8xf32>, tensor<f32>) -> tensor<f32>
  return %m, %n, %s : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// Where all blocks are full, a few rows are as good.
// CHECK-LABEL: func.func @main({{.*}}-> (tensor<f32>, tensor<f32>)
// CHECK: %[[A:.*]] = "cpu.convolution"
// CHECK: %[[F:.*]] = stablehlo.reshape %[[A]] : (tensor<1x2x6x6x16xf32>) -> tensor<8x9x16xf32>
// CHECK: %[[R:.*]]:2 = stablehlo.reduce(%[[F]] init: {{.*}}), (%[[F]] init: {{.*}}) across dimensions = [1]
// CHECK: %{{.*}}:2 = stablehlo.reduce(%[[R]]#0 init: {{.*}}), (%[[R]]#1 init: {{.*}}) across dimensions = [0, 1]
func.func @main(%x: tensor<1x32x6x6xf32>, %w: tensor<32x32x3x3xf32>) -> (tensor<f32>, tensor<f32>) {
  %a = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x32x6x6xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x6x6xf32>
  %l = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %g = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %m = stablehlo.reduce(%a init: %l) applies stablehlo.minimum across dimensions = [0, 1, 2, 3] : (tensor<1x32x6x6xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.reduce(%a init: %g) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<1x32x6x6xf32>, tensor<f32>) -> tensor<f32>
  return %m, %n : tensor<f32>, tensor<f32>
}

// -----

// An image is enlarged in blocks, but not where all that reads it has to unpack
// it: then the smaller one is unpacked.
// CHECK-LABEL: func.func @main({{.*}}-> (tensor<1x44x8x8xf32>, tensor<1x32x8x8xf32>)
// CHECK: %[[A:.*]] = "cpu.convolution"
// CHECK: %[[U:.*]] = cpu.unpack %[[A]] : (tensor<1x2x4x4x16xf32>) -> tensor<1x20x4x4xf32>
// CHECK: nn.resize %[[U]], scales = [1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00],
// CHECK: nn.resize %{{.*}}, scales = [1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00, 1.000000e+00],
// CHECK-SAME: (tensor<1x2x4x4x16xf32>) -> tensor<1x2x8x8x16xf32>
func.func @main(%x: tensor<1x32x4x4xf32>, %w: tensor<20x32x3x3xf32>, %v: tensor<32x20x3x3xf32>, %y: tensor<1x24x8x8xf32>)
    -> (tensor<1x44x8x8xf32>, tensor<1x32x8x8xf32>) {
  %a = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x32x4x4xf32>, tensor<20x32x3x3xf32>) -> tensor<1x20x4x4xf32>
  %l = nn.resize %a, scales = [1.0, 1.0, 2.0, 2.0], "nearest", "asymmetric", "floor"
    {exclude_outside = false, antialias = false} : (tensor<1x20x4x4xf32>) -> tensor<1x20x8x8xf32>
  %j = stablehlo.concatenate %l, %y, dim = 1 : (tensor<1x20x8x8xf32>, tensor<1x24x8x8xf32>) -> tensor<1x44x8x8xf32>
  %b = stablehlo.convolution(%a, %v) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x20x4x4xf32>, tensor<32x20x3x3xf32>) -> tensor<1x32x4x4xf32>
  %r = nn.resize %b, scales = [1.0, 1.0, 2.0, 2.0], "nearest", "asymmetric", "floor"
    {exclude_outside = false, antialias = false} : (tensor<1x32x4x4xf32>) -> tensor<1x32x8x8xf32>
  %n = nn.relu %r : tensor<1x32x8x8xf32>
  return %j, %n : tensor<1x44x8x8xf32>, tensor<1x32x8x8xf32>
}
