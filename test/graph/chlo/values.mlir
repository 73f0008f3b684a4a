// RUN: sinter test %s
// Covers: graph/chlo Bessel Bits Broadcasting ComplexFunctions DecomposeStructured ErrorFunctions GammaFunctions Series
// Covers: graph/chlo Trigonometric Zeta

func.func @ragged_parts() {
  %lhs = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %rhs = stablehlo.constant dense<[[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [0x7F800000, 1.0]]> : tensor<4x2xf32>
  %sizes = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %sizes) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [1]>}
      : (tensor<2x4xf32>, tensor<4x2xf32>, tensor<2xi32>) -> tensor<2x2x2xf32>
  check.expect_eq_const %0, dense<[[[1.0, 0.0], [5.0, 0.0]], [[6.0, 5.0], [14.0, 13.0]]]> : tensor<2x2x2xf32>
  func.return
}
// -----
func.func @ragged_batch() {
  %lhs = stablehlo.constant dense<[[[1.0, 2.0]], [[3.0, 4.0]]]> : tensor<2x1x2xf32>
  %rhs = stablehlo.constant dense<[[[1.0], [1.0]], [[2.0], [1.0]]]> : tensor<2x2x1xf32>
  %sizes = stablehlo.constant dense<[1, 1]> : tensor<2xi32>
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %sizes) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [0], rhs_batching_dimensions = [0],
      lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>}
      : (tensor<2x1x2xf32>, tensor<2x2x1xf32>, tensor<2xi32>) -> tensor<2x1x1xf32>
  check.expect_eq_const %0, dense<[[[3.0]], [[10.0]]]> : tensor<2x1x1xf32>
  func.return
}
// -----
func.func @ragged_rows_left_over() {
  %lhs = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %rhs = stablehlo.constant dense<[[[1.0], [1.0]], [[2.0], [1.0]]]> : tensor<2x2x1xf32>
  %sizes = stablehlo.constant dense<[1, 1]> : tensor<2xi32>
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %sizes) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}
      : (tensor<3x2xf32>, tensor<2x2x1xf32>, tensor<2xi32>) -> tensor<3x1xf32>
  check.expect_eq_const %0, dense<[[3.0], [10.0], [0.0]]> : tensor<3x1xf32>
  func.return
}
// -----
func.func @top_k_order() {
  %x = stablehlo.constant dense<[[1.0, 0x7FC00000, 3.0, 3.0], [-1.0, -2.0, -3.0, 0xFF800000]]> : tensor<2x4xf32>
  %0:2 = chlo.top_k(%x, k = 3) : tensor<2x4xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)
  check.expect_eq_const %0#1, dense<[[1, 2, 3], [0, 1, 2]]> : tensor<2x3xi32>
  func.return
}
// -----
func.func @broadcasts() {
  %a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %b = stablehlo.constant dense<[10, 20]> : tensor<2xi32>
  %c = stablehlo.constant dense<7> : tensor<i32>
  %p = stablehlo.constant dense<[[true], [false]]> : tensor<2x1xi1>
  %0 = chlo.broadcast_add %a, %b {broadcast_dimensions = array<i64: 0>} : (tensor<2x3xi32>, tensor<2xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %0, dense<[[11, 12, 13], [24, 25, 26]]> : tensor<2x3xi32>
  %1 = chlo.broadcast_subtract %c, %a : (tensor<i32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %1, dense<[[6, 5, 4], [3, 2, 1]]> : tensor<2x3xi32>
  %2 = chlo.broadcast_select %p, %a, %c : (tensor<2x1xi1>, tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  check.expect_eq_const %2, dense<[[1, 2, 3], [7, 7, 7]]> : tensor<2x3xi32>
  %3 = chlo.broadcast_compare %a, %c {comparison_direction = #chlo<comparison_direction LT>} : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi1>
  check.expect_eq_const %3, dense<true> : tensor<2x3xi1>
  %4 = "chlo.constant_like"(%a) {value = 5 : i32} : (tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %4, dense<5> : tensor<2x3xi32>
  func.return
}
