// RUN: sinter-opt %s --cpu-outline-sized-calls | FileCheck %s

// What grows otherwise keeps the type that the loop gives it, which is another
// than that of its start.

// CHECK-LABEL: func.func @main(
// CHECK: cpu.host_call "sinter.begin_rows"
// CHECK: stablehlo.while
// CHECK-SAME: (tensor<i64>, tensor<0xi64>) -> (tensor<i64>, tensor<?xi64>)
// CHECK: cpu.host_call "sinter.add_rows"
// CHECK: return %{{.*}} : tensor<?xi64>, tensor<?xi64>
func.func @main(%k: tensor<i64>) -> (tensor<?xi64>, tensor<?xi64>) {
  %z = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %none = stablehlo.constant dense<> : tensor<0xi64>
  %w:3 = "stablehlo.while"(%z, %none, %none) ({
  ^bb0(%i: tensor<i64>, %s: tensor<?xi64>, %u: tensor<?xi64>):
    %less = stablehlo.compare LT, %i, %k
        : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }, {
  ^bb0(%i: tensor<i64>, %s: tensor<?xi64>, %u: tensor<?xi64>):
    %j = stablehlo.add %i, %one : tensor<i64>
    %e = stablehlo.reshape %j : (tensor<i64>) -> tensor<1xi64>
    %t = stablehlo.concatenate %s, %e, dim = 0
        : (tensor<?xi64>, tensor<1xi64>) -> tensor<?xi64>
    %v = stablehlo.concatenate %e, %u, dim = 0
        : (tensor<1xi64>, tensor<?xi64>) -> tensor<?xi64>
    stablehlo.return %j, %t, %v : tensor<i64>, tensor<?xi64>, tensor<?xi64>
  }) : (tensor<i64>, tensor<0xi64>, tensor<0xi64>)
      -> (tensor<i64>, tensor<?xi64>, tensor<?xi64>)
  return %w#1, %w#2 : tensor<?xi64>, tensor<?xi64>
}
