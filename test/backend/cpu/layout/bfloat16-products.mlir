// RUN: sinter-opt --split-input-file --cpu-form-bfloat16-products="triple=x86_64-unknown-linux-gnu cpu=znver4" %s | FileCheck %s
// RUN: sinter-opt --split-input-file --cpu-form-bfloat16-products="triple=x86_64-unknown-linux-gnu cpu=znver4 disable-patterns=bfloat16-products" %s | FileCheck %s --check-prefix=WIDE
// RUN: sinter-opt --split-input-file --cpu-form-bfloat16-products="triple=x86_64-unknown-linux-gnu cpu=x86-64-v4" %s | FileCheck %s --check-prefix=WIDE
// Covers: backend/cpu/layout BFloat16Products
// Dot products of bf16 that are no faster than multiply-adds, and matrix units.
// RUN: sinter-opt --split-input-file --cpu-form-bfloat16-products="triple=x86_64-unknown-linux-gnu cpu=cooperlake" %s | FileCheck %s --check-prefix=WIDE
// RUN: sinter-opt --split-input-file --cpu-form-bfloat16-products="triple=x86_64-unknown-linux-gnu cpu=sapphirerapids" %s | FileCheck %s --check-prefix=WIDE

// WIDE-NOT: xbf16>, tensor<{{[0-9x]+}}xbf16>) ->

// CHECK-LABEL: func.func @product
// CHECK: "cpu.low_bit_product"(%arg0, %arg1) <{{.*}}> : (tensor<64x128xbf16>, tensor<128x96xbf16>) -> tensor<64x96xf32>
func.func @product(%x: tensor<64x128xbf16>, %w: tensor<128x96xbf16>) -> tensor<64x96xf32> {
  %a = stablehlo.convert %x : (tensor<64x128xbf16>) -> tensor<64x128xf32>
  %p = "cpu.low_bit_product"(%a, %w) <{contracting = array<i64: 0>, block = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<64x128xf32>, tensor<128x96xbf16>) -> tensor<64x96xf32>
  return %p : tensor<64x96xf32>
}

// -----

// What moves the numbers moves them in bf16.
// CHECK-LABEL: func.func @moved
// CHECK: %[[T:.*]] = stablehlo.transpose %arg0, dims = [1, 0, 2] : (tensor<8x4x32xbf16>) -> tensor<4x8x32xbf16>
// CHECK: %[[R:.*]] = stablehlo.reshape %[[T]] : (tensor<4x8x32xbf16>) -> tensor<4x256xbf16>
// CHECK: "cpu.low_bit_product"(%[[R]], %arg1)
func.func @moved(%x: tensor<8x4x32xbf16>, %w: tensor<256x96xbf16>) -> tensor<4x96xf32> {
  %a = stablehlo.convert %x : (tensor<8x4x32xbf16>) -> tensor<8x4x32xf32>
  %t = stablehlo.transpose %a, dims = [1, 0, 2] : (tensor<8x4x32xf32>) -> tensor<4x8x32xf32>
  %r = stablehlo.reshape %t : (tensor<4x8x32xf32>) -> tensor<4x256xf32>
  %p = "cpu.low_bit_product"(%r, %w) <{contracting = array<i64: 0>, block = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<4x256xf32>, tensor<256x96xbf16>) -> tensor<4x96xf32>
  return %p : tensor<4x96xf32>
}

// -----

// Activations of f32 or f16, weights of f16 or with scales of blocks.
// CHECK-LABEL: func.func @others
// CHECK-NOT: "cpu.low_bit_product"({{.*}}) <{{.*}}> : (tensor<64x128xbf16>
// CHECK: return
func.func @others(%f: tensor<64x128xf32>, %h: tensor<64x128xf16>, %x: tensor<64x128xbf16>, %v: tensor<128x96xf16>, %w: tensor<128x96xbf16>, %s: tensor<4x96xf32>) -> (tensor<64x96xf32>, tensor<64x96xf32>, tensor<64x96xf32>, tensor<64x96xf32>) {
  %a = stablehlo.convert %x : (tensor<64x128xbf16>) -> tensor<64x128xf32>
  %b = stablehlo.convert %h : (tensor<64x128xf16>) -> tensor<64x128xf32>
  %p = "cpu.low_bit_product"(%f, %w) <{contracting = array<i64: 0>, block = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<64x128xf32>, tensor<128x96xbf16>) -> tensor<64x96xf32>
  %q = "cpu.low_bit_product"(%b, %w) <{contracting = array<i64: 0>, block = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<64x128xf32>, tensor<128x96xbf16>) -> tensor<64x96xf32>
  %r = "cpu.low_bit_product"(%a, %v) <{contracting = array<i64: 0>, block = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<64x128xf32>, tensor<128x96xf16>) -> tensor<64x96xf32>
  %t = "cpu.low_bit_product"(%a, %w, %s) <{contracting = array<i64: 0>, block = 32 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<64x128xf32>, tensor<128x96xbf16>, tensor<4x96xf32>) -> tensor<64x96xf32>
  return %p, %q, %r, %t : tensor<64x96xf32>, tensor<64x96xf32>, tensor<64x96xf32>, tensor<64x96xf32>
}

