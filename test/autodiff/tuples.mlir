// RUN: sinter-opt --differentiate="results=0 arguments=1" %s | FileCheck %s
// Covers: graph/stablehlo OpenTuples

// A branch reads a parameter out of a tuple: its gradient comes out of the
// branch.
// CHECK: func.func @main(%[[X:.*]]: tensor<4xf64>, %[[W:.*]]: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>)
// CHECK-NOT: tuple
// CHECK: %[[BACK:.*]]:2 = "stablehlo.if"
// CHECK: stablehlo.cosine
// CHECK: return %{{.*}}, %[[BACK]]#{{[01]}}
func.func @main(%x: tensor<4xf64>, %w: tensor<4xf64>) -> tensor<4xf64> {
  %p = stablehlo.constant dense<true> : tensor<i1>
  %t = stablehlo.tuple %x, %w : tuple<tensor<4xf64>, tensor<4xf64>>
  %y = "stablehlo.if"(%p) ({
    %a = stablehlo.get_tuple_element %t[1] : (tuple<tensor<4xf64>, tensor<4xf64>>) -> tensor<4xf64>
    %s = stablehlo.sine %a : tensor<4xf64>
    stablehlo.return %s : tensor<4xf64>
  }, {
    stablehlo.return %x : tensor<4xf64>
  }) : (tensor<i1>) -> tensor<4xf64>
  return %y : tensor<4xf64>
}
