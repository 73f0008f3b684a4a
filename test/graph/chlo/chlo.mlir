// RUN: sinter-opt %s | sinter-opt | FileCheck %s
// Covers: graph/chlo ChloDialect ScanAssembly Verify

// CHECK-LABEL: func @broadcasting
func.func @broadcasting(%a: tensor<2x3xf32>, %b: tensor<3xf32>, %c: tensor<?x1xf32>, %p: tensor<3xi1>) {
  // CHECK: chlo.broadcast_add %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %0 = chlo.broadcast_add %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: chlo.broadcast_subtract %{{.*}}, %{{.*}} {broadcast_dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = chlo.broadcast_subtract %a, %b {broadcast_dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: chlo.broadcast_compare %{{.*}}, %{{.*}} {compare_type = #chlo<comparison_type TOTALORDER>, comparison_direction = #chlo<comparison_direction LT>} : (tensor<3xf32>, tensor<?x1xf32>) -> tensor<?x3xi1>
  %2 = chlo.broadcast_compare %b, %c {comparison_direction = #chlo<comparison_direction LT>, compare_type = #chlo<comparison_type TOTALORDER>} : (tensor<3xf32>, tensor<?x1xf32>) -> tensor<?x3xi1>
  // CHECK: chlo.broadcast_complex %{{.*}}, %{{.*}} : (tensor<3xf32>, tensor<?x1xf32>) -> tensor<?x3xcomplex<f32>>
  %3 = chlo.broadcast_complex %b, %c : (tensor<3xf32>, tensor<?x1xf32>) -> tensor<?x3xcomplex<f32>>
  // CHECK: chlo.broadcast_select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<3xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %4 = chlo.broadcast_select %p, %a, %b : (tensor<3xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func @functions
func.func @functions(%x: tensor<4xf32>, %z: tensor<4xcomplex<f64>>, %i: tensor<4xui32>) {
  // CHECK: chlo.acos %{{.*}} : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
  %0 = chlo.acos %z : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
  // CHECK: chlo._asin_acos_kernel %{{.*}} : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
  %1 = chlo._asin_acos_kernel %z : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
  // CHECK: chlo.erf_inv %{{.*}} : tensor<4xf32> -> tensor<4xf32>
  %2 = chlo.erf_inv %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.is_neg_inf %{{.*}} : tensor<4xf32> -> tensor<4xi1>
  %3 = chlo.is_neg_inf %x : tensor<4xf32> -> tensor<4xi1>
  // CHECK: chlo.next_after %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %4 = chlo.next_after %x, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.mulhi %{{.*}}, %{{.*}} : tensor<4xui32>, tensor<4xui32> -> tensor<4xui32>
  %5 = chlo.mulhi %i, %i : tensor<4xui32>, tensor<4xui32> -> tensor<4xui32>
  // CHECK: chlo.lgamma %{{.*}} : tensor<4xf32> -> tensor<4xf32>
  %6 = "chlo.lgamma"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: func @constants
func.func @constants(%x: tensor<?x2xf32>) {
  // CHECK: chlo.constant dense<[1, 2]> : tensor<2xi32>
  %0 = chlo.constant dense<[1, 2]> : tensor<2xi32>
  // CHECK: "chlo.constant_like"(%{{.*}}) <{value = 3.500000e+00 : f32}> : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %1 = "chlo.constant_like"(%x) {value = 3.5 : f32} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  return
}

// CHECK-LABEL: func @structured
func.func @structured(%x: tensor<3x5xf32>, %lhs: tensor<11x5xf32>, %rhs: tensor<3x5x7xf32>, %sizes: tensor<3xi64>, %init: tensor<3xf32>) {
  // CHECK: chlo.top_k(%{{.*}}, k = 2) : tensor<3x5xf32> -> (tensor<3x2xf32>, tensor<3x2xi32>)
  %0:2 = chlo.top_k(%x, k = 2) : tensor<3x5xf32> -> (tensor<3x2xf32>, tensor<3x2xi32>)
  // CHECK: chlo.top_k(%{{.*}}, k = 2, is_stable = false) : tensor<3x5xf32> -> (tensor<3x2xf32>, tensor<3x2xi32>)
  %1:2 = chlo.top_k(%x, k = 2, is_stable = false) : tensor<3x5xf32> -> (tensor<3x2xf32>, tensor<3x2xi32>)
  // CHECK: "chlo.ragged_dot"(%{{.*}}, %{{.*}}, %{{.*}}) <{precision_config = [#chlo<precision HIGH>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
  %2 = "chlo.ragged_dot"(%lhs, %rhs, %sizes) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [], rhs_batching_dimensions = [],
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
      lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>,
    precision_config = [#chlo<precision HIGH>, #chlo<precision DEFAULT>]
  } : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  // CHECK: chlo.scan(%{{.*}}) inits(%{{.*}}) dimension=1 attributes {is_reverse = true} {
  // CHECK-NEXT: ^bb0(%[[INPUT:.*]]: tensor<3xf32>, %[[CARRY:.*]]: tensor<3xf32>):
  // CHECK-NEXT: stablehlo.add %[[INPUT]], %[[CARRY]] : tensor<3xf32>
  // CHECK: } : (tensor<3x5xf32>, tensor<3xf32>) -> (tensor<3x5xf32>, tensor<3xf32>)
  %3:2 = chlo.scan(%x) inits(%init) dimension=1 attributes {is_reverse = true} {
  ^bb0(%input: tensor<3xf32>, %carry: tensor<3xf32>):
    %sum = stablehlo.add %input, %carry : tensor<3xf32>
    stablehlo.return %sum, %sum : tensor<3xf32>, tensor<3xf32>
  } : (tensor<3x5xf32>, tensor<3xf32>) -> (tensor<3x5xf32>, tensor<3xf32>)
  return
}
