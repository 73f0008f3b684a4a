// RUN: sinter-opt --split-input-file --cpu-widen-int8="triple=x86_64-unknown-linux-gnu cpu=x86-64-v3" %s | FileCheck %s
// RUN: sinter-opt --split-input-file --cpu-widen-int8="triple=x86_64-unknown-linux-gnu cpu=x86-64-v4 features=+avx512vnni" %s | FileCheck %s --check-prefix=BYTES
// RUN: sinter-opt --split-input-file --cpu-widen-int8="triple=x86_64-unknown-linux-gnu cpu=x86-64-v3 disable-patterns=widen-int8" %s | FileCheck %s --check-prefix=BYTES
// Covers: backend/cpu/quantized WidenInt8

// BYTES-NOT: xi16

// Products of words by bytes, of either sign.
// CHECK-LABEL: func.func @products
// CHECK: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<4x8xui8>) -> tensor<4x8xi16>
// CHECK: "cpu.int8_product"(%[[X]], %arg2) <{{.*}}> : (tensor<4x8xi16>, tensor<8x8xi8>) -> tensor<4x8xi32>
// CHECK: %[[Y:.*]] = stablehlo.convert %arg1 : (tensor<4x8xi8>) -> tensor<4x8xi16>
// CHECK: "cpu.int8_product"(%[[Y]], %arg2)
func.func @products(%x: tensor<4x8xui8>, %y: tensor<4x8xi8>, %w: tensor<8x8xi8>) -> (tensor<4x8xi32>, tensor<4x8xi32>) {
  %p = "cpu.int8_product"(%x, %w) <{contracting = array<i64: 0>}> : (tensor<4x8xui8>, tensor<8x8xi8>) -> tensor<4x8xi32>
  %q = "cpu.int8_product"(%y, %w) <{contracting = array<i64: 0>}> : (tensor<4x8xi8>, tensor<8x8xi8>) -> tensor<4x8xi32>
  return %p, %q : tensor<4x8xi32>, tensor<4x8xi32>
}

// -----

// Both factors that are computed, so that one kernel writes either.
// CHECK-LABEL: func.func @distances
// CHECK: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<4x8xui8>) -> tensor<4x8xi16>
// CHECK: %[[Y:.*]] = stablehlo.convert %arg1 : (tensor<8x6xui8>) -> tensor<8x6xi16>
// CHECK: "cpu.zero_point_product"(%[[X]], %[[Y]]) <{{.*}}> : (tensor<4x8xi16>, tensor<8x6xi16>) -> tensor<4x6xi32>
func.func @distances(%x: tensor<4x8xui8>, %y: tensor<8x6xui8>) -> tensor<4x6xi32> {
  %p = "cpu.zero_point_product"(%x, %y) <{lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<4x8xui8>, tensor<8x6xui8>) -> tensor<4x6xi32>
  return %p : tensor<4x6xi32>
}

// -----

// A zero point that is an operand is a word, too. By Winograd's method each
// byte is widened once.
// CHECK-LABEL: func.func @convolutions
// CHECK: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<1x2x8x8x8xui8>) -> tensor<1x2x8x8x8xi16>
// CHECK: %[[Z:.*]] = stablehlo.convert %arg3 : (tensor<1xui8>) -> tensor<1xi16>
// CHECK: "cpu.convolution"(%[[X]], %arg1, %[[Z]])
// CHECK: "cpu.convolution"(%arg0, %arg2) <{{{.*}}fast
func.func @convolutions(%x: tensor<1x2x8x8x8xui8>, %w: tensor<16x16x1x1xi8>, %v: tensor<64x16x3x3xi8>, %z: tensor<1xui8>) -> (tensor<1x2x8x8x8xi32>, tensor<1x8x8x8x8xi32>) {
  %p = "cpu.convolution"(%x, %w, %z) <{output_channels = 16 : i64, groups = 1 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}> : (tensor<1x2x8x8x8xui8>, tensor<16x16x1x1xi8>, tensor<1xui8>) -> tensor<1x2x8x8x8xi32>
  %q = "cpu.convolution"(%x, %v) <{output_channels = 64 : i64, groups = 1 : i64, fast, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 1, 1>}> : (tensor<1x2x8x8x8xui8>, tensor<64x16x3x3xi8>) -> tensor<1x8x8x8x8xi32>
  return %p, %q : tensor<1x2x8x8x8xi32>, tensor<1x8x8x8x8xi32>
}
