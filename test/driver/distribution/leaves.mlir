// Replica 0 waits for replica 1, which has nothing to do with it.
module {
  func.func @main(%x: tensor<i64>) -> tensor<i64> {
    %replica = stablehlo.replica_id : tensor<ui32>
    %zero = stablehlo.constant dense<0> : tensor<ui32>
    %first = stablehlo.compare EQ, %replica, %zero : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    %0 = "stablehlo.if"(%first) ({
      %1 = "stablehlo.all_reduce"(%x) ({
        ^bb0(%a: tensor<i64>, %b: tensor<i64>):
          %s = stablehlo.add %a, %b : tensor<i64>
          stablehlo.return %s : tensor<i64>
      }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<i64>) -> tensor<i64>
      stablehlo.return %1 : tensor<i64>
    }, {
      stablehlo.return %x : tensor<i64>
    }) : (tensor<i1>) -> tensor<i64>
    return %0 : tensor<i64>
  }
}
