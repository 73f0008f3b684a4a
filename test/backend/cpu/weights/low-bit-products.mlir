// RUN: sinter-opt %s -split-input-file '--cpu-low-bit-products=triple=x86_64-unknown-linux-gnu cpu=x86-64-v4' | FileCheck %s
// RUN: sinter-opt %s -split-input-file '--cpu-low-bit-products=disable-patterns=low-bit-product' | FileCheck %s --check-prefix=OFF
// OFF-NOT: cpu.low_bit_product

// A scale for a column moves behind the sum.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<1x64xf32>, %[[S:.*]]: tensor<128xf32>
func.func @main(%x: tensor<1x64xf32>, %unused: tensor<128xf32>) -> tensor<1x128xf32> {
  // CHECK-DAG: %[[W:.*]] = stablehlo.constant dense<100> : tensor<64x128xi8>
  // CHECK-DAG: %[[P:.*]] = "cpu.low_bit_product"(%[[X]], %[[W]]) <{block = 0 : i64, columns = 0 : i64, contracting = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 0, 0>}>
  // CHECK: stablehlo.multiply %[[P]]
  %w = stablehlo.constant dense<100> : tensor<64x128xi8>
  %s = stablehlo.constant dense<0.5> : tensor<128xf32>
  %f = stablehlo.convert %w : (tensor<64x128xi8>) -> tensor<64x128xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<128xf32>) -> tensor<64x128xf32>
  %m = stablehlo.multiply %f, %b : tensor<64x128xf32>
  %r = stablehlo.dot_general %x, %m, contracting_dims = [1] x [0] : (tensor<1x64xf32>, tensor<64x128xf32>) -> tensor<1x128xf32>
  return %r : tensor<1x128xf32>
}

// -----

// Blocks of 32, from a zero point that all have in common: what is left has
// four bits.
// CHECK-LABEL: func.func @main
// CHECK: cpu.computed_constant : tensor<64x128xi4>
// CHECK: "cpu.low_bit_product"({{.*}}) <{block = 32 : i64, columns = 0 : i64, contracting = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<1x64xf32>, tensor<64x128xi4>, tensor<2x128xf32>)
func.func @main(%x: tensor<1x64xf32>) -> tensor<1x128xf32> {
  %w = stablehlo.constant dense<12> : tensor<64x128xui4>
  %s = stablehlo.iota dim = 0 : tensor<2x128xf32>
  %z = stablehlo.constant dense<8.0> : tensor<64x128xf32>
  %f = stablehlo.convert %w : (tensor<64x128xui4>) -> tensor<64x128xf32>
  %d = stablehlo.subtract %f, %z : tensor<64x128xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [0, 2] : (tensor<2x128xf32>) -> tensor<2x32x128xf32>
  %v = stablehlo.reshape %b : (tensor<2x32x128xf32>) -> tensor<64x128xf32>
  %m = stablehlo.multiply %d, %v : tensor<64x128xf32>
  %r = stablehlo.dot_general %x, %m, contracting_dims = [1] x [0] : (tensor<1x64xf32>, tensor<64x128xf32>) -> tensor<1x128xf32>
  return %r : tensor<1x128xf32>
}

// -----

// A scale for each row, and for blocks of columns of each.
// CHECK-LABEL: func.func @main
// CHECK: "cpu.low_bit_product"({{.*}}) <{block = 1 : i64, columns = 128 : i64, {{.*}}}> : (tensor<1x64xf32>, tensor<64x128xi8>, tensor<64x1xf32>)
// CHECK: "cpu.low_bit_product"({{.*}}) <{block = 1 : i64, columns = 32 : i64, {{.*}}}> : (tensor<1x64xf32>, tensor<64x128xi8>, tensor<64x4xf32>)
func.func @main(%x: tensor<1x64xf32>) -> (tensor<1x128xf32>, tensor<1x128xf32>) {
  %v = stablehlo.constant dense<100> : tensor<64x128xi8>
  %vf = stablehlo.convert %v : (tensor<64x128xi8>) -> tensor<64x128xf32>
  %s = stablehlo.iota dim = 0 : tensor<64xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<64xf32>) -> tensor<64x128xf32>
  %sm = stablehlo.multiply %vf, %sb : tensor<64x128xf32>
  %0 = stablehlo.dot_general %x, %sm, contracting_dims = [1] x [0] : (tensor<1x64xf32>, tensor<64x128xf32>) -> tensor<1x128xf32>
  %t = stablehlo.iota dim = 0 : tensor<256xf32>
  %tb = stablehlo.reshape %t : (tensor<256xf32>) -> tensor<64x4xf32>
  %tc = stablehlo.broadcast_in_dim %tb, dims = [0, 1] : (tensor<64x4xf32>) -> tensor<64x4x32xf32>
  %td = stablehlo.reshape %tc : (tensor<64x4x32xf32>) -> tensor<64x128xf32>
  %tm = stablehlo.multiply %vf, %td : tensor<64x128xf32>
  %1 = stablehlo.dot_general %x, %tm, contracting_dims = [1] x [0] : (tensor<1x64xf32>, tensor<64x128xf32>) -> tensor<1x128xf32>
  return %0, %1 : tensor<1x128xf32>, tensor<1x128xf32>
}

