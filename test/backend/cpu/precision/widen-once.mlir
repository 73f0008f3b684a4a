// RUN: sinter-opt %s --split-input-file --cpu-widen-once --cpu-remove-dead-code | FileCheck %s
// RUN: sinter-opt %s --split-input-file '--cpu-widen-once=disable-patterns=widen-once' | FileCheck %s --check-prefix=OFF
// Covers: backend/cpu/precision CarryBiases WidenOnce
// Covers: backend/cpu/weights HalfWeights

// What products read is widened once, and read there by the others, too.
// CHECK-LABEL: func.func @shared
// CHECK: %[[V:.*]] = stablehlo.maximum
// CHECK-NEXT: %[[W:.*]] = stablehlo.convert %[[V]] : (tensor<4x8xf16>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[P:.*]] = stablehlo.dot_general %[[W]], %arg1
// CHECK-NEXT: stablehlo.dot_general %[[W]], %[[P]]
// CHECK-NEXT: stablehlo.dot_general
// CHECK-NEXT: %[[N:.*]] = stablehlo.convert %[[W]] {cpu.rounds_nothing} : (tensor<4x8xf32>) -> tensor<4x8xf16>
// CHECK-NEXT: stablehlo.multiply %[[N]], %[[N]]
// OFF-LABEL: func.func @shared
// OFF: stablehlo.multiply %[[V:.*]], %[[V]] : tensor<4x8xf16>
func.func @shared(%x: tensor<4x8xf16>, %w: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf16>) {
  %v = stablehlo.maximum %x, %x : tensor<4x8xf16>
  %a = stablehlo.convert %v : (tensor<4x8xf16>) -> tensor<4x8xf32>
  %p = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %b = stablehlo.convert %v : (tensor<4x8xf16>) -> tensor<4x8xf32>
  %q = stablehlo.dot_general %b, %p, contracting_dims = [1] x [1] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  %r = stablehlo.dot_general %q, %p, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %m = stablehlo.multiply %v, %v : tensor<4x8xf16>
  return %r, %m : tensor<4x8xf32>, tensor<4x8xf16>
}

// -----

// Conversions stand before reshapes.
// CHECK-LABEL: func.func @reshaped
// CHECK: %[[V:.*]] = stablehlo.negate
// CHECK-NEXT: %[[W:.*]] = stablehlo.convert %[[V]] : (tensor<4x2x4xbf16>) -> tensor<4x2x4xf32>
// CHECK-NEXT: %[[R:.*]] = stablehlo.reshape %[[W]] : (tensor<4x2x4xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: stablehlo.dot_general %[[R]], %arg1
func.func @reshaped(%x: tensor<4x2x4xbf16>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %v = stablehlo.negate %x : tensor<4x2x4xbf16>
  %r = stablehlo.reshape %v : (tensor<4x2x4xbf16>) -> tensor<4x8xbf16>
  %a = stablehlo.convert %r : (tensor<4x8xbf16>) -> tensor<4x8xf32>
  %p = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %p : tensor<4x8xf32>
}

// -----

