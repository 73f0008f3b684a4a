// RUN: sinter test %s --backend interpreter
// RUN: sinter test %s --backend cpu

// What JAX writes as calls since its sizes are operands, or since it may be
// approximate.
func.func private @descending(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @sum(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %a, %b : tensor<f32>
  return %0 : tensor<f32>
}
func.func @main() {
  %x = stablehlo.constant dense<[[0.5, -1.0, 2.0], [3.0, 5.0, 4.0]]> : tensor<2x3xf32>
  %i = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %worst = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %approx:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %worst, %none) {called_computations = [@descending],
      mhlo.backend_config = {aggregate_to_topk = true, recall_target = 0.95 : f32, reduction_dim = 1 : i64, top_k = 2 : i64}}
      : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
  check.expect_eq_const %approx#0, dense<[[2.0, 0.5], [5.0, 4.0]]> : tensor<2x2xf32>
  check.expect_eq_const %approx#1, dense<[[2, 0], [1, 2]]> : tensor<2x2xi32>

  %k = stablehlo.constant dense<1> : tensor<i32>
  %again:2 = stablehlo.custom_call @stablehlo.dynamic_approx_top_k(%x, %i, %worst, %none, %k) {called_computations = [@descending],
      mhlo.backend_config = {aggregate_to_topk = true, recall_target = 0.95 : f32, reduction_dim = 0 : i64}}
      : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>, tensor<i32>) -> (tensor<1x3xf32>, tensor<1x3xi32>)
  check.expect_eq_const %again#0, dense<[[3.0, 5.0, 4.0]]> : tensor<1x3xf32>
  %top:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %k) {api_version = 2 : i32}
      : (tensor<2x3xf32>, tensor<i32>) -> (tensor<2x1xf32>, tensor<2x1xi32>)
  check.expect_eq_const %top#0, dense<[[2.0], [5.0]]> : tensor<2x1xf32>
  check.expect_eq_const %top#1, dense<[[2], [1]]> : tensor<2x1xi32>

  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %ones = stablehlo.constant dense<1> : tensor<2xi32>
  %window = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %padding = stablehlo.constant dense<[[0, 0], [1, 0]]> : tensor<2x2xi32>
  %sums = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %zero, %window, %ones, %ones, %ones, %padding) {called_computations = [@sum]}
      : (tensor<2x3xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<2x3xf32>
  check.expect_eq_const %sums, dense<[[0.5, -0.5, 1.0], [3.0, 8.0, 9.0]]> : tensor<2x3xf32>

  %state = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
  %shape = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  %next, %bits = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%state, %shape) {rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}
      : (tensor<2xui64>, tensor<2xi32>) -> (tensor<2xui64>, tensor<2x3xui32>)
  %same, %expected = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x3xui32>)
  check.expect_eq %bits, %expected : tensor<2x3xui32>
  return
}
