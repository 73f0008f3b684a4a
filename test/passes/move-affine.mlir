// RUN: sinter-opt %s --fold-batch-norm --move-affine --fold-batch-norm | FileCheck %s

// Elements change their places.
// CHECK-LABEL: @transpose(
// CHECK: stablehlo.transpose
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @transpose(%x: tensor<2x2x4x4xf32>) -> tensor<2x4x4x2xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.transpose %1, dims = [0, 2, 3, 1] : (tensor<2x2x4x4xf32>) -> tensor<2x4x4x2xf32>
  %3 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 3 : i64} : (tensor<2x4x4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x4x4x2xf32>
  return %7 : tensor<2x4x4x2xf32>
}

// Features of a channel have its scale.
// CHECK-LABEL: @flatten_to_dot(
// CHECK: stablehlo.reshape %arg0
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @flatten_to_dot(%x: tensor<2x2x4x4xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %3 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %4 = "stablehlo.batch_norm_inference"(%x, %0, %1, %2, %3) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %5 = stablehlo.reshape %4 : (tensor<2x2x4x4xf32>) -> tensor<2x32xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<32x3xf32>
  %7 = stablehlo.dot_general %5, %6, contracting_dims = [1] x [0] : (tensor<2x32xf32>, tensor<32x3xf32>) -> tensor<2x3xf32>
  return %7 : tensor<2x3xf32>
}

// Channels are shuffled.
// CHECK-LABEL: @channel_shuffle(
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @channel_shuffle(%x: tensor<2x2x4x4xf32>) -> tensor<2x4x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<4x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<4x2x1x1xf32>) -> tensor<2x4x4x4xf32>
  %2 = stablehlo.reshape %1 : (tensor<2x4x4x4xf32>) -> tensor<2x2x2x4x4xf32>
  %3 = stablehlo.transpose %2, dims = [0, 2, 1, 3, 4] : (tensor<2x2x2x4x4xf32>) -> tensor<2x2x2x4x4xf32>
  %4 = stablehlo.reshape %3 : (tensor<2x2x2x4x4xf32>) -> tensor<2x4x4x4xf32>
  %5 = stablehlo.constant dense<[1.0, 2.0, 4.0, -8.0]> : tensor<4xf32>
  %6 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %7 = stablehlo.constant dense<0.0> : tensor<4xf32>
  %8 = stablehlo.constant dense<1.0> : tensor<4xf32>
  %9 = "stablehlo.batch_norm_inference"(%4, %5, %6, %7, %8) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x4x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x4x4xf32>
  return %9 : tensor<2x4x4x4xf32>
}

// Down across a shuffle, into the convolution behind it.
// CHECK-LABEL: @channel_shuffle_down(
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @channel_shuffle_down(%x: tensor<2x4x4x4xf32>) -> tensor<2x3x4x4xf32> {
  %0 = stablehlo.constant dense<[1.0, 2.0, 4.0, -8.0]> : tensor<4xf32>
  %1 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<4xf32>
  %3 = stablehlo.constant dense<1.0> : tensor<4xf32>
  %4 = "stablehlo.batch_norm_inference"(%x, %0, %1, %2, %3) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x4x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x4x4xf32>
  %5 = stablehlo.reshape %4 : (tensor<2x4x4x4xf32>) -> tensor<2x2x2x4x4xf32>
  %6 = stablehlo.transpose %5, dims = [0, 2, 1, 3, 4] : (tensor<2x2x2x4x4xf32>) -> tensor<2x2x2x4x4xf32>
  %7 = stablehlo.reshape %6 : (tensor<2x2x2x4x4xf32>) -> tensor<2x4x4x4xf32>
  %8 = stablehlo.constant dense<1.0> : tensor<3x4x1x1xf32>
  %9 = stablehlo.convolution(%7, %8) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x4x4xf32>, tensor<3x4x1x1xf32>) -> tensor<2x3x4x4xf32>
  return %9 : tensor<2x3x4x4xf32>
}

// Another dimension is cut.
// CHECK-LABEL: @slice_places(
// CHECK: stablehlo.slice
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @slice_places(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x2x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.slice %1 [0:2, 0:2, 1:3, 0:4] : (tensor<2x2x4x4xf32>) -> tensor<2x2x2x4xf32>
  %3 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x2x4xf32>
  return %7 : tensor<2x2x2x4xf32>
}

// The slice's channels alone are scaled.
// CHECK-LABEL: @slice_channels(
// CHECK: dense<{{.*}}1.000000e+00{{.*}}2.000000e+00{{.*}}5.000000e-01
// CHECK: stablehlo.slice
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @slice_channels(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<4x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<4x2x1x1xf32>) -> tensor<2x4x4x4xf32>
  %2 = stablehlo.slice %1 [0:2, 1:3, 0:4, 0:4] : (tensor<2x4x4x4xf32>) -> tensor<2x2x4x4xf32>
  %3 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %7 : tensor<2x2x4x4xf32>
}

// Two slices that do not overlap, each with a norm of its own.
// CHECK-LABEL: @split_channels(
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @split_channels(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<4x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<4x2x1x1xf32>) -> tensor<2x4x4x4xf32>
  %2 = stablehlo.slice %1 [0:2, 0:2, 0:4, 0:4] : (tensor<2x4x4x4xf32>) -> tensor<2x2x4x4xf32>
  %3 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %8 = stablehlo.slice %1 [0:2, 2:4, 0:4, 0:4] : (tensor<2x4x4x4xf32>) -> tensor<2x2x4x4xf32>
  %9 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %10 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %11 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %12 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %13 = "stablehlo.batch_norm_inference"(%8, %9, %10, %11, %12) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %14 = nn.relu %13 : tensor<2x2x4x4xf32>
  %15 = stablehlo.add %7, %14 : tensor<2x2x4x4xf32>
  return %15 : tensor<2x2x4x4xf32>
}

// One of two slices has a norm: the other is as it was.
// CHECK-LABEL: @split_one(
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @split_one(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<4x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<4x2x1x1xf32>) -> tensor<2x4x4x4xf32>
  %2 = stablehlo.slice %1 [0:2, 0:2, 0:4, 0:4] : (tensor<2x4x4x4xf32>) -> tensor<2x2x4x4xf32>
  %3 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %8 = stablehlo.slice %1 [0:2, 2:4, 0:4, 0:4] : (tensor<2x4x4x4xf32>) -> tensor<2x2x4x4xf32>
  %9 = stablehlo.subtract %7, %8 : tensor<2x2x4x4xf32>
  return %9 : tensor<2x2x4x4xf32>
}

// The channel between belongs to both slices.
// CHECK-LABEL: @slices_overlap(
// CHECK: batch_norm_inference
func.func @slices_overlap(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<3x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<3x2x1x1xf32>) -> tensor<2x3x4x4xf32>
  %2 = stablehlo.slice %1 [0:2, 0:2, 0:4, 0:4] : (tensor<2x3x4x4xf32>) -> tensor<2x2x4x4xf32>
  %3 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %8 = stablehlo.slice %1 [0:2, 1:3, 0:4, 0:4] : (tensor<2x3x4x4xf32>) -> tensor<2x2x4x4xf32>
  %9 = stablehlo.subtract %7, %8 : tensor<2x2x4x4xf32>
  return %9 : tensor<2x2x4x4xf32>
}

