// RUN: sinter-opt --cpu-simplify-convolutions="triple=x86_64-unknown-linux-gnu cpu=x86-64-v4" --cpu-assign-layouts="triple=x86_64-unknown-linux-gnu cpu=x86-64-v4" --cpu-simplify-products="triple=x86_64-unknown-linux-gnu cpu=x86-64-v4" %s | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: %[[W:.*]] = stablehlo.constant {{.*}}: tensor<64x40xi8>
// CHECK: %[[P:.*]] = "cpu.int8_product"(%arg0, %[[W]]) <{contracting = array<i64: 0>}> : (tensor<32x64xui8>, tensor<64x40xi8>) -> tensor<32x40xi32>
// What the zero point adds: 9 * 64 * 2.
// CHECK: %[[S:.*]] = stablehlo.constant dense<128> : tensor<40xi32>
// CHECK: stablehlo.subtract %[[P]]
// CHECK: "cpu.convolution"({{.*}}zero_point = 5 : i64{{.*}} : (tensor<1x1x8x8x16xui8>, tensor<16x8x3x3xi8>) -> tensor<1x1x8x8x16xi32>
// Numbers that are no signed bytes, and what is not a constant
// (zero-point-products.mlir).
// CHECK-NOT: cpu.int8_product
func.func @main(%x: tensor<32x64xui8>, %i: tensor<1x8x8x8xui8>, %y: tensor<64x40xi8>) -> (tensor<32x40xi32>, tensor<1x16x8x8xi32>, tensor<32x40xi32>, tensor<32x40xi32>) {
  %xi = stablehlo.convert %x : (tensor<32x64xui8>) -> tensor<32x64xi32>
  %z = stablehlo.constant dense<9> : tensor<32x64xi32>
  %d = stablehlo.subtract %xi, %z : tensor<32x64xi32>
  %w = stablehlo.constant dense<2> : tensor<64x40xi32>
  %0 = stablehlo.dot_general %d, %w, contracting_dims = [1] x [0] : (tensor<32x64xi32>, tensor<64x40xi32>) -> tensor<32x40xi32>
  %ii = stablehlo.convert %i : (tensor<1x8x8x8xui8>) -> tensor<1x8x8x8xi32>
  %iz = stablehlo.constant dense<5> : tensor<1x8x8x8xi32>
  %id = stablehlo.subtract %ii, %iz : tensor<1x8x8x8xi32>
  %k = stablehlo.constant dense<3> : tensor<16x8x3x3xi32>
  %1 = stablehlo.convolution(%id, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x8xi32>, tensor<16x8x3x3xi32>) -> tensor<1x16x8x8xi32>
  %v = stablehlo.constant dense<200> : tensor<64x40xi32>
  %2 = stablehlo.dot_general %d, %v, contracting_dims = [1] x [0] : (tensor<32x64xi32>, tensor<64x40xi32>) -> tensor<32x40xi32>
  %yi = stablehlo.convert %y : (tensor<64x40xi8>) -> tensor<64x40xi32>
  %3 = stablehlo.dot_general %d, %yi, contracting_dims = [1] x [0] : (tensor<32x64xi32>, tensor<64x40xi32>) -> tensor<32x40xi32>
  return %0, %1, %2, %3 : tensor<32x40xi32>, tensor<1x16x8x8xi32>, tensor<32x40xi32>, tensor<32x40xi32>
}
