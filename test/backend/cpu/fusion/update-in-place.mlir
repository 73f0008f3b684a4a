// RUN: sinter-opt %s --cpu-update-in-place | FileCheck %s

// The update stands behind the other reader, and writes over the state.
// CHECK-LABEL: @main(
// CHECK: cpu.kernel(%arg1)
// CHECK: cpu.kernel(%arg1, %arg0) {updated = 0 : i64}
func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32> {sinter.state = "w", sinter.initial = dense<0.0> : tensor<4xf32>})
    -> (tensor<4xf32>, tensor<4xf32> {sinter.state = "w"}) {
  %0 = cpu.kernel(%w, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %1 = stablehlo.add %a, %b : tensor<4xf32>
    cpu.yield %1 : tensor<4xf32>
  }
  %2 = cpu.kernel(%w) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %3 = stablehlo.reverse %a, dims = [0] : tensor<4xf32>
    cpu.yield %3 : tensor<4xf32>
  }
  return %2, %0 : tensor<4xf32>, tensor<4xf32>
}
