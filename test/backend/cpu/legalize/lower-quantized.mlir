// RUN: sinter-opt --split-input-file --cpu-lower-quantized %s | FileCheck %s

// Bytes that StableHLO wants in the storage type of the weights are read as
// they were, and moving them takes no scale.
// CHECK-LABEL: func.func @main(%arg0: tensor<4x8xui8>
// CHECK-NOT: stablehlo.divide
// CHECK-NOT: stablehlo.round_nearest_even
// CHECK: %[[M:.*]] = stablehlo.convert {{.*}} -> tensor<4x8xi8>
// CHECK: %[[A:.*]] = stablehlo.convert %arg0 : (tensor<4x8xui8>) -> tensor<4x8xi32>
// CHECK: stablehlo.dot_general %[[A]]
// The sum takes one factor, 0.5 * 0.3 / 0.7.
// CHECK: stablehlo.constant dense<0.214285
// CHECK-NOT: stablehlo.divide
// CHECK: return
func.func @main(%a: tensor<4x8x!quant.uniform<u8:f32, 0.5>>, %w: tensor<8x16x!quant.uniform<i8:f32, 0.3>>) -> (tensor<4x8x!quant.uniform<i8:f32, 0.5:-128>>, tensor<4x16x!quant.uniform<i8:f32, 0.7:2>>) {
  %m = stablehlo.uniform_quantize %a : (tensor<4x8x!quant.uniform<u8:f32, 0.5>>) -> tensor<4x8x!quant.uniform<i8:f32, 0.5:-128>>
  %y = stablehlo.dot_general %m, %w, contracting_dims = [1] x [0] : (tensor<4x8x!quant.uniform<i8:f32, 0.5:-128>>, tensor<8x16x!quant.uniform<i8:f32, 0.3>>) -> tensor<4x16x!quant.uniform<i8:f32, 0.7:2>>
  return %m, %y : tensor<4x8x!quant.uniform<i8:f32, 0.5:-128>>, tensor<4x16x!quant.uniform<i8:f32, 0.7:2>>
}

// -----

// Weights that count from the middle of unsigned bytes are signed bytes that
// count from zero; those of several zero points stay as they are.
// CHECK-LABEL: func.func @main(%arg0: tensor<1x2x4x4xui8>
// CHECK: stablehlo.constant {{.*}}dense<{{.*}}0{{.*}}1{{.*}}-128{{.*}}127{{.*}}> : tensor<2x2x1x1xi8>
// CHECK: stablehlo.convert {{.*}} : (tensor<2x2x1x1xi8>) -> tensor<2x2x1x1xi32>
// CHECK-NOT: stablehlo.subtract
// CHECK: stablehlo.convolution
// CHECK: stablehlo.subtract
// CHECK: stablehlo.convolution
func.func @main(%a: tensor<1x2x4x4x!quant.uniform<u8:f32, 0.5>>) -> (tensor<1x2x4x4x!quant.uniform<i32:f32, 0.15>>, tensor<1x2x4x4x!quant.uniform<i32:f32:1, {0.15, 0.2}>>) {
  %w = "stablehlo.constant"() {value = dense<[[[[128]], [[129]]], [[[0]], [[255]]]]> : tensor<2x2x1x1xui8>} : () -> tensor<2x2x1x1x!quant.uniform<u8:f32, 0.3:128>>
  %y = stablehlo.convolution(%a, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x2x4x4x!quant.uniform<u8:f32, 0.5>>, tensor<2x2x1x1x!quant.uniform<u8:f32, 0.3:128>>) -> tensor<1x2x4x4x!quant.uniform<i32:f32, 0.15>>
  %v = "stablehlo.constant"() {value = dense<[[[[128]], [[129]]], [[[0]], [[255]]]]> : tensor<2x2x1x1xui8>} : () -> tensor<2x2x1x1x!quant.uniform<u8:f32:0, {0.3:128, 0.4:3}>>
  %z = stablehlo.convolution(%a, %v) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x2x4x4x!quant.uniform<u8:f32, 0.5>>, tensor<2x2x1x1x!quant.uniform<u8:f32:0, {0.3:128, 0.4:3}>>) -> tensor<1x2x4x4x!quant.uniform<i32:f32:1, {0.15, 0.2}>>
  return %y, %z : tensor<1x2x4x4x!quant.uniform<i32:f32, 0.15>>, tensor<1x2x4x4x!quant.uniform<i32:f32:1, {0.15, 0.2}>>
}

