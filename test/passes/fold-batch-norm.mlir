// RUN: sinter-opt --fold-batch-norm %s | FileCheck %s
// RUN: sinter-opt --fold-batch-norm="disable-patterns=fold-batch-norm-after" %s | FileCheck %s --check-prefix=OFF

// A batch norm becomes exactly a convolution and an addition.
// CHECK-LABEL: func @exact
// OFF-LABEL: func @exact
func.func @exact(%x: tensor<1x3x4x4xf32>) -> tensor<1x2x4x4xf32> {
  // CHECK: %[[K:.*]] = stablehlo.constant {sinter.name = "conv.kernel_fuse_bn"} dense<{{\[\[\[\[}}2.000000e+00]], {{.*}}4.000000e+00
  // CHECK: %[[P:.*]] = stablehlo.convolution(%arg0, %[[K]])
  // CHECK: %[[B:.*]] = stablehlo.constant {sinter.name = "offset_fuse_bn"} dense<[-1.000000e+00, -6.000000e+00]>
  // CHECK: %[[R:.*]] = stablehlo.broadcast_in_dim %[[B]], dims = [1] : (tensor<2xf32>) -> tensor<1x2x4x4xf32>
  // CHECK: %[[S:.*]] = stablehlo.add %[[P]], %[[R]]
  // CHECK-NEXT: return %[[S]]
  // OFF: stablehlo.batch_norm_inference
  %k = stablehlo.constant {sinter.name = "conv.kernel"} dense<1.0> : tensor<2x3x1x1xf32>
  %scale = stablehlo.constant dense<[4.0, 8.0]> : tensor<2xf32>
  %offset = stablehlo.constant {sinter.name = "offset"} dense<[1.0, 2.0]> : tensor<2xf32>
  %mean = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %variance = stablehlo.constant dense<3.0> : tensor<2xf32>
  %p = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
      window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x4x4xf32>
  %r = "stablehlo.batch_norm_inference"(%p, %scale, %offset, %mean, %variance) {epsilon = 1.0 : f32, feature_index = 1 : i64}
      : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %r : tensor<1x2x4x4xf32>
}

// With a batch that is known only when it runs, the bias is broadcast like x.
// CHECK-LABEL: func @symbolic
func.func @symbolic(%x: tensor<?x3x4x4xf32>) -> tensor<?x2x4x4xf32> {
  // CHECK: %[[P:.*]] = stablehlo.convolution
  // CHECK: %[[V:.*]] = stablehlo.constant {{.*}} : tensor<2xf32>
  // CHECK: %[[B:.*]] = stablehlo.reshape %[[V]] : (tensor<2xf32>) -> tensor<2x1x1xf32>
  // CHECK: nn.broadcast_like %[[B]], %[[P]] : (tensor<2x1x1xf32>, tensor<?x2x4x4xf32>) -> tensor<?x2x4x4xf32>
  %k = stablehlo.constant dense<1.0> : tensor<2x3x1x1xf32>
  %one = stablehlo.constant dense<1.0> : tensor<2xf32>
  %p = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
      window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<?x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<?x2x4x4xf32>
  %r = "stablehlo.batch_norm_inference"(%p, %one, %one, %one, %one) {epsilon = 1.0 : f32, feature_index = 1 : i64}
      : (tensor<?x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x2x4x4xf32>
  return %r : tensor<?x2x4x4xf32>
}

// What the product's node was is not what it is now.
// CHECK-LABEL: func @groups
func.func @groups(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  // CHECK-NOT: sinter.source = 0
  // CHECK: nn.relu %{{.*}} {sinter.source = 1 : i64}
  %k = stablehlo.constant dense<1.0> : tensor<3x2xf32>
  %s = stablehlo.constant dense<0.5> : tensor<2x2xf32>
  %p = stablehlo.dot_general %x, %k, contracting_dims = [1] x [0] {sinter.source = 0 : i64} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %q = stablehlo.multiply %p, %s : tensor<2x2xf32>
  %r = nn.relu %q {sinter.source = 1 : i64} : tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// What is padded is f64 once the conversion stands at the product, and so is the
// padding.
// CHECK-LABEL: func @padded_before_conversion
func.func @padded_before_conversion(%x: tensor<5x2xf32>) -> tensor<7x3xf64> {
  // CHECK: stablehlo.dot_general
  // CHECK-NEXT: stablehlo.convert
  // CHECK: stablehlo.pad
  // CHECK-SAME: (tensor<5x3xf64>, tensor<f64>) -> tensor<7x3xf64>
  // CHECK-NOT: stablehlo.divide
  %w = stablehlo.constant dense<[[-0.19, 0.558, -0.266], [-0.088, -0.558, 0.058]]> : tensor<2x3xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<5x2xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.pad %y, %zero, low = [1, 0], high = [1, 0], interior = [0, 0] : (tensor<5x3xf32>, tensor<f32>) -> tensor<7x3xf32>
  %d = stablehlo.convert %p : (tensor<7x3xf32>) -> tensor<7x3xf64>
  %s = stablehlo.constant dense<[0.7, 0.648, 0.842]> : tensor<3xf64>
  %b = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<3xf64>) -> tensor<7x3xf64>
  %r = stablehlo.divide %d, %b : tensor<7x3xf64>
  return %r : tensor<7x3xf64>
}

// Weights that are narrower than the sums would round the scale, but for powers
// of two; what is rounded to their type behind it loses nothing more.
// CHECK-LABEL: func @narrow_weights
func.func @narrow_weights(%x: tensor<4x3xf16>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf16>) {
  // CHECK: %[[K:.*]] = stablehlo.constant {sinter.name = "k"}
  // CHECK: %[[P:.*]] = stablehlo.dot_general %arg0, %[[K]]
  // CHECK: %[[Q:.*]] = stablehlo.constant {sinter.name = "k_fuse_bn"} dense<{{.*}}3.000000e+00, 7.500000e-01
  // CHECK: stablehlo.constant {sinter.name = "k_fuse_bn_1"} dense<{{.*}}1.650390e+00, 4.949220e+00
  // CHECK: stablehlo.multiply %[[P]]
  // CHECK-NOT: stablehlo.multiply
  %k = stablehlo.constant {sinter.name = "k"} dense<1.5> : tensor<3x2xf16>
  %a = stablehlo.constant dense<[1.1, 3.3]> : tensor<2xf32>
  %b = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %as = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<2xf32>) -> tensor<4x2xf32>
  %bs = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<2xf32>) -> tensor<4x2xf32>
  %p = stablehlo.dot_general %x, %k, contracting_dims = [1] x [0] : (tensor<4x3xf16>, tensor<3x2xf16>) -> tensor<4x2xf32>
  %q = stablehlo.dot_general %x, %k, contracting_dims = [1] x [0] : (tensor<4x3xf16>, tensor<3x2xf16>) -> tensor<4x2xf32>
  %r = stablehlo.dot_general %x, %k, contracting_dims = [1] x [0] : (tensor<4x3xf16>, tensor<3x2xf16>) -> tensor<4x2xf32>
  %s = stablehlo.multiply %p, %as : tensor<4x2xf32>
  %t = stablehlo.multiply %q, %bs : tensor<4x2xf32>
  %u = stablehlo.multiply %r, %as : tensor<4x2xf32>
  %v = stablehlo.convert %u : (tensor<4x2xf32>) -> tensor<4x2xf16>
  return %s, %t, %v : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf16>
}
