// RUN: sinter-opt %s --split-input-file '--cpu-carry-biases=allow=contract' --cpu-remove-dead-code | FileCheck %s
// RUN: sinter-opt %s --split-input-file --cpu-carry-biases | FileCheck %s --check-prefix=OFF
// Covers: backend/cpu/precision CarryBiases WidenOnce
// Covers: backend/cpu/weights HalfWeights

// CHECK-LABEL: func.func @columns
// CHECK: %[[P:.*]] = stablehlo.dot_general
// CHECK: %[[B:.*]] = stablehlo.convert %arg2 : (tensor<8xf16>) -> tensor<8xf32>
// CHECK: %[[W:.*]] = stablehlo.broadcast_in_dim %[[B]], dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
// CHECK: %[[S:.*]] = stablehlo.add %[[P]], %[[W]] : tensor<4x8xf32>
// CHECK: %[[R:.*]] = stablehlo.convert %[[S]] : (tensor<4x8xf32>) -> tensor<4x8xf16>
// CHECK: return %[[R]]
// OFF-LABEL: func.func @columns
// OFF: stablehlo.add {{.*}} : tensor<4x8xf16>
func.func @columns(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf16>) -> tensor<4x8xf16> {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %h = stablehlo.convert %p : (tensor<4x8xf32>) -> tensor<4x8xf16>
  %c = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<8xf16>) -> tensor<4x8xf16>
  %s = stablehlo.add %c, %h : tensor<4x8xf16>
  return %s : tensor<4x8xf16>
}

// -----

// A factor for each column stands between.
// CHECK-LABEL: func.func @scaled
// CHECK: stablehlo.multiply {{.*}} : tensor<4x8xf32>
// CHECK: stablehlo.add {{.*}} : tensor<4x8xf32>
// CHECK: stablehlo.convert {{.*}} : (tensor<4x8xf32>) -> tensor<4x8xbf16>
func.func @scaled(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %f: tensor<8xf32>) -> tensor<4x8xbf16> {
  %b = stablehlo.constant dense<3.0> : tensor<4x8xbf16>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %c = stablehlo.broadcast_in_dim %f, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  %m = stablehlo.multiply %p, %c : tensor<4x8xf32>
  %h = stablehlo.convert %m : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  %s = stablehlo.add %h, %b : tensor<4x8xbf16>
  return %s : tensor<4x8xbf16>
}

// -----

// A residual is no bias.
// CHECK-LABEL: func.func @residual
// CHECK: stablehlo.add {{.*}} : tensor<4x8xf16>
func.func @residual(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %r: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %h = stablehlo.convert %p : (tensor<4x8xf32>) -> tensor<4x8xf16>
  %s = stablehlo.add %h, %r : tensor<4x8xf16>
  return %s : tensor<4x8xf16>
}

// -----

// Nor is what is added to something else than a product.
// CHECK-LABEL: func.func @other
// CHECK: stablehlo.add {{.*}} : tensor<4x8xf16>
func.func @other(%x: tensor<4x8xf32>, %b: tensor<8xf16>) -> tensor<4x8xf16> {
  %p = stablehlo.exponential %x : tensor<4x8xf32>
  %h = stablehlo.convert %p : (tensor<4x8xf32>) -> tensor<4x8xf16>
  %c = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<8xf16>) -> tensor<4x8xf16>
  %s = stablehlo.add %h, %c : tensor<4x8xf16>
  return %s : tensor<4x8xf16>
}

// -----

// Somebody else reads the product as it is rounded.
// CHECK-LABEL: func.func @shared
// CHECK: stablehlo.add {{.*}} : tensor<4x8xf16>
func.func @shared(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf16>) -> (tensor<4x8xf16>, tensor<4x8xf16>) {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %h = stablehlo.convert %p : (tensor<4x8xf32>) -> tensor<4x8xf16>
  %c = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<8xf16>) -> tensor<4x8xf16>
  %s = stablehlo.add %h, %c : tensor<4x8xf16>
  return %h, %s : tensor<4x8xf16>, tensor<4x8xf16>
}