// Zeros stay zeros when scaled.
// CHECK-LABEL: @pad_scale(
// CHECK: stablehlo.pad
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @pad_scale(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x6x6xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.pad %1, %2, low = [0, 0, 1, 1], high = [0, 0, 1, 1], interior = [0, 0, 0, 0] : (tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x6x6xf32>
  %4 = nn.relu %3 : tensor<2x2x6x6xf32>
  %5 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [1] : (tensor<2xf32>) -> tensor<2x2x6x6xf32>
  %7 = stablehlo.multiply %4, %6 : tensor<2x2x6x6xf32>
  return %7 : tensor<2x2x6x6xf32>
}

// They do not when shifted.
// CHECK-LABEL: @pad_shift(
// CHECK: batch_norm_inference
func.func @pad_shift(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x6x6xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.pad %1, %2, low = [0, 0, 1, 1], high = [0, 0, 1, 1], interior = [0, 0, 0, 0] : (tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x6x6xf32>
  %4 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %5 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %6 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %7 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %8 = "stablehlo.batch_norm_inference"(%3, %4, %5, %6, %7) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x6x6xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x6x6xf32>
  return %8 : tensor<2x2x6x6xf32>
}

// Nor do ones when scaled.
// CHECK-LABEL: @pad_ones(
// CHECK: stablehlo.multiply
func.func @pad_ones(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x6x6xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.constant dense<1.0> : tensor<f32>
  %3 = stablehlo.pad %1, %2, low = [0, 0, 1, 1], high = [0, 0, 1, 1], interior = [0, 0, 0, 0] : (tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x6x6xf32>
  %4 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [1] : (tensor<2xf32>) -> tensor<2x2x6x6xf32>
  %6 = stablehlo.multiply %3, %5 : tensor<2x2x6x6xf32>
  return %6 : tensor<2x2x6x6xf32>
}

// Each operand takes up its channels.
// CHECK-LABEL: @concat_channels(
// CHECK: stablehlo.concatenate
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @concat_channels(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<1x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<2x1x4x4xf32>
  %2 = nn.relu %1 : tensor<2x1x4x4xf32>
  %3 = stablehlo.constant dense<1.0> : tensor<1x2x1x1xf32>
  %4 = stablehlo.convolution(%x, %3) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<2x1x4x4xf32>
  %5 = stablehlo.concatenate %2, %4, dim = 1 : (tensor<2x1x4x4xf32>, tensor<2x1x4x4xf32>) -> tensor<2x2x4x4xf32>
  %6 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %7 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %8 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %9 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %10 = "stablehlo.batch_norm_inference"(%5, %6, %7, %8, %9) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %10 : tensor<2x2x4x4xf32>
}

// All operands have the same channels.
// CHECK-LABEL: @concat_images(
// CHECK: stablehlo.concatenate
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @concat_images(%x: tensor<2x2x4x4xf32>) -> tensor<4x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %3 = stablehlo.convolution(%x, %2) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %4 = stablehlo.concatenate %1, %3, dim = 0 : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<4x2x4x4xf32>
  %5 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %6 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %7 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %8 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %9 = "stablehlo.batch_norm_inference"(%4, %5, %6, %7, %8) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<4x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<4x2x4x4xf32>
  return %9 : tensor<4x2x4x4xf32>
}

// A convolution behind takes up the channels that are scaled.
// CHECK-LABEL: @concat_down(
// CHECK: stablehlo.concatenate %arg0, %arg0
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @concat_down(%x: tensor<2x2x4x4xf32>) -> tensor<2x3x4x4xf32> {
  %0 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %3 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %4 = "stablehlo.batch_norm_inference"(%x, %0, %1, %2, %3) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %5 = stablehlo.concatenate %4, %x, dim = 1 : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x4x4x4xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<3x4x1x1xf32>
  %7 = stablehlo.convolution(%5, %6) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x4x4xf32>, tensor<3x4x1x1xf32>) -> tensor<2x3x4x4xf32>
  return %7 : tensor<2x3x4x4xf32>
}

// The other images are not scaled.
// CHECK-LABEL: @concat_images_down(
// CHECK: batch_norm_inference
func.func @concat_images_down(%x: tensor<2x2x4x4xf32>) -> tensor<4x3x4x4xf32> {
  %0 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %3 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %4 = "stablehlo.batch_norm_inference"(%x, %0, %1, %2, %3) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %5 = stablehlo.concatenate %4, %x, dim = 0 : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<4x2x4x4xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<3x2x1x1xf32>
  %7 = stablehlo.convolution(%5, %6) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x2x4x4xf32>, tensor<3x2x1x1xf32>) -> tensor<4x3x4x4xf32>
  return %7 : tensor<4x3x4x4xf32>
}

// Nor other rows: a scale for each channel and row.
// CHECK-LABEL: @concat_rows_down(
// CHECK: batch_norm_inference
func.func @concat_rows_down(%x: tensor<2x2x4x4xf32>) -> tensor<2x3x8x4xf32> {
  %0 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %3 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %4 = "stablehlo.batch_norm_inference"(%x, %0, %1, %2, %3) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %5 = stablehlo.concatenate %4, %x, dim = 2 : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x8x4xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<3x2x1x1xf32>
  %7 = stablehlo.convolution(%5, %6) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x8x4xf32>, tensor<3x2x1x1xf32>) -> tensor<2x3x8x4xf32>
  return %7 : tensor<2x3x8x4xf32>
}

// The same operand twice is read twice.
// CHECK-LABEL: @concat_twice(
// CHECK: batch_norm_inference
func.func @concat_twice(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<1x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<2x1x4x4xf32>
  %2 = stablehlo.concatenate %1, %1, dim = 1 : (tensor<2x1x4x4xf32>, tensor<2x1x4x4xf32>) -> tensor<2x2x4x4xf32>
  %3 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %7 : tensor<2x2x4x4xf32>
}

// One norm, two operands.
// CHECK-LABEL: @concat_same_norm(
// CHECK: batch_norm_inference
func.func @concat_same_norm(%x: tensor<2x2x4x4xf32>) -> tensor<2x4x4x4xf32> {
  %0 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %3 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %4 = "stablehlo.batch_norm_inference"(%x, %0, %1, %2, %3) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %5 = stablehlo.concatenate %4, %4, dim = 1 : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x4x4x4xf32>
  %6 = nn.relu %5 : tensor<2x4x4x4xf32>
  return %6 : tensor<2x4x4x4xf32>
}

