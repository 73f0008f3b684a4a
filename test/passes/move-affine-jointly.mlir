// RUN: sinter-opt %s --fold-batch-norm --move-affine --fold-batch-norm --move-affine-jointly --fold-batch-norm --eliminate-dead-code | FileCheck %s

// Another reader of what the first convolution computes takes up the inverse.
// CHECK-LABEL: @two_readers(
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @two_readers(%x: tensor<2x2x4x4xf32>) -> (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) {
  %wa = stablehlo.constant dense<0.5> : tensor<2x2x1x1xf32>
  %a = stablehlo.convolution(%x, %wa) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %r = nn.relu %a : tensor<2x2x4x4xf32>
  %sn = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %tn = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %mn = stablehlo.constant dense<0.0> : tensor<2xf32>
  %vn = stablehlo.constant dense<1.0> : tensor<2xf32>
  %n = "stablehlo.batch_norm_inference"(%r, %sn, %tn, %mn, %vn) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %wb = stablehlo.constant dense<0.5> : tensor<2x2x1x1xf32>
  %b = stablehlo.convolution(%r, %wb) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  return %n, %b : tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>
}

// A residual: both sides of the sum are scaled, and so is what reads it.
// CHECK-LABEL: @residual(
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @residual(%x: tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32> {
  %wa = stablehlo.constant dense<0.5> : tensor<2x2x1x1xf32>
  %a = stablehlo.convolution(%x, %wa) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x2x?x?xf32>, tensor<2x2x1x1xf32>) -> tensor<?x2x?x?xf32>
  %sn = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf32>
  %tn = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %mn = stablehlo.constant dense<0.0> : tensor<2xf32>
  %vn = stablehlo.constant dense<1.0> : tensor<2xf32>
  %n = "stablehlo.batch_norm_inference"(%a, %sn, %tn, %mn, %vn) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<?x2x?x?xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x2x?x?xf32>
  %wb = stablehlo.constant dense<0.5> : tensor<2x2x3x3xf32>
  %b = stablehlo.convolution(%n, %wb) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x2x?x?xf32>, tensor<2x2x3x3xf32>) -> tensor<?x2x?x?xf32>
  %sum = stablehlo.add %b, %a : tensor<?x2x?x?xf32>
  %wc = stablehlo.constant dense<0.5> : tensor<2x2x1x1xf32>
  %c = stablehlo.convolution(%sum, %wc) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x2x?x?xf32>, tensor<2x2x1x1xf32>) -> tensor<?x2x?x?xf32>
  return %c : tensor<?x2x?x?xf32>
}

// The scale goes down into the convolution that pads, the shift up, and the other
// side of the sum makes up for it.
// CHECK-LABEL: @both_directions(
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @both_directions(%x: tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32> {
  %wa = stablehlo.constant dense<0.5> : tensor<2x2x1x1xf32>
  %a = stablehlo.convolution(%x, %wa) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x2x?x?xf32>, tensor<2x2x1x1xf32>) -> tensor<?x2x?x?xf32>
  %r = nn.relu %a : tensor<?x2x?x?xf32>
  %sn = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %tn = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %mn = stablehlo.constant dense<0.0> : tensor<2xf32>
  %vn = stablehlo.constant dense<1.0> : tensor<2xf32>
  %n = "stablehlo.batch_norm_inference"(%r, %sn, %tn, %mn, %vn) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<?x2x?x?xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x2x?x?xf32>
  %wb = stablehlo.constant dense<0.5> : tensor<2x2x3x3xf32>
  %b = stablehlo.convolution(%n, %wb) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x2x?x?xf32>, tensor<2x2x3x3xf32>) -> tensor<?x2x?x?xf32>
  %sum = stablehlo.add %b, %r : tensor<?x2x?x?xf32>
  return %sum : tensor<?x2x?x?xf32>
}

// Both sides of a sum are the same: each is shifted by half.
// CHECK-LABEL: @twice(
// CHECK-NOT: batch_norm_inference
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @twice(%x: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %wa = stablehlo.constant dense<0.5> : tensor<2x2x1x1xf32>
  %a = stablehlo.convolution(%x, %wa) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %r = nn.relu %a : tensor<2x2x4x4xf32>
  %sum = stablehlo.add %r, %a : tensor<2x2x4x4xf32>
  %sn = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %tn = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %mn = stablehlo.constant dense<0.0> : tensor<2xf32>
  %vn = stablehlo.constant dense<1.0> : tensor<2xf32>
  %n = "stablehlo.batch_norm_inference"(%sum, %sn, %tn, %mn, %vn) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %n : tensor<2x2x4x4xf32>
}

// Two of what is concatenated become one behind.
// CHECK-LABEL: @siblings(
// CHECK: stablehlo.concatenate %arg0, %arg0
// CHECK: batch_norm_inference
// CHECK-NOT: batch_norm_inference
// CHECK: return
func.func @siblings(%x: tensor<2x2x4x4xf32>) -> tensor<2x4x4x4xf32> {
  %sn = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %tn = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %mn = stablehlo.constant dense<0.0> : tensor<2xf32>
  %vn = stablehlo.constant dense<1.0> : tensor<2xf32>
  %n = "stablehlo.batch_norm_inference"(%x, %sn, %tn, %mn, %vn) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %so = stablehlo.constant dense<[4.0, -0.5]> : tensor<2xf32>
  %to = stablehlo.constant dense<[2.0, 1.0]> : tensor<2xf32>
  %mo = stablehlo.constant dense<0.0> : tensor<2xf32>
  %vo = stablehlo.constant dense<1.0> : tensor<2xf32>
  %o = "stablehlo.batch_norm_inference"(%x, %so, %to, %mo, %vo) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %both = stablehlo.concatenate %n, %o, dim = 1 : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x4x4x4xf32>
  return %both : tensor<2x4x4x4xf32>
}

// An input cannot be scaled: nothing is gained.
// CHECK-LABEL: @stays(
// CHECK: batch_norm_inference
// CHECK: return
func.func @stays(%x: tensor<2x2x4x4xf32>) -> (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) {
  %r = nn.relu %x : tensor<2x2x4x4xf32>
  %sn = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %tn = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %mn = stablehlo.constant dense<0.0> : tensor<2xf32>
  %vn = stablehlo.constant dense<1.0> : tensor<2xf32>
  %n = "stablehlo.batch_norm_inference"(%r, %sn, %tn, %mn, %vn) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  %wb = stablehlo.constant dense<0.5> : tensor<2x2x1x1xf32>
  %b = stablehlo.convolution(%r, %wb) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  return %n, %b : tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>
}

// What is returned beside is what it was.
// CHECK-LABEL: @returned(
// CHECK: batch_norm_inference
// CHECK: return
func.func @returned(%x: tensor<2x2x4x4xf32>) -> (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) {
  %wa = stablehlo.constant dense<0.5> : tensor<2x2x1x1xf32>
  %a = stablehlo.convolution(%x, %wa) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x4x4xf32>
  %sn = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %tn = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %mn = stablehlo.constant dense<0.0> : tensor<2xf32>
  %vn = stablehlo.constant dense<1.0> : tensor<2xf32>
  %n = "stablehlo.batch_norm_inference"(%a, %sn, %tn, %mn, %vn) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4x4xf32>
  return %n, %a : tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>
}
