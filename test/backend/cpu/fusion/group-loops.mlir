// RUN: sinter-opt %s --cpu-group-loops | FileCheck %s

// What reads the first loop moves behind the second one.
// CHECK-LABEL: @main(
// CHECK: stablehlo.reverse
// CHECK: stablehlo.while
// CHECK: stablehlo.while
// CHECK: cpu.kernel
// CHECK: stablehlo.negate
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %c = stablehlo.constant dense<false> : tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<4xf32>):
    "stablehlo.return"(%a) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = cpu.kernel(%0) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %5 = stablehlo.negate %a : tensor<4xf32>
    cpu.yield %5 : tensor<4xf32>
  }
  %2 = cpu.kernel(%y) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %5 = stablehlo.reverse %a, dims = [0] : tensor<4xf32>
    cpu.yield %5 : tensor<4xf32>
  }
  %3 = "stablehlo.while"(%2) ({
  ^bb0(%a: tensor<4xf32>):
    %c = stablehlo.constant dense<false> : tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<4xf32>):
    "stablehlo.return"(%a) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %3 : tensor<4xf32>, tensor<4xf32>
}