// What scales all channels of a slice alike scales no others.
// CHECK-LABEL: @concat_part_uniform(
// CHECK: stablehlo.slice %arg0
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @concat_part_uniform(%x: tensor<2x4x4x4xf32>, %y: tensor<2x2x4x4xf32>) -> tensor<2x3x4x4xf32> {
  %0 = stablehlo.constant dense<[2.0, 2.0, 4.0, 4.0]> : tensor<4xf32>
  %1 = stablehlo.constant dense<[1.0, 1.0, 3.0, 3.0]> : tensor<4xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<4xf32>
  %3 = stablehlo.constant dense<1.0> : tensor<4xf32>
  %4 = "stablehlo.batch_norm_inference"(%x, %0, %1, %2, %3) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x4x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x4x4xf32>
  %5 = stablehlo.slice %4 [0:2, 0:2, 0:4, 0:4] : (tensor<2x4x4x4xf32>) -> tensor<2x2x4x4xf32>
  %6 = stablehlo.concatenate %5, %y, dim = 1 : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x4x4x4xf32>
  %7 = stablehlo.constant dense<1.0> : tensor<3x4x1x1xf32>
  %8 = stablehlo.convolution(%6, %7) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x4x4xf32>, tensor<3x4x1x1xf32>) -> tensor<2x3x4x4xf32>
  return %8 : tensor<2x3x4x4xf32>
}

// Both sides are scaled, one is shifted.
// CHECK-LABEL: @residual_sum(
// CHECK: stablehlo.add
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @residual_sum(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %3 = stablehlo.convolution(%x, %2) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %4 = stablehlo.add %1, %3 : tensor<2x2x4x4xf32>
  %5 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %6 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %7 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %8 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %9 = "stablehlo.batch_norm_inference"(%4, %5, %6, %7, %8) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %9 : tensor<2x2x4x4xf32>
}

// Of a difference the first is shifted.
// CHECK-LABEL: @difference(
// CHECK: stablehlo.subtract
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @difference(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %3 = stablehlo.convolution(%x, %2) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %4 = stablehlo.subtract %1, %3 : tensor<2x2x4x4xf32>
  %5 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %6 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %7 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %8 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %9 = "stablehlo.batch_norm_inference"(%4, %5, %6, %7, %8) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %9 : tensor<2x2x4x4xf32>
}

// One side takes up nothing: its scale stays, the shift is a bias.
// CHECK-LABEL: @sum_of_input(
// CHECK-NOT: batch_norm_inference
// CHECK: multiply
// CHECK-NOT: multiply
func.func @sum_of_input(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.add %1, %x : tensor<2x2x4x4xf32>
  %3 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %7 : tensor<2x2x4x4xf32>
}

// So it is where there is a bias already.
// CHECK-LABEL: @sum_of_biased_and_input(
// CHECK-NOT: batch_norm_inference
// CHECK: multiply
// CHECK-NOT: multiply
func.func @sum_of_biased_and_input(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %4 = stablehlo.add %1, %3 : tensor<2x2x4x4xf32>
  %5 = stablehlo.add %4, %x : tensor<2x2x4x4xf32>
  %6 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %7 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %8 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %9 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %10 = "stablehlo.batch_norm_inference"(%5, %6, %7, %8, %9) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %10 : tensor<2x2x4x4xf32>
}

// x + x.
// CHECK-LABEL: @same_twice(
// CHECK: batch_norm_inference
func.func @same_twice(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.add %1, %1 : tensor<2x2x4x4xf32>
  %3 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %7 : tensor<2x2x4x4xf32>
}

// A shift goes down across a sum.
// CHECK-LABEL: @shift_down_sum(
// CHECK: %[[S:.*]] = stablehlo.add %arg0, %arg1
// CHECK: stablehlo.convolution(%[[S]]
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @shift_down_sum(%x: tensor<2x2x4x4xf32>, %y: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.add %x, %1 : tensor<2x2x4x4xf32>
  %3 = stablehlo.add %2, %y : tensor<2x2x4x4xf32>
  %4 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %5 = stablehlo.convolution(%3, %4) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  return %5 : tensor<2x2x4x4xf32>
}

// One factor takes up a scale.
// CHECK-LABEL: @product_scale(
// CHECK-COUNT-1: stablehlo.multiply
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @product_scale(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.multiply %x, %1 : tensor<2x2x4x4xf32>
  %3 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %5 = stablehlo.multiply %2, %4 : tensor<2x2x4x4xf32>
  return %5 : tensor<2x2x4x4xf32>
}

// Neither takes up a shift.
// CHECK-LABEL: @product_shift(
// CHECK: batch_norm_inference
func.func @product_shift(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.multiply %x, %1 : tensor<2x2x4x4xf32>
  %3 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %7 : tensor<2x2x4x4xf32>
}

// A relu passes scales that are not negative.
// CHECK-LABEL: @relu_positive(
// CHECK: nn.relu
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @relu_positive(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<[2.0, 0.0]> : tensor<2xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.multiply %x, %1 : tensor<2x2x4x4xf32>
  %3 = nn.relu %2 : tensor<2x2x4x4xf32>
  %4 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %5 = stablehlo.convolution(%3, %4) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  return %5 : tensor<2x2x4x4xf32>
}

// The shift becomes the bound.
// CHECK-LABEL: @relu_up(
// CHECK: dense<[1.000000e+00, -3.000000e+00]>
// CHECK: stablehlo.maximum
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @relu_up(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = nn.relu %1 : tensor<2x2x4x4xf32>
  %3 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %7 : tensor<2x2x4x4xf32>
}

