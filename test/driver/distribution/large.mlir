// More than MPI is given at once, from everybody to everybody and around.
module {
  func.func @main() -> (tensor<f32>, tensor<f32>) {
    %replica = stablehlo.replica_id : tensor<ui32>
    %number = stablehlo.convert %replica : (tensor<ui32>) -> tensor<f32>
    %all = stablehlo.broadcast_in_dim %number, dims = [] : (tensor<f32>) -> tensor<5000000xf32>
    %iota = stablehlo.iota dim = 0 : tensor<5000000xf32>
    %x = stablehlo.add %all, %iota : tensor<5000000xf32>
    %g = "stablehlo.all_gather"(%x) {
      all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>
    } : (tensor<5000000xf32>) -> tensor<20000000xf32>
    %p = "stablehlo.collective_permute"(%x) {
      source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>
    } : (tensor<5000000xf32>) -> tensor<5000000xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%g init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<20000000xf32>, tensor<f32>) -> tensor<f32>
    %1 = stablehlo.reduce(%p init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<5000000xf32>, tensor<f32>) -> tensor<f32>
    return %0, %1 : tensor<f32>, tensor<f32>
  }
}