// -----

// Weights that bf16 holds become bf16; channel by channel they stay f32.
// CHECK-LABEL: func.func @convolutions
// CHECK-DAG: %[[W:.*]] = stablehlo.constant dense<1.500000e+00> : tensor<64x32x1x1xbf16>
// CHECK-DAG: %[[V:.*]] = stablehlo.constant dense<1.500000e+00> : tensor<32x1x3x3xf32>
// CHECK: "cpu.convolution"(%arg0, %[[W]])
// CHECK: "cpu.convolution"(%arg0, %[[V]])
func.func @convolutions(%x: tensor<1x2x14x14x16xbf16>) -> (tensor<1x4x14x14x16xf32>, tensor<1x2x14x14x16xf32>) {
  %w = stablehlo.constant dense<1.5> : tensor<64x32x1x1xf32>
  %v = stablehlo.constant dense<1.5> : tensor<32x1x3x3xf32>
  %a = stablehlo.convert %x : (tensor<1x2x14x14x16xbf16>) -> tensor<1x2x14x14x16xf32>
  %p = "cpu.convolution"(%a, %w) <{output_channels = 64 : i64, groups = 1 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}> : (tensor<1x2x14x14x16xf32>, tensor<64x32x1x1xf32>) -> tensor<1x4x14x14x16xf32>
  %q = "cpu.convolution"(%a, %v) <{output_channels = 32 : i64, groups = 32 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 1, 1>}> : (tensor<1x2x14x14x16xf32>, tensor<32x1x3x3xf32>) -> tensor<1x2x14x14x16xf32>
  return %p, %q : tensor<1x4x14x14x16xf32>, tensor<1x2x14x14x16xf32>
}

// -----

// Channels that are no pairs, weights that bf16 does not hold, and those that
// are no constants.
// CHECK-LABEL: func.func @other_convolutions
// CHECK-NOT: xbf16>, tensor
// CHECK: return
func.func @other_convolutions(%x: tensor<1x2x14x14x16xbf16>, %v: tensor<64x32x1x1xf32>) -> (tensor<1x4x14x14x16xf32>, tensor<1x4x14x14x16xf32>, tensor<1x4x14x14x16xf32>) {
  %odd = stablehlo.constant dense<1.5> : tensor<64x31x1x1xf32>
  %w = stablehlo.constant dense<1.001> : tensor<64x32x1x1xf32>
  %a = stablehlo.convert %x : (tensor<1x2x14x14x16xbf16>) -> tensor<1x2x14x14x16xf32>
  %p = "cpu.convolution"(%a, %odd) <{output_channels = 64 : i64, groups = 1 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}> : (tensor<1x2x14x14x16xf32>, tensor<64x31x1x1xf32>) -> tensor<1x4x14x14x16xf32>
  %q = "cpu.convolution"(%a, %w) <{output_channels = 64 : i64, groups = 1 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}> : (tensor<1x2x14x14x16xf32>, tensor<64x32x1x1xf32>) -> tensor<1x4x14x14x16xf32>
  %r = "cpu.convolution"(%a, %v) <{output_channels = 64 : i64, groups = 1 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}> : (tensor<1x2x14x14x16xf32>, tensor<64x32x1x1xf32>) -> tensor<1x4x14x14x16xf32>
  return %p, %q, %r : tensor<1x4x14x14x16xf32>, tensor<1x4x14x14x16xf32>, tensor<1x4x14x14x16xf32>
}

// -----

