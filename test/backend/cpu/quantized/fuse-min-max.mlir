// RUN: sinter-opt %s --split-input-file '--cpu=triple=x86_64-unknown-linux-gnu cpu=x86-64-v3' | FileCheck %s

// Tasks leave the extremes of what they store, in as many rows as are a power
// of two for each that they are found for.
// CHECK-LABEL: func.func @whole
// CHECK: %[[Y:.*]]:3 = cpu.kernel(
// CHECK-SAME: -> (tensor<1x2x9x9x8xf32>, tensor<[[ROWS:.*]]x8xf32>, tensor<[[ROWS]]x8xf32>)
// CHECK: %[[C:.*]] = "cpu.convolution"
// CHECK: %[[L:.*]], %[[G:.*]] = cpu.min_max %[[C]]
// CHECK-NEXT: cpu.yield %[[C]], %[[L]], %[[G]]
// CHECK-DAG: %[[YL:.*]] = stablehlo.reshape %[[Y]]#1 : {{.*}} -> tensor<2x[[EACH:.*]]x8xf32>
// CHECK-DAG: %[[YG:.*]] = stablehlo.reshape %[[Y]]#2 : {{.*}} -> tensor<2x{{.*}}x8xf32>
// CHECK: %[[R:.*]]:2 = cpu.kernel(%[[YL]], %[[YG]])
// CHECK: stablehlo.reduce
// CHECK: cpu.kernel(%[[R]]#0, %[[R]]#1)
func.func @whole(%x: tensor<1x16x9x9xf32>) -> (tensor<1x16x9x9xf32>, tensor<f32>, tensor<f32>) {
  %w = stablehlo.constant dense<0.5> : tensor<16x16x1x1xf32>
  %c = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x16x9x9xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x9x9xf32>
  %hi = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %lo = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %l = stablehlo.reduce(%c init: %lo) applies stablehlo.minimum across dimensions = [0, 1, 2, 3] : (tensor<1x16x9x9xf32>, tensor<f32>) -> tensor<f32>
  %g = stablehlo.reduce(%c init: %hi) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<1x16x9x9xf32>, tensor<f32>) -> tensor<f32>
  return %c, %l, %g : tensor<1x16x9x9xf32>, tensor<f32>, tensor<f32>
}

// -----

// What lies beyond the last channel would count.
// CHECK-LABEL: func.func @others
// CHECK-NOT: cpu.min_max
func.func @others(%x: tensor<1x16x9x9xf32>) -> (tensor<1x20x9x9xf32>, tensor<f32>, tensor<f32>) {
  %w = stablehlo.constant dense<0.5> : tensor<20x16x1x1xf32>
  %c = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x16x9x9xf32>, tensor<20x16x1x1xf32>) -> tensor<1x20x9x9xf32>
  %hi = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %lo = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %l = stablehlo.reduce(%c init: %lo) applies stablehlo.minimum across dimensions = [0, 1, 2, 3] : (tensor<1x20x9x9xf32>, tensor<f32>) -> tensor<f32>
  %g = stablehlo.reduce(%c init: %hi) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<1x20x9x9xf32>, tensor<f32>) -> tensor<f32>
  return %c, %l, %g : tensor<1x20x9x9xf32>, tensor<f32>, tensor<f32>
}

// -----

// The greatest alone is found by who looks for it.
// CHECK-LABEL: func.func @one
// CHECK-NOT: cpu.min_max
func.func @one(%x: tensor<1x16x9x9xf32>) -> (tensor<1x16x9x9xf32>, tensor<f32>) {
  %w = stablehlo.constant dense<0.5> : tensor<16x16x1x1xf32>
  %c = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x16x9x9xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x9x9xf32>
  %hi = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %g = stablehlo.reduce(%c init: %hi) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<1x16x9x9xf32>, tensor<f32>) -> tensor<f32>
  return %c, %g : tensor<1x16x9x9xf32>, tensor<f32>
}