// What is returned lies in memory as it is, and so does an argument.
// CHECK-LABEL: func.func @returned
// CHECK: %[[V:.*]] = stablehlo.negate %arg0
// CHECK: %[[W:.*]] = stablehlo.convert %[[V]]
// CHECK: stablehlo.dot_general %[[W]], %arg1
// CHECK: %[[A:.*]] = stablehlo.convert %arg0
// CHECK: stablehlo.dot_general %[[A]], %arg1
// CHECK: return %[[V]]
func.func @returned(%x: tensor<4x8xf16>, %w: tensor<8x8xf32>) -> (tensor<4x8xf16>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %v = stablehlo.negate %x : tensor<4x8xf16>
  %a = stablehlo.convert %v : (tensor<4x8xf16>) -> tensor<4x8xf32>
  %p = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %b = stablehlo.convert %x : (tensor<4x8xf16>) -> tensor<4x8xf32>
  %q = stablehlo.dot_general %b, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %v, %p, %q : tensor<4x8xf16>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Loops widen what they read by themselves.
// CHECK-LABEL: func.func @loops
// CHECK: %[[V:.*]] = stablehlo.negate
// CHECK: stablehlo.convert %[[V]]
// CHECK: stablehlo.convert %[[V]]
func.func @loops(%x: tensor<4x8xf16>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %v = stablehlo.negate %x : tensor<4x8xf16>
  %a = stablehlo.convert %v : (tensor<4x8xf16>) -> tensor<4x8xf32>
  %b = stablehlo.convert %v : (tensor<4x8xf16>) -> tensor<4x8xf32>
  %c = stablehlo.exponential %a : tensor<4x8xf32>
  %d = stablehlo.sine %b : tensor<4x8xf32>
  return %c, %d : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// A pool widens what it alone reads; what a convolution reads, too, it reads in
// f32.
// CHECK-LABEL: func.func @pools
// CHECK: %[[V:.*]] = stablehlo.negate
// CHECK: "cpu.pool"(%[[V]]) {{.*}} : (tensor<1x1x8x8x16xf16>) -> tensor<1x1x4x4x16xf32>
// CHECK: %[[U:.*]] = stablehlo.abs
// CHECK: %[[W:.*]] = stablehlo.convert %[[U]]
// CHECK: "cpu.pool"(%[[W]])
// CHECK: "cpu.convolution"(%[[W]], %arg1)
func.func @pools(%x: tensor<1x1x8x8x16xf16>, %w: tensor<16x16x1x1xf32>)
    -> (tensor<1x1x4x4x16xf32>, tensor<1x1x4x4x16xf32>, tensor<1x1x8x8x16xf32>) {
  %v = stablehlo.negate %x : tensor<1x1x8x8x16xf16>
  %a = stablehlo.convert %v : (tensor<1x1x8x8x16xf16>) -> tensor<1x1x8x8x16xf32>
  %p = "cpu.pool"(%a) {kind = "max", window = array<i64: 2, 2>, strides = array<i64: 2, 2>,
    dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}
    : (tensor<1x1x8x8x16xf32>) -> tensor<1x1x4x4x16xf32>
  %u = stablehlo.abs %x : tensor<1x1x8x8x16xf16>
  %b = stablehlo.convert %u : (tensor<1x1x8x8x16xf16>) -> tensor<1x1x8x8x16xf32>
  %q = "cpu.pool"(%b) {kind = "average_window", window = array<i64: 2, 2>, strides = array<i64: 2, 2>,
    dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}
    : (tensor<1x1x8x8x16xf32>) -> tensor<1x1x4x4x16xf32>
  %c = stablehlo.convert %u : (tensor<1x1x8x8x16xf16>) -> tensor<1x1x8x8x16xf32>
  %r = "cpu.convolution"(%c, %w) {output_channels = 16 : i64, groups = 1 : i64,
    strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}
    : (tensor<1x1x8x8x16xf32>, tensor<16x16x1x1xf32>) -> tensor<1x1x8x8x16xf32>
  return %p, %q, %r : tensor<1x1x4x4x16xf32>, tensor<1x1x4x4x16xf32>, tensor<1x1x8x8x16xf32>
}

// -----

// Bytes that products read as words are written so. The greatest of words are
// words, for the next product to read.
// CHECK-LABEL: func.func @pooled
// CHECK: %[[V:.*]] = stablehlo.maximum
// CHECK-NEXT: %[[W:.*]] = stablehlo.convert %[[V]] : (tensor<1x1x4x4x8xui8>) -> tensor<1x1x4x4x8xi16>
// CHECK-NEXT: %[[P:.*]] = "cpu.pool"(%[[W]]) {{.*}} -> tensor<1x1x2x2x8xi16>
// CHECK: "cpu.convolution"(%[[W]], %arg1)
// CHECK: "cpu.convolution"(%[[P]], %arg1)
func.func @pooled(%x: tensor<1x1x4x4x8xui8>, %w: tensor<8x8x1x1xi8>) -> (tensor<1x1x4x4x8xi32>, tensor<1x1x2x2x8xi32>) {
  %v = stablehlo.maximum %x, %x : tensor<1x1x4x4x8xui8>
  %m = "cpu.pool"(%v) <{kind = "max", window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}> : (tensor<1x1x4x4x8xui8>) -> tensor<1x1x2x2x8xui8>
  %a = stablehlo.convert %v : (tensor<1x1x4x4x8xui8>) -> tensor<1x1x4x4x8xi16>
  %p = "cpu.convolution"(%a, %w) <{output_channels = 8 : i64, groups = 1 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}> : (tensor<1x1x4x4x8xi16>, tensor<8x8x1x1xi8>) -> tensor<1x1x4x4x8xi32>
  %b = stablehlo.convert %m : (tensor<1x1x2x2x8xui8>) -> tensor<1x1x2x2x8xi16>
  %q = "cpu.convolution"(%b, %w) <{output_channels = 8 : i64, groups = 1 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}> : (tensor<1x1x2x2x8xi16>, tensor<8x8x1x1xi8>) -> tensor<1x1x2x2x8xi32>
  return %p, %q : tensor<1x1x4x4x8xi32>, tensor<1x1x2x2x8xi32>
}

// -----

// A pool with windows of nothing but padding gives the least byte there, which
// is not the least word: it reads bytes.
// CHECK-LABEL: func.func @emptyWindows
// CHECK: "cpu.pool"({{.*}}) {{.*}} : (tensor<1x1x4x4x8xui8>) -> tensor<1x1x4x4x8xui8>
func.func @emptyWindows(%x: tensor<1x1x4x4x8xui8>, %w: tensor<8x8x1x1xi8>) -> (tensor<1x1x4x4x8xi32>, tensor<1x1x4x4x8xui8>) {
  %v = stablehlo.maximum %x, %x : tensor<1x1x4x4x8xui8>
  %m = "cpu.pool"(%v) <{kind = "max", window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding_low = array<i64: 2, 2>}> : (tensor<1x1x4x4x8xui8>) -> tensor<1x1x4x4x8xui8>
  %a = stablehlo.convert %v : (tensor<1x1x4x4x8xui8>) -> tensor<1x1x4x4x8xi16>
  %p = "cpu.convolution"(%a, %w) <{output_channels = 8 : i64, groups = 1 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>}> : (tensor<1x1x4x4x8xi16>, tensor<8x8x1x1xi8>) -> tensor<1x1x4x4x8xi32>
  return %p, %m : tensor<1x1x4x4x8xi32>, tensor<1x1x4x4x8xui8>
}

// -----

// What moves elements moves wide ones, so that it stays what is stored last.
// CHECK-LABEL: func.func @moved
// CHECK-COUNT-2: stablehlo.convert {{.*}} -> tensor<4x8xi16>
// CHECK: %[[J:.*]] = stablehlo.concatenate {{.*}}-> tensor<8x8xi16>
// CHECK: %[[T:.*]] = stablehlo.transpose %[[J]]
// CHECK: "cpu.int8_product"(%[[T]], %arg1)
func.func @moved(%x: tensor<4x8xui8>, %w: tensor<8x8xi8>) -> tensor<8x8xi32> {
  %u = stablehlo.maximum %x, %x : tensor<4x8xui8>
  %v = stablehlo.minimum %x, %x : tensor<4x8xui8>
  %j = stablehlo.concatenate %u, %v, dim = 0 : (tensor<4x8xui8>, tensor<4x8xui8>) -> tensor<8x8xui8>
  %t = stablehlo.transpose %j, dims = [1, 0] : (tensor<8x8xui8>) -> tensor<8x8xui8>
  %a = stablehlo.convert %t : (tensor<8x8xui8>) -> tensor<8x8xi16>
  %p = "cpu.int8_product"(%a, %w) <{contracting = array<i64: 0>}> : (tensor<8x8xi16>, tensor<8x8xi8>) -> tensor<8x8xi32>
  return %p : tensor<8x8xi32>
}