// Negative scales turn it round.
// CHECK-LABEL: @relu_negative(
// CHECK: stablehlo.minimum
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @relu_negative(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = nn.relu %1 : tensor<2x2x4x4xf32>
  %3 = stablehlo.constant dense<[-2.0, -0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %7 : tensor<2x2x4x4xf32>
}

// Some turn, some do not.
// CHECK-LABEL: @relu_mixed(
// CHECK: dense<[1.000000e+00, 0xFF800000]>
// CHECK: dense<[0x7F800000, -3.000000e+00]>
// CHECK: stablehlo.clamp
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @relu_mixed(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = nn.relu %1 : tensor<2x2x4x4xf32>
  %3 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %7 : tensor<2x2x4x4xf32>
}

// A channel of zeros is a constant.
// CHECK-LABEL: @relu_zero(
// CHECK: stablehlo.maximum
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @relu_zero(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = nn.relu %1 : tensor<2x2x4x4xf32>
  %3 = stablehlo.constant dense<[2.0, 0.0]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %7 : tensor<2x2x4x4xf32>
}

// Down across a relu its bound is that of what is not scaled yet.
// CHECK-LABEL: @relu_down(
// CHECK: dense<[-5.000000e-01, 6.000000e+00]>
// CHECK: stablehlo.maximum %arg0
// CHECK: stablehlo.convolution
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @relu_down(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %3 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %4 = "stablehlo.batch_norm_inference"(%x, %0, %1, %2, %3) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %5 = nn.relu %4 : tensor<2x2x4x4xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %7 = stablehlo.convolution(%5, %6) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  return %7 : tensor<2x2x4x4xf32>
}

// Negative scales turn it round there, too.
// CHECK-LABEL: @relu_down_mixed(
// CHECK: stablehlo.clamp
// CHECK: stablehlo.convolution
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @relu_down_mixed(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %3 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %4 = "stablehlo.batch_norm_inference"(%x, %0, %1, %2, %3) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %5 = nn.relu %4 : tensor<2x2x4x4xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %7 = stablehlo.convolution(%5, %6) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  return %7 : tensor<2x2x4x4xf32>
}

// What is scaled by 0 cannot be undone.
// CHECK-LABEL: @relu_down_zero(
// CHECK: batch_norm_inference
func.func @relu_down_zero(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<[2.0, 0.0]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %3 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %4 = "stablehlo.batch_norm_inference"(%x, %0, %1, %2, %3) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %5 = nn.relu %4 : tensor<2x2x4x4xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %7 = stablehlo.convolution(%5, %6) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  return %7 : tensor<2x2x4x4xf32>
}

// Behind it zeros are not shifted: the shift stays in front.
// CHECK-LABEL: @relu_down_padded(
// CHECK-NOT: batch_norm_inference
// CHECK: %[[S:.*]] = stablehlo.add %arg0
// CHECK: %[[R:.*]] = nn.relu %[[S]]
// CHECK: stablehlo.convolution(%[[R]]
// CHECK-NEXT: return
func.func @relu_down_padded(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %3 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %4 = "stablehlo.batch_norm_inference"(%x, %0, %1, %2, %3) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %5 = nn.relu %4 : tensor<2x2x4x4xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2x2x3x3xf32>
  %7 = stablehlo.convolution(%5, %6) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x4x4xf32>
  return %7 : tensor<2x2x4x4xf32>
}

// Two norms become one.
// CHECK-LABEL: @two_norms(
// CHECK-COUNT-1: batch_norm_inference
// CHECK-NOT: batch_norm_inference
// CHECK: return
func.func @two_norms(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %3 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %4 = "stablehlo.batch_norm_inference"(%x, %0, %1, %2, %3) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %5 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %6 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %7 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %8 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %9 = "stablehlo.batch_norm_inference"(%4, %5, %6, %7, %8) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %10 = nn.relu %9 : tensor<2x2x4x4xf32>
  return %10 : tensor<2x2x4x4xf32>
}

// One norm of another that is read beside: both stay.
// CHECK-LABEL: @norms_beside_relu(
// CHECK-COUNT-2: batch_norm_inference
// CHECK: return
func.func @norms_beside_relu(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %3 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %4 = "stablehlo.batch_norm_inference"(%x, %0, %1, %2, %3) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %5 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %6 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %7 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %8 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %9 = "stablehlo.batch_norm_inference"(%4, %5, %6, %7, %8) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %10 = stablehlo.add %9, %4 : tensor<2x2x4x4xf32>
  return %10 : tensor<2x2x4x4xf32>
}

// A mean shifts as its elements do.
// CHECK-LABEL: @mean(
// CHECK: stablehlo.reduce(%arg0
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @mean(%x: tensor<2x2x4x4xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %3 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %4 = "stablehlo.batch_norm_inference"(%x, %0, %1, %2, %3) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<f32>
  %6 = stablehlo.reduce(%4 init: %5) applies stablehlo.add across dimensions = [2, 3] : (tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2xf32>
  %7 = stablehlo.constant dense<16.0> : tensor<f32>
  %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
  %9 = stablehlo.divide %6, %8 : tensor<2x2xf32>
  %10 = stablehlo.constant dense<1.0> : tensor<2x3xf32>
  %11 = stablehlo.dot_general %9, %10, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %11 : tensor<2x3xf32>
}

// Both bounds are scaled and shifted.
// CHECK-LABEL: @clamp(
// CHECK: dense<[1.000000e+00, -6.000000e+00]>
// CHECK: dense<[1.300000e+01, -3.000000e+00]>
// CHECK: stablehlo.clamp
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @clamp(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.constant dense<6.0> : tensor<f32>
  %4 = stablehlo.clamp %2, %1, %3 : (tensor<f32>, tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4x4xf32>
  %5 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %6 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %7 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %8 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %9 = "stablehlo.batch_norm_inference"(%4, %5, %6, %7, %8) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %9 : tensor<2x2x4x4xf32>
}

// A bound that bounds nothing stays one.
// CHECK-LABEL: @clamp_infinite(
// CHECK: stablehlo.clamp
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @clamp_infinite(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %4 = stablehlo.clamp %2, %1, %3 : (tensor<f32>, tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4x4xf32>
  %5 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %6 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %7 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %8 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %9 = "stablehlo.batch_norm_inference"(%4, %5, %6, %7, %8) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %9 : tensor<2x2x4x4xf32>
}

// Zero times infinity is nothing to bound by.
// CHECK-LABEL: @clamp_infinite_zero(
// CHECK: batch_norm_inference
func.func @clamp_infinite_zero(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %4 = stablehlo.clamp %2, %1, %3 : (tensor<f32>, tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4x4xf32>
  %5 = stablehlo.constant dense<[2.0, 0.0]> : tensor<2xf32>
  %6 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %7 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %8 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %9 = "stablehlo.batch_norm_inference"(%4, %5, %6, %7, %8) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %9 : tensor<2x2x4x4xf32>
}

// The upper bound wins where it is the lower one: turned round, the other would.
// CHECK-LABEL: @clamp_crossed(
// CHECK: batch_norm_inference
func.func @clamp_crossed(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.constant dense<3.0> : tensor<f32>
  %3 = stablehlo.constant dense<1.0> : tensor<f32>
  %4 = stablehlo.clamp %2, %1, %3 : (tensor<f32>, tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4x4xf32>
  %5 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %6 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %7 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %8 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %9 = "stablehlo.batch_norm_inference"(%4, %5, %6, %7, %8) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %9 : tensor<2x2x4x4xf32>
}

// A bound a channel.
// CHECK-LABEL: @maximum(
// CHECK: stablehlo.maximum
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @maximum(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %4 = stablehlo.maximum %1, %3 : tensor<2x2x4x4xf32>
  %5 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %6 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %7 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %8 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %9 = "stablehlo.batch_norm_inference"(%4, %5, %6, %7, %8) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %9 : tensor<2x2x4x4xf32>
}

// Two activations keep their order where scales are not negative.
// CHECK-LABEL: @maximum_of_two(
// CHECK: stablehlo.maximum
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @maximum_of_two(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %3 = stablehlo.convolution(%x, %2) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %4 = stablehlo.maximum %1, %3 : tensor<2x2x4x4xf32>
  %5 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %6 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %7 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %8 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %9 = "stablehlo.batch_norm_inference"(%4, %5, %6, %7, %8) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %9 : tensor<2x2x4x4xf32>
}

// Here they do not.
// CHECK-LABEL: @maximum_of_two_negative(
// CHECK: batch_norm_inference
func.func @maximum_of_two_negative(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %3 = stablehlo.convolution(%x, %2) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %4 = stablehlo.maximum %1, %3 : tensor<2x2x4x4xf32>
  %5 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %6 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %7 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %8 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %9 = "stablehlo.batch_norm_inference"(%4, %5, %6, %7, %8) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %9 : tensor<2x2x4x4xf32>
}

// Slopes pass scales that are not negative,
// CHECK-LABEL: @leaky_relu(
// CHECK: nn.leaky_relu
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @leaky_relu(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = nn.leaky_relu %1 {alpha = 0.1} : tensor<2x2x4x4xf32>
  %3 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %5 = stablehlo.multiply %2, %4 : tensor<2x2x4x4xf32>
  return %5 : tensor<2x2x4x4xf32>
}

// and no others,
// CHECK-LABEL: @leaky_relu_negative(
// CHECK: stablehlo.multiply
func.func @leaky_relu_negative(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = nn.leaky_relu %1 {alpha = 0.1} : tensor<2x2x4x4xf32>
  %3 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %5 = stablehlo.multiply %2, %4 : tensor<2x2x4x4xf32>
  return %5 : tensor<2x2x4x4xf32>
}

// and no shift.
// CHECK-LABEL: @leaky_relu_shift(
// CHECK: batch_norm_inference
func.func @leaky_relu_shift(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = nn.leaky_relu %1 {alpha = 0.1} : tensor<2x2x4x4xf32>
  %3 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %7 : tensor<2x2x4x4xf32>
}

// Slopes of their own for each channel.
// CHECK-LABEL: @prelu(
// CHECK: nn.prelu
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @prelu(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.constant dense<[[[0.1]], [[0.2]]]> : tensor<2x1x1xf32>
  %3 = nn.prelu %1, %2 : (tensor<2x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %4 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [1] : (tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %6 = stablehlo.multiply %3, %5 : tensor<2x2x4x4xf32>
  return %6 : tensor<2x2x4x4xf32>
}

// The largest stays the largest.
// CHECK-LABEL: @max_pool(
// CHECK: nn.max_pool
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @max_pool(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x2x2xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = nn.max_pool %1, window = [2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>} : (tensor<2x2x4x4xf32>) -> tensor<2x2x2x2xf32>
  %3 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x2x2xf32>
  return %7 : tensor<2x2x2x2xf32>
}

// Padding counts for nothing.
// CHECK-LABEL: @max_pool_padded(
// CHECK: nn.max_pool
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @max_pool_padded(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x3x3xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = nn.max_pool %1, window = [2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>, padding_low = array<i64: 1, 1>, padding_high = array<i64: 1, 1>} : (tensor<2x2x4x4xf32>) -> tensor<2x2x3x3xf32>
  %3 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x3x3xf32>
  return %7 : tensor<2x2x3x3xf32>
}

// The largest would be the least.
// CHECK-LABEL: @max_pool_negative(
// CHECK: batch_norm_inference
func.func @max_pool_negative(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x2x2xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = nn.max_pool %1, window = [2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>} : (tensor<2x2x4x4xf32>) -> tensor<2x2x2x2xf32>
  %3 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x2x2xf32>
  return %7 : tensor<2x2x2x2xf32>
}

// A mean is as its elements.
// CHECK-LABEL: @average_pool(
// CHECK: nn.average_pool
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @average_pool(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x2x2xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = nn.relu %1 : tensor<2x2x4x4xf32>
  %3 = nn.average_pool %2, window = [2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>, count_padding = false} : (tensor<2x2x4x4xf32>) -> tensor<2x2x2x2xf32>
  %4 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %5 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %6 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %7 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %8 = "stablehlo.batch_norm_inference"(%3, %4, %5, %6, %7) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x2x2xf32>
  return %8 : tensor<2x2x2x2xf32>
}

// Padding that is not counted is no element.
// CHECK-LABEL: @average_pool_uncounted(
// CHECK: nn.average_pool
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @average_pool_uncounted(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x3x3xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = nn.average_pool %1, window = [2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>, padding_low = array<i64: 1, 1>, padding_high = array<i64: 1, 1>, count_padding = false} : (tensor<2x2x4x4xf32>) -> tensor<2x2x3x3xf32>
  %3 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x3x3xf32>
  return %7 : tensor<2x2x3x3xf32>
}

// Zeros that are counted are not shifted,
// CHECK-LABEL: @average_pool_counted(
// CHECK: batch_norm_inference
func.func @average_pool_counted(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x3x3xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = nn.average_pool %1, window = [2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>, padding_low = array<i64: 1, 1>, padding_high = array<i64: 1, 1>, count_padding = true} : (tensor<2x2x4x4xf32>) -> tensor<2x2x3x3xf32>
  %3 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x3x3xf32>
  return %7 : tensor<2x2x3x3xf32>
}

// but scaled.
// CHECK-LABEL: @average_pool_counted_scale(
// CHECK: nn.average_pool
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @average_pool_counted_scale(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x3x3xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = nn.average_pool %1, window = [2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>, padding_low = array<i64: 1, 1>, padding_high = array<i64: 1, 1>, count_padding = true} : (tensor<2x2x4x4xf32>) -> tensor<2x2x3x3xf32>
  %3 = nn.relu %2 : tensor<2x2x3x3xf32>
  %4 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [1] : (tensor<2xf32>) -> tensor<2x2x3x3xf32>
  %6 = stablehlo.multiply %3, %5 : tensor<2x2x3x3xf32>
  return %6 : tensor<2x2x3x3xf32>
}

// Elements are repeated.
// CHECK-LABEL: @resize_nearest(
// CHECK: nn.resize
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @resize_nearest(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x8x8xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = nn.resize %1, scales = [1.0, 1.0, 2.0, 2.0], "nearest", "half_pixel", "floor" {exclude_outside = false, antialias = false} : (tensor<2x2x4x4xf32>) -> tensor<2x2x8x8xf32>
  %3 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x8x8xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x8x8xf32>
  return %7 : tensor<2x2x8x8xf32>
}

// Weights sum to one.
// CHECK-LABEL: @resize_linear(
// CHECK: nn.resize
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @resize_linear(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x8x8xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = nn.relu %1 : tensor<2x2x4x4xf32>
  %3 = nn.resize %2, scales = [1.0, 1.0, 2.0, 2.0], "linear", "half_pixel", "floor" {exclude_outside = false, antialias = false} : (tensor<2x2x4x4xf32>) -> tensor<2x2x8x8xf32>
  %4 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %5 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %6 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %7 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %8 = "stablehlo.batch_norm_inference"(%3, %4, %5, %6, %7) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x8x8xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x8x8xf32>
  return %8 : tensor<2x2x8x8xf32>
}

// These round the sum elsewhere.
// CHECK-LABEL: @resize_cubic(
// CHECK: batch_norm_inference
func.func @resize_cubic(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x8x8xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = nn.resize %1, scales = [1.0, 1.0, 2.0, 2.0], "cubic", "half_pixel", "floor" {exclude_outside = false, antialias = false} : (tensor<2x2x4x4xf32>) -> tensor<2x2x8x8xf32>
  %3 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x8x8xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x8x8xf32>
  return %7 : tensor<2x2x8x8xf32>
}

// What nothing takes up is cheaper in front.
// CHECK-LABEL: @before_resize(
// CHECK: batch_norm_inference"(%arg0
// CHECK: nn.resize
func.func @before_resize(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x8x8xf32> {
  %0 = nn.resize %x, scales = [1.0, 1.0, 2.0, 2.0], "nearest", "half_pixel", "floor" {exclude_outside = false, antialias = false} : (tensor<2x2x4x4xf32>) -> tensor<2x2x8x8xf32>
  %1 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %2 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %3 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %4 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %5 = "stablehlo.batch_norm_inference"(%0, %1, %2, %3, %4) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x8x8xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x8x8xf32>
  return %5 : tensor<2x2x8x8xf32>
}

// A sixteenth of the shift for each of 16 elements.
// CHECK-LABEL: @reduce_sum(
// CHECK: dense<[1.000000e+00, -2.000000e+00]>
// CHECK: stablehlo.reduce
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @reduce_sum(%x: tensor<2x2x4x4xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%1 init: %2) applies stablehlo.add across dimensions = [2, 3] : (tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2xf32>
  %4 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %5 = stablehlo.constant dense<[16.0, -32.0]> : tensor<2xf32>
  %6 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %7 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %8 = "stablehlo.batch_norm_inference"(%3, %4, %5, %6, %7) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return %8 : tensor<2x2xf32>
}

// And back.
// CHECK-LABEL: @reduce_sum_down(
// CHECK: stablehlo.reduce(%arg0
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @reduce_sum_down(%x: tensor<2x2x4x4xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %3 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %4 = "stablehlo.batch_norm_inference"(%x, %0, %1, %2, %3) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<f32>
  %6 = stablehlo.reduce(%4 init: %5) applies stablehlo.add across dimensions = [2, 3] : (tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2xf32>
  %7 = stablehlo.constant dense<1.0> : tensor<2x3xf32>
  %8 = stablehlo.dot_general %6, %7, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %8 : tensor<2x3xf32>
}

// The largest of all places.
// CHECK-LABEL: @reduce_max(
// CHECK: stablehlo.reduce
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @reduce_max(%x: tensor<2x2x4x4xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %3 = stablehlo.reduce(%1 init: %2) applies stablehlo.maximum across dimensions = [2, 3] : (tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2xf32>
  %4 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %5 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %6 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %7 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %8 = "stablehlo.batch_norm_inference"(%3, %4, %5, %6, %7) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return %8 : tensor<2x2xf32>
}

// One of them is a constant.
// CHECK-LABEL: @reduce_max_of_one(
// CHECK: batch_norm_inference
func.func @reduce_max_of_one(%x: tensor<2x2x4x4xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.constant dense<1.0> : tensor<f32>
  %3 = stablehlo.reduce(%1 init: %2) applies stablehlo.maximum across dimensions = [2, 3] : (tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2xf32>
  %4 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %5 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %6 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %7 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %8 = "stablehlo.batch_norm_inference"(%3, %4, %5, %6, %7) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return %8 : tensor<2x2xf32>
}

// The largest would be the least.
// CHECK-LABEL: @reduce_max_negative(
// CHECK: batch_norm_inference
func.func @reduce_max_negative(%x: tensor<2x2x4x4xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %3 = stablehlo.reduce(%1 init: %2) applies stablehlo.maximum across dimensions = [2, 3] : (tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2xf32>
  %4 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %5 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %6 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %7 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %8 = "stablehlo.batch_norm_inference"(%3, %4, %5, %6, %7) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return %8 : tensor<2x2xf32>
}

// How often a shift counts is not known.
// CHECK-LABEL: @reduce_sum_unknown_places(
// CHECK: batch_norm_inference
func.func @reduce_sum_unknown_places(%x: tensor<2x2x?x4xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x?x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x?x4xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%1 init: %2) applies stablehlo.add across dimensions = [2, 3] : (tensor<2x2x?x4xf32>, tensor<f32>) -> tensor<2x2xf32>
  %4 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %5 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %6 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %7 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %8 = "stablehlo.batch_norm_inference"(%3, %4, %5, %6, %7) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return %8 : tensor<2x2xf32>
}

// Windows of four.
// CHECK-LABEL: @window_sum(
// CHECK: dense<[1.000000e+00, -2.000000e+00]>
// CHECK: "stablehlo.reduce_window"
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @window_sum(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x2x2xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = "stablehlo.reduce_window"(%1, %2) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32> }) {window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>} : (tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x2x2xf32>
  %4 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %5 = stablehlo.constant dense<[4.0, -8.0]> : tensor<2xf32>
  %6 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %7 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %8 = "stablehlo.batch_norm_inference"(%3, %4, %5, %6, %7) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x2x2xf32>
  return %8 : tensor<2x2x2x2xf32>
}

// Windows of fewer at the border.
// CHECK-LABEL: @window_sum_padded(
// CHECK: batch_norm_inference
func.func @window_sum_padded(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x3x3xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = "stablehlo.reduce_window"(%1, %2) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32> }) {window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>, padding = dense<[[0, 0], [0, 0], [1, 1], [1, 1]]> : tensor<4x2xi64>} : (tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x3x3xf32>
  %4 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %5 = stablehlo.constant dense<[4.0, -8.0]> : tensor<2xf32>
  %6 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %7 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %8 = "stablehlo.batch_norm_inference"(%3, %4, %5, %6, %7) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x3x3xf32>
  return %8 : tensor<2x2x3x3xf32>
}

// Both are scaled and shifted.
// CHECK-LABEL: @select(
// CHECK: stablehlo.select
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @select(%p: tensor<2x2x4x4xi1>, %x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %3 = stablehlo.convolution(%x, %2) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %4 = stablehlo.select %p, %1, %3 : tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>
  %5 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %6 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %7 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %8 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %9 = "stablehlo.batch_norm_inference"(%4, %5, %6, %7, %8) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %9 : tensor<2x2x4x4xf32>
}

// One takes up nothing.
// CHECK-LABEL: @select_of_input(
// CHECK: batch_norm_inference
func.func @select_of_input(%p: tensor<2x2x4x4xi1>, %x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.select %p, %1, %x : tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>
  %3 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %7 : tensor<2x2x4x4xf32>
}

// A constant takes up anything.
// CHECK-LABEL: @constant(
// CHECK: stablehlo.concatenate
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @constant(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x1x4x4xf32>
  %1 = stablehlo.constant dense<1.0> : tensor<1x2x1x1xf32>
  %2 = stablehlo.convolution(%x, %1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<2x1x4x4xf32>
  %3 = stablehlo.concatenate %0, %2, dim = 1 : (tensor<2x1x4x4xf32>, tensor<2x1x4x4xf32>) -> tensor<2x2x4x4xf32>
  %4 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %5 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %6 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %7 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %8 = "stablehlo.batch_norm_inference"(%3, %4, %5, %6, %7) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %8 : tensor<2x2x4x4xf32>
}

// A constant side of a sum.
// CHECK-LABEL: @sum_with_constant(
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @sum_with_constant(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x4x4xf32>
  %1 = stablehlo.constant dense<[[[[0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 0.0], [2.0, 3.0, 0.0, 1.0], [3.0, 0.0, 1.0, 2.0]], [[3.0, 0.0, 1.0, 2.0], [0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 0.0], [2.0, 3.0, 0.0, 1.0]]], [[[3.0, 0.0, 1.0, 2.0], [0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 0.0], [2.0, 3.0, 0.0, 1.0]], [[2.0, 3.0, 0.0, 1.0], [3.0, 0.0, 1.0, 2.0], [0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 0.0]]]]> : tensor<2x2x4x4xf32>
  %2 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %3 = stablehlo.convolution(%x, %2) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %4 = stablehlo.add %3, %1 : tensor<2x2x4x4xf32>
  %5 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %6 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %7 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %8 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %9 = "stablehlo.batch_norm_inference"(%4, %5, %6, %7, %8) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %9 : tensor<2x2x4x4xf32>
}

// Each product takes up a copy.
// CHECK-LABEL: @two_products(
// CHECK: stablehlo.convolution(%arg0
// CHECK: stablehlo.convolution(%arg0
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @two_products(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %3 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %4 = "stablehlo.batch_norm_inference"(%x, %0, %1, %2, %3) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %5 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %6 = stablehlo.convolution(%4, %5) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %7 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %8 = stablehlo.convolution(%4, %7) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %9 = nn.relu %8 : tensor<2x2x4x4xf32>
  %10 = stablehlo.add %6, %9 : tensor<2x2x4x4xf32>
  return %10 : tensor<2x2x4x4xf32>
}

// The relu would keep the norm.
// CHECK-LABEL: @product_and_relu(
// CHECK: batch_norm_inference
func.func @product_and_relu(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %3 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %4 = "stablehlo.batch_norm_inference"(%x, %0, %1, %2, %3) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %5 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %6 = stablehlo.convolution(%4, %5) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %7 = nn.relu %4 : tensor<2x2x4x4xf32>
  %8 = stablehlo.add %6, %7 : tensor<2x2x4x4xf32>
  return %8 : tensor<2x2x4x4xf32>
}

// Zeros outside of the operand are not shifted: t / s stays.
// CHECK-LABEL: @padded_product(
// CHECK-DAG: dense<{{\[}}5.000000e-01, -6.000000e+00]> : tensor<2xf32>
// CHECK-NOT: batch_norm_inference
// CHECK: %[[S:.*]] = stablehlo.add %arg0
// CHECK: stablehlo.convolution(%[[S]]
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @padded_product(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %3 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %4 = "stablehlo.batch_norm_inference"(%x, %0, %1, %2, %3) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %5 = stablehlo.constant dense<1.0> : tensor<2x2x3x3xf32>
  %6 = stablehlo.convolution(%4, %5) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x4x4xf32>
  %7 = stablehlo.constant dense<1.0> : tensor<2x2x3x3xf32>
  %8 = stablehlo.convolution(%4, %7) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x4x4xf32>
  %9 = stablehlo.add %6, %8 : tensor<2x2x4x4xf32>
  return %9 : tensor<2x2x4x4xf32>
}

// A scale alone is fine.
// CHECK-LABEL: @padded_product_scale(
// CHECK: stablehlo.convolution(%arg0
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @padded_product_scale(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.multiply %x, %1 : tensor<2x2x4x4xf32>
  %3 = stablehlo.constant dense<1.0> : tensor<2x2x3x3xf32>
  %4 = stablehlo.convolution(%2, %3) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x4x4xf32>
  %5 = stablehlo.constant dense<1.0> : tensor<2x2x3x3xf32>
  %6 = stablehlo.convolution(%2, %5) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x4x4xf32>
  %7 = nn.relu %6 : tensor<2x2x4x4xf32>
  %8 = stablehlo.add %4, %7 : tensor<2x2x4x4xf32>
  return %8 : tensor<2x2x4x4xf32>
}

// What is read beside is not scaled.
// CHECK-LABEL: @second_reader(
// CHECK: batch_norm_inference
func.func @second_reader(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = nn.relu %1 : tensor<2x2x4x4xf32>
  %3 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %8 = stablehlo.add %7, %2 : tensor<2x2x4x4xf32>
  return %8 : tensor<2x2x4x4xf32>
}

// Nor is an output.
// CHECK-LABEL: @output_between(
// CHECK: batch_norm_inference
func.func @output_between(%x: tensor<2x2x4x4xf32>) -> (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = nn.relu %1 : tensor<2x2x4x4xf32>
  %3 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %7, %2 : tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>
}

// The norm itself is one.
// CHECK-LABEL: @output_down(
// CHECK: batch_norm_inference
func.func @output_down(%x: tensor<2x2x4x4xf32>) -> (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) {
  %0 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %3 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %4 = "stablehlo.batch_norm_inference"(%x, %0, %1, %2, %3) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %5 = stablehlo.transpose %4, dims = [0, 1, 3, 2] : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %7 = stablehlo.convolution(%5, %6) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  return %7, %4 : tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>
}

// One number for all begins no move.
// CHECK-LABEL: @scalar(
// CHECK: nn.relu
// CHECK: stablehlo.multiply
func.func @scalar(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = nn.relu %1 : tensor<2x2x4x4xf32>
  %3 = stablehlo.constant dense<2.0> : tensor<f32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<2x2x4x4xf32>
  %5 = stablehlo.multiply %2, %4 : tensor<2x2x4x4xf32>
  return %5 : tensor<2x2x4x4xf32>
}

// A bias is where it belongs.
// CHECK-LABEL: @bias(
// CHECK: stablehlo.convolution
// CHECK-NEXT: stablehlo.constant
// CHECK-NEXT: stablehlo.broadcast_in_dim
// CHECK-NEXT: stablehlo.add
// CHECK: nn.max_pool
func.func @bias(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x2x2xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %4 = stablehlo.add %1, %3 : tensor<2x2x4x4xf32>
  %5 = nn.max_pool %4, window = [2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>} : (tensor<2x2x4x4xf32>) -> tensor<2x2x2x2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %7 = stablehlo.convolution(%5, %6) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x2x2xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x2x2xf32>
  return %7 : tensor<2x2x2x2xf32>
}

// A scale that f16 has the range for.
// CHECK-LABEL: @half(
// CHECK: stablehlo.maximum
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @half(%x: tensor<2x2x4x4xf16>) -> tensor<2x2x4x4xf16> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf16>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf16>, tensor<2x2x1x1xf16>) -> tensor<2x2x4x4xf16>
  %2 = nn.relu %1 : tensor<2x2x4x4xf16>
  %3 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf16>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf16>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf16>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf16>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>) -> tensor<2x2x4x4xf16>
  return %7 : tensor<2x2x4x4xf16>
}

// No longer.
// CHECK-LABEL: @half_scale(
// CHECK: batch_norm_inference
func.func @half_scale(%x: tensor<2x2x4x4xf16>) -> tensor<2x2x4x4xf16> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf16>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf16>, tensor<2x2x1x1xf16>) -> tensor<2x2x4x4xf16>
  %2 = nn.relu %1 : tensor<2x2x4x4xf16>
  %3 = stablehlo.constant dense<[512.0, 1.0]> : tensor<2xf16>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf16>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf16>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf16>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>) -> tensor<2x2x4x4xf16>
  return %7 : tensor<2x2x4x4xf16>
}

// Nor this shift.
// CHECK-LABEL: @half_shift(
// CHECK: batch_norm_inference
func.func @half_shift(%x: tensor<2x2x4x4xf16>) -> tensor<2x2x4x4xf16> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf16>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf16>, tensor<2x2x1x1xf16>) -> tensor<2x2x4x4xf16>
  %2 = nn.relu %1 : tensor<2x2x4x4xf16>
  %3 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf16>
  %4 = stablehlo.constant dense<[17.0, 1.0]> : tensor<2xf16>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf16>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf16>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>) -> tensor<2x2x4x4xf16>
  return %7 : tensor<2x2x4x4xf16>
}

// Nor so small a scale.
// CHECK-LABEL: @half_small(
// CHECK: batch_norm_inference
func.func @half_small(%x: tensor<2x2x4x4xf16>) -> tensor<2x2x4x4xf16> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf16>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf16>, tensor<2x2x1x1xf16>) -> tensor<2x2x4x4xf16>
  %2 = nn.relu %1 : tensor<2x2x4x4xf16>
  %3 = stablehlo.constant dense<[0.001, 1.0]> : tensor<2xf16>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf16>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf16>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf16>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>) -> tensor<2x2x4x4xf16>
  return %7 : tensor<2x2x4x4xf16>
}

