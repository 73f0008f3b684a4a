// Replica 0 meets nobody: replica 1 has ended.
module {
  func.func @meets(%x: tensor<i64>) -> tensor<i64> {
    %0 = "stablehlo.all_reduce"(%x) ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %s = stablehlo.add %a, %b : tensor<i64>
        stablehlo.return %s : tensor<i64>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<i64>) -> tensor<i64>
    return %0 : tensor<i64>
  }
  func.func @ends(%x: tensor<i64>) -> tensor<i64> {
    return %x : tensor<i64>
  }
  func.func @main() {
    %x = stablehlo.constant dense<1> : tensor<i64>
    %0:2 = "interpreter.run_parallel"(%x, %x) {programs = [[@meets], [@ends]]} : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
    return
  }
}
