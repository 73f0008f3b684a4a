// RUN: sinter-opt %s --cpu-outline-sized-calls | FileCheck %s
// RUN: sinter-opt %s --cpu-outline-sized-calls --cpu-outline-dynamic | FileCheck %s --check-prefix=PARTED
// RUN: sinter-opt %s --cpu-outline-sized-calls --cpu-outline-dynamic --cpu-inline-dynamic --cpu-infer-dimensions | FileCheck %s --check-prefix=NAMED
// Covers: backend/cpu/shapes OutlineDynamic

// What has sizes that follow from values is counted, and filled by a call. What
// follows from it is a part of its own while other passes run; what does not
// stays.

// CHECK-LABEL: func.func @main(
// CHECK: %[[SET:.*]] = stablehlo.compare NE
// CHECK: %[[COUNT:.*]] = stablehlo.reduce({{.*}} applies stablehlo.add
// CHECK: %[[PLACES:.*]] = cpu.host_call "sinter.non_zero"(%[[SET]], %[[COUNT]]) with "" {pure, sized = 1 : i64}
// CHECK-SAME: -> tensor<2x?xi64>
// CHECK: cpu.host_call "sinter.begin_rows"() with "list=0"
// CHECK: stablehlo.while
// CHECK: cpu.host_call "sinter.add_rows"(%{{.*}}) with "list=0"
// CHECK: %[[ROWS:.*]] = cpu.host_call "sinter.count_rows"() with "list=0"
// CHECK: cpu.host_call "sinter.take_rows"(%[[ROWS]]) with "list=0" {sized = 1 : i64}

// PARTED-LABEL: func.func private @cpu.open0(
// PARTED-NOT: stablehlo.tanh
// PARTED: cpu.host_call "sinter.non_zero"
// PARTED-LABEL: func.func @main(
// PARTED: %[[TANH:.*]] = stablehlo.tanh
// PARTED: call @cpu.open0(
// PARTED-NOT: sinter.non_zero

// NAMED: parameters = ["size 0 of {{.*}}", "size 1 of {{.*}}"]
// NAMED-LABEL: func.func @main(
// NAMED: cpu.define_sizes %{{.*}} [0] are [0] : tensor<i64>
// NAMED: cpu.host_call "sinter.non_zero"
// NAMED: cpu.define_sizes %{{.*}} [0] are [1] : tensor<i64>
// NAMED: cpu.host_call "sinter.take_rows"
// NAMED-NOT: func.func private
func.func @main(%x: tensor<4x5xf32>, %k: tensor<i64>)
    -> (tensor<4x5xf32>, tensor<2x?xi64>, tensor<?xi64>) {
  %y = stablehlo.tanh %x : tensor<4x5xf32>
  %n = nn.non_zero %y : (tensor<4x5xf32>) -> tensor<2x?xi64>
  %z = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %nothing = stablehlo.constant dense<> : tensor<0xi64>
  %length = stablehlo.constant dense<0> : tensor<1xi64>
  %none = stablehlo.dynamic_reshape %nothing, %length
      : (tensor<0xi64>, tensor<1xi64>) -> tensor<?xi64>
  %w:2 = stablehlo.while(%i = %z, %s = %none) : tensor<i64>, tensor<?xi64>
   cond {
    %less = stablehlo.compare LT, %i, %k
        : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i64>
    %e = stablehlo.reshape %j : (tensor<i64>) -> tensor<1xi64>
    %t = stablehlo.concatenate %s, %e, dim = 0
        : (tensor<?xi64>, tensor<1xi64>) -> tensor<?xi64>
    stablehlo.return %j, %t : tensor<i64>, tensor<?xi64>
  }
  %m = stablehlo.negate %n : tensor<2x?xi64>
  return %y, %m, %w#1 : tensor<4x5xf32>, tensor<2x?xi64>, tensor<?xi64>
}