// What an f16 convolution sums up in f32 takes up the norm of what is rounded.
// CHECK-LABEL: @f16_converted(
// CHECK: stablehlo.convert
// CHECK: stablehlo.maximum
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @f16_converted(%x: tensor<2x2x4x4xf16>) -> tensor<2x2x4x4xf16> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf16>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf16>, tensor<2x2x1x1xf16>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.convert %1 : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf16>
  %3 = nn.relu %2 : tensor<2x2x4x4xf16>
  %4 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf16>
  %5 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf16>
  %6 = stablehlo.constant dense<0.0> : tensor<2xf16>
  %7 = stablehlo.constant dense<1.0> : tensor<2xf16>
  %8 = "stablehlo.batch_norm_inference"(%3, %4, %5, %6, %7) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>) -> tensor<2x2x4x4xf16>
  return %8 : tensor<2x2x4x4xf16>
}

// What is not linear stops it.
// CHECK-LABEL: @through_gelu(
// CHECK: batch_norm_inference
func.func @through_gelu(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = stablehlo.tanh %1 : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %3 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %7 : tensor<2x2x4x4xf32>
}

// Several on the way.
// CHECK-LABEL: @chain(
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @chain(%x: tensor<2x2x4x4xf32>) -> tensor<2x4x2x2xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %2 = nn.relu %1 : tensor<2x2x4x4xf32>
  %3 = nn.max_pool %2, window = [2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>} : (tensor<2x2x4x4xf32>) -> tensor<2x2x2x2xf32>
  %4 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %5 = stablehlo.convolution(%x, %4) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %6 = nn.average_pool %5, window = [2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>, count_padding = false} : (tensor<2x2x4x4xf32>) -> tensor<2x2x2x2xf32>
  %7 = stablehlo.concatenate %3, %6, dim = 1 : (tensor<2x2x2x2xf32>, tensor<2x2x2x2xf32>) -> tensor<2x4x2x2xf32>
  %8 = stablehlo.constant dense<[2.0, 0.5, -1.0, 3.0]> : tensor<4xf32>
  %9 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %10 = stablehlo.constant dense<0.0> : tensor<4xf32>
  %11 = stablehlo.constant dense<1.0> : tensor<4xf32>
  %12 = "stablehlo.batch_norm_inference"(%7, %8, %9, %10, %11) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x4x2x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x2x2xf32>
  return %12 : tensor<2x4x2x2xf32>
}

