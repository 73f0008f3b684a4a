// RUN: sinter-opt %s --split-input-file '--cpu-simplify-convolutions=cpu=x86-64-v4' | FileCheck %s
// RUN: sinter-opt %s --split-input-file '--cpu-simplify-convolutions=cpu=x86-64-v4 disable-patterns=simplify-convolution' | FileCheck %s --check-prefix=OFF

// Three spatial dimensions: the outermost becomes images and channels.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.convolution({{.*}}) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]
// OFF: stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0, 1, 2]
func.func @main(%x: tensor<1x4x6x8x8xf32>, %w: tensor<16x4x3x3x3xf32>) -> tensor<1x16x4x6x6xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1, 2]x[o, i, 0, 1, 2]->[b, f, 0, 1, 2],
    window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x4x6x8x8xf32>, tensor<16x4x3x3x3xf32>) -> tensor<1x16x4x6x6xf32>
  return %0 : tensor<1x16x4x6x6xf32>
}

// -----

// Sums of bytes fit f32.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.convolution({{.*}}) {{.*}}sinter.exact{{.*}} -> tensor<1x16x8x8xf32>
// CHECK: stablehlo.convert {{.*}} -> tensor<1x16x8x8xi32>
func.func @main(%x: tensor<1x8x8x8xi8>, %w: tensor<16x8x1x1xi8>) -> tensor<1x16x8x8xi32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x8x8x8xi8>, tensor<16x8x1x1xi8>) -> tensor<1x16x8x8xi32>
  return %0 : tensor<1x16x8x8xi32>
}

// -----

// An ordinary one stays.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: stablehlo.convolution(%arg0, %arg1)
func.func @main(%x: tensor<1x8x8x8xf32>, %w: tensor<16x8x3x3xf32>) -> tensor<1x16x6x6xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x8x8x8xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x6x6xf32>
  return %0 : tensor<1x16x6x6xf32>
}

// -----

// Who makes floats of the sums reads them as they are.
// CHECK-LABEL: func.func @main
// CHECK: %[[SUMS:.*]] = stablehlo.convolution({{.*}}) {{.*}}sinter.exact{{.*}} -> tensor<1x16x8x8xf32>
// CHECK: stablehlo.multiply %[[SUMS]], %arg2
func.func @main(%x: tensor<1x8x8x8xi8>, %w: tensor<16x8x1x1xi8>, %s: tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x8x8x8xi8>, tensor<16x8x1x1xi8>) -> tensor<1x16x8x8xi32>
  %1 = stablehlo.convert %0 : (tensor<1x16x8x8xi32>) -> tensor<1x16x8x8xf32>
  %2 = stablehlo.multiply %1, %s : tensor<1x16x8x8xf32>
  return %2 : tensor<1x16x8x8xf32>
}
