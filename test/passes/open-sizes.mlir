// RUN: sinter test %s --backend interpreter
// RUN: sinter test %s --backend cpu

// Sizes that follow from constants alone: what is built once they are known.
func.func @scan() {
  %x = stablehlo.constant dense<[[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]> : tensor<3x2xf32>
  %n = stablehlo.constant dense<[3, 2]> : tensor<2xi32>
  %open = stablehlo.dynamic_reshape %x, %n : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<?x2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
  %all, %last = chlo.scan(%open) inits(%zero) dimension=0 {
    ^bb0(%value: tensor<2xf32>, %sum: tensor<2xf32>):
      %next = stablehlo.add %value, %sum : tensor<2xf32>
      stablehlo.return %next, %next : tensor<2xf32>, tensor<2xf32>
  } : (tensor<?x2xf32>, tensor<2xf32>) -> (tensor<?x2xf32>, tensor<2xf32>)
  %known = stablehlo.convert %all : (tensor<?x2xf32>) -> tensor<3x2xf32>
  check.expect_eq_const %known, dense<[[1.0, 10.0], [3.0, 30.0], [6.0, 60.0]]> : tensor<3x2xf32>
  check.expect_eq_const %last, dense<[6.0, 60.0]> : tensor<2xf32>
  return
}

// -----

func.func @ragged_dot() {
  %x = stablehlo.constant dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>
  %n = stablehlo.constant dense<[3, 1]> : tensor<2xi32>
  %open = stablehlo.dynamic_reshape %x, %n : (tensor<3x1xf32>, tensor<2xi32>) -> tensor<?x1xf32>
  %w = stablehlo.constant dense<[[[1.0, 2.0]], [[10.0, 20.0]]]> : tensor<2x1x2xf32>
  %groups = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %y = "chlo.ragged_dot"(%open, %w, %groups) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>,
    precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>]
  } : (tensor<?x1xf32>, tensor<2x1x2xf32>, tensor<2xi64>) -> tensor<?x2xf32>
  %known = stablehlo.convert %y : (tensor<?x2xf32>) -> tensor<3x2xf32>
  check.expect_eq_const %known, dense<[[1.0, 2.0], [20.0, 40.0], [30.0, 60.0]]> : tensor<3x2xf32>
  return
}

// -----

func.func @dynamic_gather() {
  %x = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xi64>
  %i = stablehlo.constant dense<[[0, 1], [2, 2]]> : tensor<2x2xi64>
  %s = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %s) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>} : (tensor<3x4xi64>, tensor<2x2xi64>, tensor<2xi64>) -> tensor<?x?xi64>
  %1 = stablehlo.convert %0 : (tensor<?x?xi64>) -> tensor<2x2xi64>
  check.expect_eq_const %1, dense<[[2, 3], [11, 12]]> : tensor<2x2xi64>
  return
}

// -----

func.func @bounded() {
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %0 = "stablehlo.set_dimension_size"(%x, %n) {dimension = 0 : i64} : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>
  %1 = stablehlo.add %0, %0 : tensor<?xf32, #stablehlo.bounds<4>>
  %m = "stablehlo.get_dimension_size"(%1) {dimension = 0 : i64} : (tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<i32>
  check.expect_eq_const %m, dense<3> : tensor<i32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<?xf32, #stablehlo.bounds<4>>, tensor<f32>) -> tensor<f32>
  check.expect_eq_const %s, dense<12.0> : tensor<f32>
  return
}
