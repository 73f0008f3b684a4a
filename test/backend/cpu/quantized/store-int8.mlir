// Quantised bytes get the sign that products of the target like, where nobody outside sees them.
// RUN: sinter-opt %s --split-input-file --cpu-lower-quantized="triple=x86_64-linux-gnu cpu=x86-64-v4" | FileCheck %s

// Between two products, through a pool and a pad, whose filler is turned, too.
// CHECK-LABEL: func.func @main(%arg0: tensor<1x2x4x4xf32>)
// CHECK: stablehlo.convert {{.*}} -> tensor<1x2x4x4xui8>
// CHECK: nn.max_pool {{.*}} : (tensor<1x2x4x4xui8>) -> tensor<1x2x3x3xui8>
// CHECK: dense<121> : tensor<ui8>
// CHECK: stablehlo.pad {{.*}} : (tensor<1x2x3x3xui8>, tensor<ui8>) -> tensor<1x2x5x5xui8>
// CHECK: dense<{{.*}}> : tensor<3x2x1x1xi8>
// CHECK: stablehlo.convert {{.*}} : (tensor<1x2x5x5xui8>) -> tensor<1x2x5x5xi32>
// CHECK-NOT: xi8>, tensor<1x2
func.func @main(%x: tensor<1x2x4x4xf32>) -> tensor<1x3x5x5xf32> {
  %q = stablehlo.uniform_quantize %x : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4x!quant.uniform<i8:f32, 0.1:-7>>
  %m = nn.max_pool %q, window = [2, 2] strides = [1, 1] {dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>} : (tensor<1x2x4x4x!quant.uniform<i8:f32, 0.1:-7>>) -> tensor<1x2x3x3x!quant.uniform<i8:f32, 0.1:-7>>
  %z = stablehlo.constant() {value = dense<-7> : tensor<i8>} : () -> tensor<!quant.uniform<i8:f32, 0.1:-7>>
  %p = stablehlo.pad %m, %z, low = [0, 0, 1, 1], high = [0, 0, 1, 1], interior = [0, 0, 0, 0] : (tensor<1x2x3x3x!quant.uniform<i8:f32, 0.1:-7>>, tensor<!quant.uniform<i8:f32, 0.1:-7>>) -> tensor<1x2x5x5x!quant.uniform<i8:f32, 0.1:-7>>
  %w = stablehlo.constant() {value = dense<[[[[1]], [[2]]], [[[3]], [[4]]], [[[5]], [[6]]]]> : tensor<3x2x1x1xi8>} : () -> tensor<3x2x1x1x!quant.uniform<i8:f32, 0.5>>
  %c = stablehlo.convolution(%p, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x2x5x5x!quant.uniform<i8:f32, 0.1:-7>>, tensor<3x2x1x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x3x5x5x!quant.uniform<i32:f32, 0.05>>
  %y = stablehlo.uniform_dequantize %c : (tensor<1x3x5x5x!quant.uniform<i32:f32, 0.05>>) -> tensor<1x3x5x5xf32>
  return %y : tensor<1x3x5x5xf32>
}

// -----
// Bits that somebody reads stay.
// CHECK-LABEL: func.func @main(%arg0: tensor<4xf32>)
// CHECK: stablehlo.convert {{.*}} -> tensor<4xi8>
// CHECK-NOT: ui8
// CHECK: return {{.*}} : tensor<4xi8>
func.func @main(%x: tensor<4xf32>) -> tensor<4xi8> {
  %q = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.1>>
  %r = stablehlo.reverse %q, dims = [0] : tensor<4x!quant.uniform<i8:f32, 0.1>>
  %b = stablehlo.bitcast_convert %r : (tensor<4x!quant.uniform<i8:f32, 0.1>>) -> tensor<4xi8>
  return %b : tensor<4xi8>
}

// -----
// What comes from outside, and goes there.
// CHECK-LABEL: func.func @main(%arg0: tensor<4xi8>)
// CHECK-NOT: ui8
func.func @main(%x: tensor<4x!quant.uniform<i8:f32, 0.1>>) -> tensor<4x!quant.uniform<i8:f32, 0.1>> {
  %r = stablehlo.reverse %x, dims = [0] : tensor<4x!quant.uniform<i8:f32, 0.1>>
  return %r : tensor<4x!quant.uniform<i8:f32, 0.1>>
}

// -----
// On the right of a product.
// CHECK-LABEL: func.func @main(%arg0: tensor<2x3xf32>, %arg1
// CHECK: stablehlo.convert {{.*}} -> tensor<2x3xui8>
// CHECK: stablehlo.convert {{.*}} -> tensor<3x4xi8>
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %a = stablehlo.uniform_quantize %x : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32, 0.1>>
  %b = stablehlo.uniform_quantize %y : (tensor<3x4xf32>) -> tensor<3x4x!quant.uniform<i8:f32, 0.2>>
  %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3x!quant.uniform<i8:f32, 0.1>>, tensor<3x4x!quant.uniform<i8:f32, 0.2>>) -> tensor<2x4x!quant.uniform<i32:f32, 0.02>>
  %d = stablehlo.uniform_dequantize %p : (tensor<2x4x!quant.uniform<i32:f32, 0.02>>) -> tensor<2x4xf32>
  return %d : tensor<2x4xf32>
}
