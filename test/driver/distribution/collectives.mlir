// All ways in which processes exchange values, for a grid of 2 replicas of 2
// partitions: the tests run it as threads and under mpirun and compare.
module {
  func.func @main() -> (tensor<4xi64>, tensor<2x4xi64>, tensor<2xi64>, tensor<4xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<f64>, tensor<1x1xi64>, tensor<2xi64>) {
    %replica = stablehlo.replica_id : tensor<ui32>
    %partition = stablehlo.partition_id : tensor<ui32>
    %two = stablehlo.constant dense<2> : tensor<ui32>
    %row = stablehlo.multiply %replica, %two : tensor<ui32>
    %rank = stablehlo.add %row, %partition : tensor<ui32>
    %number = stablehlo.convert %rank : (tensor<ui32>) -> tensor<i64>
    %pair = stablehlo.broadcast_in_dim %number, dims = [] : (tensor<i64>) -> tensor<2xi64>
    %offsets = stablehlo.constant dense<[10, 20]> : tensor<2xi64>
    %x = stablehlo.add %pair, %offsets : tensor<2xi64>
    %gathered = "stablehlo.all_gather"(%x) {
      all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
    } : (tensor<2xi64>) -> tensor<4xi64>
    %line = stablehlo.reshape %x : (tensor<2xi64>) -> tensor<2x1xi64>
    %all = "stablehlo.all_gather"(%line) {
      all_gather_dim = 1 : i64, replica_groups = dense<[[3, 1, 0, 2]]> : tensor<1x4xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids
    } : (tensor<2x1xi64>) -> tensor<2x4xi64>
    %part = "stablehlo.reduce_scatter"(%gathered) ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %s = stablehlo.add %a, %b : tensor<i64>
        stablehlo.return %s : tensor<i64>
    }) {
      scatter_dimension = 0 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>
    } : (tensor<4xi64>) -> tensor<2xi64>
    %floats = stablehlo.convert %gathered : (tensor<4xi64>) -> tensor<4xf32>
    %largest = "stablehlo.all_reduce"(%floats) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.maximum %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) {
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 2, type = 0>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %moved = "stablehlo.collective_permute"(%x) {
      source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>
    } : (tensor<2xi64>) -> tensor<2xi64>
    %mixed = "stablehlo.all_to_all"(%x) {
      split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64,
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 3, type = 0>
    } : (tensor<2xi64>) -> tensor<2xi64>
    // Computations that no communication library knows, in the order of the group.
    %chained = "stablehlo.all_reduce"(%x) ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %three = stablehlo.constant dense<3> : tensor<i64>
        %m = stablehlo.multiply %a, %three : tensor<i64>
        %s = stablehlo.subtract %m, %b : tensor<i64>
        stablehlo.return %s : tensor<i64>
    }) {
      replica_groups = dense<[[2, 0, 3, 1]]> : tensor<1x4xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 4, type = 0>, use_global_device_ids
    } : (tensor<2xi64>) -> tensor<2xi64>
    %small = stablehlo.convert %number : (tensor<i64>) -> tensor<f32>
    %wide = "stablehlo.all_reduce"(%small) ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        %half = stablehlo.constant dense<0.5> : tensor<f64>
        %m = stablehlo.multiply %a, %half : tensor<f64>
        %s = stablehlo.add %m, %b : tensor<f64>
        stablehlo.return %s : tensor<f64>
    }) {replica_groups = dense<> : tensor<0x0xi64>} : (tensor<f32>) -> tensor<f64>
    %scattered = "stablehlo.reduce_scatter"(%line) ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %less = stablehlo.compare LT, %a, %b : (tensor<i64>, tensor<i64>) -> tensor<i1>
        %s = stablehlo.select %less, %b, %a : tensor<i1>, tensor<i64>
        %d = stablehlo.subtract %s, %a : tensor<i64>
        stablehlo.return %d : tensor<i64>
    }) {
      scatter_dimension = 0 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>
    } : (tensor<2x1xi64>) -> tensor<1x1xi64>
    %rooted = "stablehlo.collective_reduce"(%x) ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %m = stablehlo.multiply %a, %b : tensor<i64>
        %s = stablehlo.subtract %m, %a : tensor<i64>
        stablehlo.return %s : tensor<i64>
    }) {replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<2xi64>) -> tensor<2xi64>
    return %gathered, %all, %part, %largest, %moved, %mixed, %chained, %wide, %scattered, %rooted : tensor<4xi64>, tensor<2x4xi64>, tensor<2xi64>, tensor<4xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<f64>, tensor<1x1xi64>, tensor<2xi64>
  }
}
