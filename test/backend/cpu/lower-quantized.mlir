// RUN: sinter-opt --cpu-lower-quantized %s | FileCheck %s

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