// -----

// Sums of each channel are of f32, which holds them: where they are floats again
// behind them, with the bias that is added in between, they stay such.
// CHECK-LABEL: func.func @main
// CHECK: %[[C:.*]] = stablehlo.convolution({{.*}} -> tensor<1x2x4x4xf32>
// CHECK: %[[S:.*]] = stablehlo.add %[[C]], {{.*}} : tensor<1x2x4x4xf32>
// CHECK: %[[Y:.*]] = stablehlo.multiply %[[S]], {{.*}} : tensor<1x2x4x4xf32>
// CHECK: return %[[Y]]
func.func @main(%a: tensor<1x2x4x4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<1x2x4x4xf32> {
  %w = "stablehlo.constant"() {value = dense<[[[[5, 1, 2], [3, -4, 5], [6, 7, -8]]], [[[1, 2, 3], [4, 5, 6], [7, 8, -9]]]]> : tensor<2x1x3x3xi8>} : () -> tensor<2x1x3x3x!quant.uniform<i8:f32, 0.3>>
  %b = "stablehlo.constant"() {value = dense<[1000, -70]> : tensor<2xi32>} : () -> tensor<2x!quant.uniform<i32:f32, 0.15>>
  %c = stablehlo.convolution(%a, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64}
    : (tensor<1x2x4x4x!quant.uniform<i8:f32, 0.5:3>>, tensor<2x1x3x3x!quant.uniform<i8:f32, 0.3>>) -> tensor<1x2x4x4x!quant.uniform<i32:f32, 0.15>>
  %r = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<2x!quant.uniform<i32:f32, 0.15>>) -> tensor<1x2x4x4x!quant.uniform<i32:f32, 0.15>>
  %s = stablehlo.add %c, %r : tensor<1x2x4x4x!quant.uniform<i32:f32, 0.15>>
  %y = stablehlo.uniform_dequantize %s : (tensor<1x2x4x4x!quant.uniform<i32:f32, 0.15>>) -> tensor<1x2x4x4xf32>
  return %y : tensor<1x2x4x4xf32>
}

// -----

// A bias whose sums f32 does not hold is added in 32 bits.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.convolution({{.*}} -> tensor<1x2x4x4xf32>
// CHECK: stablehlo.convert {{.*}} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xi32>
// CHECK: stablehlo.add {{.*}} : tensor<1x2x4x4xi32>
// CHECK: stablehlo.convert {{.*}} : (tensor<1x2x4x4xi32>) -> tensor<1x2x4x4xf32>
func.func @main(%a: tensor<1x2x4x4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<1x2x4x4xf32> {
  %w = "stablehlo.constant"() {value = dense<7> : tensor<2x1x3x3xi8>} : () -> tensor<2x1x3x3x!quant.uniform<i8:f32, 0.3>>
  %b = "stablehlo.constant"() {value = dense<[16777217, -70]> : tensor<2xi32>} : () -> tensor<2x!quant.uniform<i32:f32, 0.15>>
  %c = stablehlo.convolution(%a, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64}
    : (tensor<1x2x4x4x!quant.uniform<i8:f32, 0.5:3>>, tensor<2x1x3x3x!quant.uniform<i8:f32, 0.3>>) -> tensor<1x2x4x4x!quant.uniform<i32:f32, 0.15>>
  %r = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<2x!quant.uniform<i32:f32, 0.15>>) -> tensor<1x2x4x4x!quant.uniform<i32:f32, 0.15>>
  %s = stablehlo.add %c, %r : tensor<1x2x4x4x!quant.uniform<i32:f32, 0.15>>
  %y = stablehlo.uniform_dequantize %s : (tensor<1x2x4x4x!quant.uniform<i32:f32, 0.15>>) -> tensor<1x2x4x4xf32>
  return %y : tensor<1x2x4x4xf32>
}
