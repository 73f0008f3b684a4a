// Programs that the corpus of fuzz-portable-artifact is made of, apart so that
// a version that lacks something of one still gets the others.
func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [HIGH, DEFAULT] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = stablehlo.exponential %0 : tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
// -----
func.func @main(%arg0: tensor<1x8x8x3xf32>, %arg1: tensor<3x3x3x4xf32>) -> tensor<1x8x8x4xf32> {
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x8x8x4xf32>
  return %0 : tensor<1x8x8x4xf32>
}
// -----
func.func @main(%arg0: tensor<4x5xf32> {jax.arg = "x"}) -> (tensor<4xf32> {jax.result_info = "r"}) {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%arg0 init: %0) applies stablehlo.add across dimensions = [1] : (tensor<4x5xf32>, tensor<f32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
// -----
module @program attributes {mhlo.num_partitions = 1 : i32} {
  func.func @main(%arg0: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.constant dense<10> : tensor<i32>
    %1 = stablehlo.while(%iter = %arg0) : tensor<i32>
      cond {
        %2 = stablehlo.compare LT, %iter, %0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %2 : tensor<i1>
      } do {
        %2 = func.call @next(%iter) : (tensor<i32>) -> tensor<i32>
        stablehlo.return %2 : tensor<i32>
      }
    return %1 : tensor<i32>
  }
  func.func private @next(%arg0: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<i32>
    return %0 : tensor<i32>
  }
}
// -----
func.func @main() -> (tensor<9xi1>, tensor<3xi1>, tensor<2xcomplex<f32>>, tensor<2xbf16>, tensor<2xui4>, tensor<3xf8E4M3FN>) {
  %0 = stablehlo.constant dense<[true, false, true, false, true, true, false, false, true]> : tensor<9xi1>
  %1 = stablehlo.constant dense<true> : tensor<3xi1>
  %2 = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>
  %3 = stablehlo.constant dense<[1.5, -2.0]> : tensor<2xbf16>
  %4 = stablehlo.constant dense<[1, 15]> : tensor<2xui4>
  %5 = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf8E4M3FN>
  return %0, %1, %2, %3, %4, %5 : tensor<9xi1>, tensor<3xi1>, tensor<2xcomplex<f32>>, tensor<2xbf16>, tensor<2xui4>, tensor<3xf8E4M3FN>
}
// -----
func.func @main(%arg0: tensor<2x!quant.uniform<i8:f32, 0.5:1>>, %arg1: tensor<2x!quant.uniform<i8:f32:0, {0.5:1, 0.25:-1}>>) -> tensor<2xf32> {
  %0 = stablehlo.uniform_dequantize %arg0 : (tensor<2x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<2xf32>
  %1 = stablehlo.uniform_dequantize %arg1 : (tensor<2x!quant.uniform<i8:f32:0, {0.5:1, 0.25:-1}>>) -> tensor<2xf32>
  %2 = stablehlo.tan %0 : tensor<2xf32>
  return %2 : tensor<2xf32>
}
// -----
func.func @main(%arg0: tensor<3x4xf32>, %arg1: tensor<2x1xi64>, %arg2: !stablehlo.token) -> (tensor<2x1x4xf32>, !stablehlo.token) {
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xf32>, tensor<2x1xi64>) -> tensor<2x1x4xf32>
  %1:2 = stablehlo.custom_call @target(%0, %arg2) {backend_config = {a = 1 : i64, b = [1.0 : f32, "text"]}, api_version = 4 : i32} : (tensor<2x1x4xf32>, !stablehlo.token) -> (tensor<2x1x4xf32>, !stablehlo.token)
  return %1#0, %1#1 : tensor<2x1x4xf32>, !stablehlo.token
}