// -----

// Left alone: weights that are no constant, batches, a scale for each element,
// two scales, weights that are as wide, a difference behind the scale.
// CHECK-LABEL: func.func @main
// CHECK-NOT: cpu.low_bit_product
func.func @main(%x: tensor<1x64xf32>, %y: tensor<64x128xi8>, %z: tensor<2x1x64xf32>)
    -> (tensor<1x128xf32>, tensor<2x1x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>) {
  %yf = stablehlo.convert %y : (tensor<64x128xi8>) -> tensor<64x128xf32>
  %0 = stablehlo.dot_general %x, %yf, contracting_dims = [1] x [0] : (tensor<1x64xf32>, tensor<64x128xf32>) -> tensor<1x128xf32>
  %w = stablehlo.constant dense<100> : tensor<2x64x128xi8>
  %wf = stablehlo.convert %w : (tensor<2x64x128xi8>) -> tensor<2x64x128xf32>
  %1 = stablehlo.dot_general %z, %wf, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x1x64xf32>, tensor<2x64x128xf32>) -> tensor<2x1x128xf32>
  %v = stablehlo.constant dense<100> : tensor<64x128xi8>
  %vf = stablehlo.convert %v : (tensor<64x128xi8>) -> tensor<64x128xf32>
  %s = stablehlo.iota dim = 0 : tensor<8192xf32>
  %sb = stablehlo.reshape %s : (tensor<8192xf32>) -> tensor<64x128xf32>
  %sm = stablehlo.multiply %vf, %sb : tensor<64x128xf32>
  %2 = stablehlo.dot_general %x, %sm, contracting_dims = [1] x [0] : (tensor<1x64xf32>, tensor<64x128xf32>) -> tensor<1x128xf32>
  %c = stablehlo.constant dense<0.5> : tensor<64x128xf32>
  %cm = stablehlo.multiply %vf, %c : tensor<64x128xf32>
  %cc = stablehlo.multiply %cm, %c : tensor<64x128xf32>
  %3 = stablehlo.dot_general %x, %cc, contracting_dims = [1] x [0] : (tensor<1x64xf32>, tensor<64x128xf32>) -> tensor<1x128xf32>
  %i = stablehlo.constant dense<100> : tensor<64x128xi32>
  %if = stablehlo.convert %i : (tensor<64x128xi32>) -> tensor<64x128xf32>
  %4 = stablehlo.dot_general %x, %if, contracting_dims = [1] x [0] : (tensor<1x64xf32>, tensor<64x128xf32>) -> tensor<1x128xf32>
  %cd = stablehlo.subtract %cm, %c : tensor<64x128xf32>
  %5 = stablehlo.dot_general %x, %cd, contracting_dims = [1] x [0] : (tensor<1x64xf32>, tensor<64x128xf32>) -> tensor<1x128xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<1x128xf32>, tensor<2x1x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>
}

// -----

// Products in half precision: weights as they are, sums in f32, rounded once.
// CHECK-LABEL: func.func @half
// CHECK: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<4x64xf16>) -> tensor<4x64xf32>
// CHECK: %[[P:.*]] = "cpu.low_bit_product"(%[[X]], %{{.*}}) {{.*}} -> tensor<4x128xf32>
// CHECK: stablehlo.convert %[[P]] : (tensor<4x128xf32>) -> tensor<4x128xf16>
// What is computed is no weight.
// CHECK: stablehlo.dot_general
func.func @half(%x: tensor<4x64xf16>, %y: tensor<64x128xf16>) -> (tensor<4x128xf16>, tensor<4x128xf16>) {
  %w = stablehlo.constant dense<0.1> : tensor<128x64xf16>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<4x64xf16>, tensor<128x64xf16>) -> tensor<4x128xf16>
  %1 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x64xf16>, tensor<64x128xf16>) -> tensor<4x128xf16>
  return %0, %1 : tensor<4x128xf16>, tensor<4x128xf16>
}

// -----

// How exactly the model wants a product goes with it.
// CHECK-LABEL: func.func @main
// CHECK: "cpu.low_bit_product"({{.*}}) <{{.*}}> {sinter.precision = "f32-exact"}
func.func @main(%x: tensor<1x64xf32>) -> tensor<1x128xf32> {
  %w = stablehlo.constant dense<100> : tensor<64x128xi8>
  %f = stablehlo.convert %w : (tensor<64x128xi8>) -> tensor<64x128xf32>
  %r = stablehlo.dot_general %x, %f, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<1x64xf32>, tensor<64x128xf32>) -> tensor<1x128xf32>
  return %r : tensor<1x128xf32>
}