// What may be rounded is, by weights of f32, f16 and bytes; bytes that few rows
// wait for stay, and so does what is asked to be exact.
// CHECK-LABEL: func.func @rounded
// CHECK: stablehlo.convert %arg0 : (tensor<64x128xf32>) -> tensor<64x128xbf16>
// CHECK-NOT: stablehlo.convert %arg
// CHECK-DAG: "cpu.low_bit_product"({{.*}}) <{{.*}}> {sinter.precision = "bf16"} : (tensor<64x128xbf16>, tensor<128x96xbf16>) -> tensor<64x96xf32>
// CHECK-DAG: "cpu.low_bit_product"({{.*}}) <{{.*}}> {sinter.precision = "bf16"} : (tensor<64x128xbf16>, tensor<128x96xbf16>) -> tensor<64x96xf32>
// CHECK-DAG: "cpu.low_bit_product"({{.*}}) <{{.*}}> {sinter.precision = "bf16"} : (tensor<64x128xbf16>, tensor<128x96xbf16>) -> tensor<64x96xf32>
// CHECK-DAG: "cpu.low_bit_product"({{.*}}) <{{.*}}> {sinter.precision = "bf16"} : (tensor<1x128xf32>, tensor<128x96xi8>) -> tensor<1x96xf32>
// CHECK-DAG: stablehlo.dot_general {{.*}} {sinter.precision = "f32-exact"} : (tensor<64x128xf32>, tensor<128x96xf32>) -> tensor<64x96xf32>
func.func @rounded(%x: tensor<64x128xf32>, %row: tensor<1x128xf32>) -> (tensor<64x96xf32>, tensor<64x96xf32>, tensor<64x96xf32>, tensor<1x96xf32>, tensor<64x96xf32>) {
  %f = stablehlo.constant dense<1.001> : tensor<128x96xf32>
  %h = stablehlo.constant dense<1.001> : tensor<128x96xf16>
  %i = stablehlo.constant dense<7> : tensor<128x96xi8>
  %p = stablehlo.dot_general %x, %f, contracting_dims = [1] x [0] {sinter.precision = "bf16"} : (tensor<64x128xf32>, tensor<128x96xf32>) -> tensor<64x96xf32>
  %q = "cpu.low_bit_product"(%x, %h) <{contracting = array<i64: 0>, block = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> {sinter.precision = "bf16"} : (tensor<64x128xf32>, tensor<128x96xf16>) -> tensor<64x96xf32>
  %r = "cpu.low_bit_product"(%x, %i) <{contracting = array<i64: 0>, block = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> {sinter.precision = "bf16"} : (tensor<64x128xf32>, tensor<128x96xi8>) -> tensor<64x96xf32>
  %s = "cpu.low_bit_product"(%row, %i) <{contracting = array<i64: 0>, block = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> {sinter.precision = "bf16"} : (tensor<1x128xf32>, tensor<128x96xi8>) -> tensor<1x96xf32>
  %t = stablehlo.dot_general %x, %f, contracting_dims = [1] x [0] {sinter.precision = "f32-exact"} : (tensor<64x128xf32>, tensor<128x96xf32>) -> tensor<64x96xf32>
  return %p, %q, %r, %s, %t : tensor<64x96xf32>, tensor<64x96xf32>, tensor<64x96xf32>, tensor<1x96xf32>, tensor<64x96xf32>
}

// -----

// Scales of blocks are multiplied before weights are rounded.
// CHECK-LABEL: func.func @blocks
// CHECK: %[[W:.*]] = cpu.computed_constant : tensor<128x96xbf16>
// CHECK: stablehlo.multiply
// CHECK: stablehlo.convert {{.*}} -> tensor<128x96xbf16>
// CHECK: "cpu.low_bit_product"(%{{.*}}, %[[W]]) <{block = 0 : i64{{.*}} : (tensor<64x128xbf16>, tensor<128x96xbf16>) -> tensor<64x96xf32>
// CHECK-NOT: stablehlo.dot_general
func.func @blocks(%x: tensor<64x128xf32>) -> tensor<64x96xf32> {
  %i = stablehlo.constant dense<7> : tensor<128x96xi8>
  %s = stablehlo.constant dense<0.125> : tensor<4x96xf32>
  %p = "cpu.low_bit_product"(%x, %i, %s) <{contracting = array<i64: 0>, block = 32 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> {sinter.precision = "bf16"} : (tensor<64x128xf32>, tensor<128x96xi8>, tensor<4x96xf32>) -> tensor<64x96xf32>
  return %p : tensor<64x96xf32>
}