// Sizes of images do not matter.
// CHECK-LABEL: @dynamic(
// CHECK: stablehlo.convolution(%arg0
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @dynamic(%x: tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2x2x1x1xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x2x?x?xf32>, tensor<2x2x1x1xf32>) -> tensor<?x2x?x?xf32>
  %2 = nn.relu %1 : tensor<?x2x?x?xf32>
  %3 = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %4 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %6 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %7 = "stablehlo.batch_norm_inference"(%2, %3, %4, %5, %6) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<?x2x?x?xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x2x?x?xf32>
  return %7 : tensor<?x2x?x?xf32>
}

// Nothing to scale.
// CHECK-LABEL: @no_channels(
// CHECK: return
func.func @no_channels(%x: tensor<2x0x4x4xf32>) -> tensor<2x0x4x4xf32> {
  %0 = stablehlo.constant dense<> : tensor<0xf32>
  %1 = nn.relu %x : tensor<2x0x4x4xf32>
  %2 = "stablehlo.batch_norm_inference"(%1, %0, %0, %0, %0) {epsilon = 0.1 : f32, feature_index = 1 : i64} : (tensor<2x0x4x4xf32>, tensor<0xf32>, tensor<0xf32>, tensor<0xf32>, tensor<0xf32>) -> tensor<2x0x4x4xf32>
  return %2 : tensor<2x0x4x4xf32>
}

