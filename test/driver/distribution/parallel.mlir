// Programs that run others as processes and look at what these do.

// Each process counts to its rank, and is probed on the way.
module @probes_in_loops {
  func.func @counts() -> tensor<i64> {
    %rank = stablehlo.partition_id : tensor<ui32>
    %last = stablehlo.convert %rank : (tensor<ui32>) -> tensor<i64>
    %zero = stablehlo.constant dense<0> : tensor<i64>
    %one = stablehlo.constant dense<1> : tensor<i64>
    %n = stablehlo.while(%i = %zero) : tensor<i64>
    cond {
      %c = stablehlo.compare LT, %i, %last : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i64>
      %seen = interpreter.probe %next, probe_id = "next" : tensor<i64>
      %same = stablehlo.compare EQ, %seen, %next : (tensor<i64>, tensor<i64>) -> tensor<i1>
      check.expect_eq_const %same, dense<true> : tensor<i1>
      stablehlo.return %seen : tensor<i64>
    }
    return %n : tensor<i64>
  }
  func.func @main() {
    %0:3 = "interpreter.run_parallel"() {programs = [[@counts, @counts, @counts]]} : () -> (tensor<i64>, tensor<i64>, tensor<i64>)
    check.expect_eq_const %0#0, dense<0> : tensor<i64>
    check.expect_eq_const %0#1, dense<1> : tensor<i64>
    check.expect_eq_const %0#2, dense<2> : tensor<i64>
    // One and one and two, in whatever order; the first is a one.
    %first = stablehlo.constant dense<1> : tensor<i64>
    check.expect_serialized_eq %first, probe_id = "next", iter = 0 : tensor<i64>
    return
  }
}

// -----

// A process runs processes, which have a grid of their own, and an infeed.
module @processes_of_processes {
  func.func @feed() -> (tensor<2xi64>, tensor<f32>) {
    %0 = stablehlo.constant dense<[5, 7]> : tensor<2xi64>
    %1 = stablehlo.constant dense<0.5> : tensor<f32>
    return %0, %1 : tensor<2xi64>, tensor<f32>
  }
  func.func @inner(%x: tensor<2xi64>, %k: !stablehlo.token) -> (tensor<2xi64>, !stablehlo.token, tensor<f32>) {
    %0:3 = "stablehlo.infeed"(%k) : (!stablehlo.token) -> (tensor<2xi64>, tensor<f32>, !stablehlo.token)
    %1 = stablehlo.multiply %x, %0#0 : tensor<2xi64>
    %2 = "stablehlo.all_reduce"(%1) ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %s = stablehlo.add %a, %b : tensor<i64>
        stablehlo.return %s : tensor<i64>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi64>) -> tensor<2xi64>
    return %2, %0#2, %0#1 : tensor<2xi64>, !stablehlo.token, tensor<f32>
  }
  func.func @outer(%x: tensor<2xi64>) -> tensor<2xi64> {
    %k = stablehlo.create_token : !stablehlo.token
    %y = stablehlo.negate %x : tensor<2xi64>
    %0:6 = "interpreter.run_parallel"(%x, %k, %y, %k) {programs = [[@inner], [@inner]], infeed = [@feed]}
      : (tensor<2xi64>, !stablehlo.token, tensor<2xi64>, !stablehlo.token)
      -> (tensor<2xi64>, !stablehlo.token, tensor<f32>, tensor<2xi64>, !stablehlo.token, tensor<f32>)
    check.expect_eq_const %0#0, dense<0> : tensor<2xi64>
    check.expect_eq_const %0#5, dense<0.5> : tensor<f32>
    %1 = stablehlo.add %0#3, %x : tensor<2xi64>
    return %1 : tensor<2xi64>
  }
  func.func @main() {
    %x = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %y = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
    %0:2 = "interpreter.run_parallel"(%x, %y) {programs = [[@outer, @outer]]} : (tensor<2xi64>, tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>)
    check.expect_eq %0#0, %x : tensor<2xi64>
    check.expect_eq %0#1, %y : tensor<2xi64>
    return
  }
}
