// Reductions over processes by computations of all kinds, and what a process
// gets that nobody sends to, for three replicas.
module {
  func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xf64>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4x!quant.uniform<i8:f32, 0.5:3>>) {
    %r = stablehlo.replica_id : tensor<ui32>
    %rf = stablehlo.convert %r : (tensor<ui32>) -> tensor<f32>
    %b = stablehlo.broadcast_in_dim %rf, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %y = stablehlo.add %x, %b : tensor<4xf32>
    %i = stablehlo.convert %y : (tensor<4xf32>) -> tensor<4xi32>
    %0 = "stablehlo.all_reduce"(%y) ({
      ^bb0(%a: tensor<f32>, %c: tensor<f32>):
        %s = stablehlo.multiply %a, %c : tensor<f32>
        %t = stablehlo.subtract %s, %a : tensor<f32>
        stablehlo.return %t : tensor<f32>
    }) {replica_groups = dense<[[2, 0, 1]]> : tensor<1x3xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = "stablehlo.all_reduce"(%i) ({
      ^bb0(%a: tensor<i32>, %c: tensor<i32>):
        %s = stablehlo.subtract %a, %c : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) {replica_groups = dense<> : tensor<0x0xi64>} : (tensor<4xi32>) -> tensor<4xi32>
    %2 = "stablehlo.all_reduce"(%y) ({
      ^bb0(%a: tensor<f64>, %c: tensor<f64>):
        %s = stablehlo.add %a, %c : tensor<f64>
        stablehlo.return %s : tensor<f64>
    }) {replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (tensor<4xf32>) -> tensor<4xf64>
    %3:2 = "stablehlo.all_reduce"(%y, %b) ({
      ^bb0(%a: tensor<f32>, %c: tensor<f32>):
        %s = stablehlo.divide %a, %c : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[1, 2, 0]]> : tensor<1x3xi64>} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %z = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
    %4 = "stablehlo.reduce_scatter"(%z) ({
      ^bb0(%a: tensor<f32>, %c: tensor<f32>):
        %s = stablehlo.power %a, %c : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) {scatter_dimension = 0 : i64, replica_groups = dense<[[1, 2, 0]]> : tensor<1x3xi64>} : (tensor<6xf32>) -> tensor<2xf32>
    %5 = "stablehlo.cross-replica-sum"(%y) {replica_groups = dense<[[1, 2, 0]]> : tensor<1x3xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    %q = stablehlo.uniform_quantize %y : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5:3>>
    %6 = "stablehlo.all_reduce"(%q) ({
      ^bb0(%a: tensor<!quant.uniform<i8:f32, 0.5:3>>, %c: tensor<!quant.uniform<i8:f32, 0.5:3>>):
        %s = stablehlo.add %a, %c : tensor<!quant.uniform<i8:f32, 0.5:3>>
        stablehlo.return %s : tensor<!quant.uniform<i8:f32, 0.5:3>>
    }) {replica_groups = dense<[[1, 2, 0]]> : tensor<1x3xi64>} : (tensor<4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<4x!quant.uniform<i8:f32, 0.5:3>>
    %7 = "stablehlo.collective_permute"(%6) {source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<4x!quant.uniform<i8:f32, 0.5:3>>
    return %0, %1, %2, %3#0, %4, %5, %7 : tensor<4xf32>, tensor<4xi32>, tensor<4xf64>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4x!quant.uniform<i8:f32, 0.5:3>>
  }
  func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xf64>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4xf32>) {
    %0:7 = func.call @f(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xf64>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4x!quant.uniform<i8:f32, 0.5:3>>)
    %d = stablehlo.uniform_dequantize %0#6 : (tensor<4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<4xf32>
    return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %d : tensor<4xf32>, tensor<4xi32>, tensor<4xf64>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4xf32>
  }
}