// Nothing leaves a branch: what is outside is scaled inside.
// CHECK-LABEL: @branch(
// CHECK-NOT: batch_norm_inference
// CHECK: "stablehlo.if"
// CHECK: %[[N:.*]] = "stablehlo.batch_norm_inference"(%arg1
// CHECK: stablehlo.concatenate %[[N]]
func.func @branch(%p: tensor<i1>, %x: tensor<2x1x4x4xf32>) -> tensor<2x4x4x4xf32> {
  %r = "stablehlo.if"(%p) ({
    %w = stablehlo.constant dense<1.0> : tensor<3x1x1x1xf32>
    %y = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x1x4x4xf32>, tensor<3x1x1x1xf32>) -> tensor<2x3x4x4xf32>
    %c = stablehlo.concatenate %x, %y, dim = 1 : (tensor<2x1x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x4x4x4xf32>
    %s = stablehlo.constant dense<[2.0, 3.0, 4.0, 5.0]> : tensor<4xf32>
    %z = stablehlo.constant dense<0.0> : tensor<4xf32>
    %o = stablehlo.constant dense<1.0> : tensor<4xf32>
    %n = "stablehlo.batch_norm_inference"(%c, %s, %o, %z, %o) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x4x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x4x4xf32>
    stablehlo.return %n : tensor<2x4x4x4xf32>
  }, {
    %z = stablehlo.constant dense<0.0> : tensor<2x4x4x4xf32>
    stablehlo.return %z : tensor<2x4x4x4xf32>
  }) : (tensor<i1>) -> tensor<2x4x4x4xf32>
  return %r : tensor<2x4x4x4xf32>
}

// Nothing times 0 gives a shift.
// CHECK-LABEL: @no_shift_of_a_scale_of_zero(
// CHECK: batch_norm_inference
// CHECK: stablehlo.convolution
func.func @no_shift_of_a_scale_of_zero(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %0 = stablehlo.constant dense<[2.0, 0.0]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %3 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %4 = "stablehlo.batch_norm_inference"(%x, %0, %1, %2, %3) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %5 = stablehlo.constant dense<1.0> : tensor<2x2x3x3xf32>
  %6 = stablehlo.convolution(%4, %5) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x4x4xf32>
  return %6 : tensor<2x2x4x4xf32>
}
