// RUN: sinter-opt --differentiate %s | FileCheck %s
// RUN: sed s/stablehlo.add/stablehlo.subtract/ %s | sinter-opt --differentiate | FileCheck %s --check-prefix=ANY
// RUN: sed 's/stablehlo.add/stablehlo.subtract/; s/dense<.*> : tensor<1x2xi64>/dense<> : tensor<0x0xi64>/' %s | not sinter-opt --differentiate 2>&1 | FileCheck %s --check-prefix=OTHER

// A sum over processes, by the same groups on the way back.
// CHECK: %[[Y:.*]]:2 = "stablehlo.all_reduce"
// CHECK: %[[ONE:.*]] = stablehlo.broadcast_in_dim
// CHECK: %[[G:.*]]:2 = "stablehlo.all_reduce"(%[[ONE]], %{{.*}}) <{replica_groups = dense<{{\[\[}}0, 1]]>
// CHECK: stablehlo.add %[[G]]
// By another body: through what each process has gathered.
// ANY: "stablehlo.all_gather"
// ANY: stablehlo.subtract
// ANY: "stablehlo.reduce_scatter"
// OTHER: has no gradient, since it does not say how many processes a group of it has
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = "stablehlo.all_reduce"(%x, %x) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
