// RUN: sinter-opt %s --split-input-file --cpu-simplify-products | FileCheck %s
// RUN: sinter-opt %s --split-input-file '--cpu-simplify-products=disable-patterns=all' | FileCheck %s --check-prefix=OFF

// Sums of bytes less a number that is no byte fit f32, though they were widened
// to i32.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = stablehlo.convert {{.*}} : (tensor<32x64xi32>) -> tensor<32x64xf32>
// CHECK: %[[D:.*]] = stablehlo.dot_general %[[A]], {{.*}} -> tensor<32x16xf32>
// CHECK: stablehlo.convert %[[D]] : (tensor<32x16xf32>) -> tensor<32x16xi32>
// OFF: stablehlo.dot_general {{.*}} -> tensor<32x16xi32>
func.func @main(%x: tensor<32x64xui8>, %w: tensor<64x16xi8>) -> tensor<32x16xi32> {
  %z = stablehlo.constant dense<300> : tensor<32x64xi32>
  %0 = stablehlo.convert %x : (tensor<32x64xui8>) -> tensor<32x64xi32>
  %1 = stablehlo.subtract %0, %z : tensor<32x64xi32>
  %2 = stablehlo.convert %w : (tensor<64x16xi8>) -> tensor<64x16xi32>
  %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0]
    : (tensor<32x64xi32>, tensor<64x16xi32>) -> tensor<32x16xi32>
  return %3 : tensor<32x16xi32>
}

// -----

// Any i32 may be in them: f64 does not hold the sums.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.dot_general {{.*}} -> tensor<32x16xi32>
func.func @main(%x: tensor<32x64xi32>, %w: tensor<64x16xi32>) -> tensor<32x16xi32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<32x64xi32>, tensor<64x16xi32>) -> tensor<32x16xi32>
  return %0 : tensor<32x16xi32>
}

// -----

// Sums of narrow floats are f32, rounded once.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.dot_general {{.*}} -> tensor<32x16xf32>
// CHECK: stablehlo.convert {{.*}} -> tensor<32x16xbf16>
func.func @main(%x: tensor<32x64xbf16>, %w: tensor<64x16xbf16>) -> tensor<32x16xbf16> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<32x64xbf16>, tensor<64x16xbf16>) -> tensor<32x16xbf16>
  return %0 : tensor<32x16xbf16>
}

// -----

// A vector: the matrix is read in the order of memory.
// CHECK-LABEL: func.func @main
// CHECK-NOT: stablehlo.dot_general
// CHECK: stablehlo.multiply
// CHECK: stablehlo.reduce
func.func @main(%m: tensor<64x64xf32>, %v: tensor<64x1xf32>) -> tensor<64x1xf32> {
  %0 = stablehlo.dot_general %m, %v, contracting_dims = [1] x [0]
    : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x1xf32>
  return %0 : tensor<64x1xf32>
}

// -----

// Too little work to pay for anything, and exact in any order.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: stablehlo.dot_general {{.*}} -> tensor<2x2xi32>
func.func @main(%x: tensor<2x4xi8>, %w: tensor<4x2xi8>) -> tensor<2x2xi32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<2x4xi8>, tensor<4x2xi8>) -> tensor<2x2xi32>
  return %0 : tensor<2x2xi32>
}

// -----

// Sums of floats are those of a larger product.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.dot_general {{.*}} -> tensor<2x2xf32>
func.func @main(%x: tensor<2x4xbf16>, %w: tensor<4x2xbf16>) -> tensor<2x2xbf16> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<2x4xbf16>, tensor<4x2xbf16>) -> tensor<2x2xbf16>
  return %0 : tensor<2x2xbf16>
}

// -----

// Short sums of complex numbers add the parts of each product; long ones are
// four products.
// CHECK-LABEL: func.func @main
// CHECK-NOT: stablehlo.dot_general
// CHECK: stablehlo.subtract {{.*}} : tensor<4x7x6xf32>
// CHECK: stablehlo.reduce
// CHECK: stablehlo.complex
func.func @main(%x: tensor<4x7xcomplex<f32>>, %w: tensor<7x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<4x7xcomplex<f32>>, tensor<7x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
  return %0 : tensor<4x6xcomplex<f32>>
}

// -----

// The operand is as large as all pairs, but not in their order.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.broadcast_in_dim {{.*}}, dims = [1, 0] : (tensor<5x5xf32>) -> tensor<5x5xf32>
func.func @main(%x: tensor<5x5xcomplex<f32>>, %w: tensor<5x5xcomplex<f32>>) -> tensor<5xcomplex<f32>> {
  %0 = stablehlo.dot_general %x, %w, batching_dims = [1] x [1], contracting_dims = [0] x [0]
    : (tensor<5x5xcomplex<f32>>, tensor<5x5xcomplex<f32>>) -> tensor<5xcomplex<f32>>
  return %0 : tensor<5xcomplex<f32>>
}

// -----

// CHECK-LABEL: func.func @main
// CHECK-COUNT-4: stablehlo.dot_general {{.*}} -> tensor<4x6xf32>
func.func @main(%x: tensor<4x8xcomplex<f32>>, %w: tensor<8x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<4x8xcomplex<f32>>, tensor<8x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
  return %0 : tensor<4x6xcomplex<f32>>
}
