// RUN: sinter-opt %s --cpu-lower-host-calls | FileCheck %s

// What is started runs where it starts.
// CHECK-LABEL: func.func @main
// CHECK-NOT: async
// CHECK: cpu.host_call
// CHECK-NOT: async
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %f = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<2x3xf32>):
    %g = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    stablehlo.return %g : tensor<2x3xf32>
  }) : (tensor<2x3xf32>) -> !stablehlo.future<tensor<2x3xf32>>
  %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2x3xf32>>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
