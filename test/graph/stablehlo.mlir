// RUN: sinter-opt %s | sinter-opt | FileCheck %s
// Covers: graph/stablehlo AssemblyFormat Attributes RegionAssembly StablehloDialect TypeAssembly InferDynamic
// Covers: graph/stablehlo InferGather Inference InferenceOfAlgebra InferenceOfRegions
// The text form survives a round trip, in the public specification's spelling.

// CHECK-LABEL: func @convolution
func.func @convolution(%x: tensor<1x3x8x8xf32>, %k: tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32> {
  // CHECK: stablehlo.convolution(%{{.*}}, %{{.*}}) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
  // CHECK-SAME: window = {stride = [2, 2], pad = {{\[\[}}1, 1], [1, 1]]}
  // CHECK-SAME: {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
  // CHECK-SAME: (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32>
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
      window = {stride = [2, 2], pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32>
  return %r : tensor<1x4x4x4xf32>
}

// CHECK-LABEL: func @dot_general
func.func @dot_general(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) -> tensor<2x3x5xf32> {
  // CHECK: stablehlo.dot_general %{{.*}}, %{{.*}}, batching_dims = [0] x [0], contracting_dims = [2] x [1]
  %r = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1]
      : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}

// CHECK-LABEL: func @batch_norm
func.func @batch_norm(%x: tensor<2x3xf32>, %p: tensor<3xf32>) -> tensor<2x3xf32> {
  // CHECK: "stablehlo.batch_norm_inference"(%{{.*}}) <{epsilon = {{.*}} : f32, feature_index = 1 : i64}>
  %r = "stablehlo.batch_norm_inference"(%x, %p, %p, %p, %p) {epsilon = 0.001 : f32, feature_index = 1 : i64}
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @reduce
func.func @reduce(%x: tensor<2x3xf32>, %zero: tensor<f32>) -> tensor<2xf32> {
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.add across dimensions = [1]
  %r = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: func @movement
func.func @movement(%x: tensor<3x8xf32>, %zero: tensor<f32>) -> tensor<?xf32> {
  // CHECK: stablehlo.slice %{{.*}} [1:3, 4:8:2] : (tensor<3x8xf32>) -> tensor<2x2xf32>
  %0 = stablehlo.slice %x [1:3, 4:8:2] : (tensor<3x8xf32>) -> tensor<2x2xf32>
  // CHECK: stablehlo.pad %{{.*}}, low = [0, 1], high = [2, 0], interior = [0, 1]
  %1 = stablehlo.pad %0, %zero, low = [0, 1], high = [2, 0], interior = [0, 1]
      : (tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  // CHECK: stablehlo.transpose %{{.*}}, dims = [1, 0]
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 0
  %3 = stablehlo.concatenate %2, %1, dim = 0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %4 = stablehlo.reshape %3 : (tensor<8x4xf32>) -> tensor<32xf32>
  %shape = stablehlo.constant dense<32> : tensor<1xi64>
  // CHECK: stablehlo.dynamic_broadcast_in_dim %{{.*}}, %{{.*}}, dims = [0]
  %5 = stablehlo.dynamic_broadcast_in_dim %4, %shape, dims = [0] : (tensor<32xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %5 : tensor<?xf32>
}

// CHECK-LABEL: func @reduce_pairs
func.func @reduce_pairs(%x: tensor<4xf32>, %i: tensor<4xi32>, %a: tensor<f32>, %b: tensor<i32>) -> tensor<f32> {
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}), (%{{.*}} init: %{{.*}}) across dimensions = [0]
  // CHECK-NEXT: reducer(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>) (%{{.*}}: tensor<i32>, %{{.*}}: tensor<i32>)
  %r:2 = stablehlo.reduce(%x init: %a), (%i init: %b) across dimensions = [0]
      : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
      reducer(%p: tensor<f32>, %q: tensor<f32>) (%s: tensor<i32>, %t: tensor<i32>) {
        stablehlo.return %p, %t : tensor<f32>, tensor<i32>
      }
  return %r#0 : tensor<f32>
}

// An empty list of a window is one that is not given; kernels may be open.
// CHECK-LABEL: func @convolution_with_open_kernel
func.func @convolution_with_open_kernel(%x: tensor<1x8x8x3xf32>, %k: tensor<?x?x3x4xf32>) -> tensor<1x?x?x4xf32> {
  // CHECK: window = {pad =
  // CHECK-NOT: stride
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [], pad = [[1, 1], [1, 1]], lhs_dilate = [], rhs_dilate = [], reverse = []}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x8x8x3xf32>, tensor<?x?x3x4xf32>) -> tensor<1x?x?x4xf32>
  return %r : tensor<1x?x?x4xf32>
}

// CHECK-LABEL: func @send_without_pairs
func.func @send_without_pairs(%x: tensor<f32>, %t: !stablehlo.token) -> !stablehlo.token {
  // CHECK: stablehlo.send
  %r = "stablehlo.send"(%x, %t) {source_target_pairs = dense<[]> : tensor<0xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 0, type = 2>, is_host_transfer = true}
      : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
  return %r : !stablehlo.token
}
