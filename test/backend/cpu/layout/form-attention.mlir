// RUN: sinter-opt %s --cpu-decompose --cpu-form-attention --cpu-remove-dead-code | FileCheck %s
// RUN: sinter-opt %s '--cpu-decompose=disable-patterns=form-attention' '--cpu-form-attention=disable-patterns=form-attention' --cpu-remove-dead-code | FileCheck %s --check-prefix=OFF
// Covers: backend/cpu/ir DeadCode
// Covers: backend/cpu/legalize Decompose LowerBatchNorms

// Transposes before and behind become names of dimensions; one key is left
// to sums.
// CHECK-LABEL: func.func @main
// CHECK: "cpu.attention"(%arg0, %arg0, %arg0)
// CHECK-SAME: query_dims = array<i64: 0, 2, 1, 3>
// CHECK-SAME: -> tensor<1x64x4x32xf32>
// CHECK-NOT: nn.attention
// CHECK: stablehlo.dot_general
// OFF-NOT: attention
func.func @main(%x: tensor<1x64x4x32xf32>, %q: tensor<1x4x2x32xf32>,
                %k: tensor<1x4x1x32xf32>)
    -> (tensor<1x64x4x32xf32>, tensor<1x4x2x32xf32>) {
  %t = stablehlo.transpose %x, dims = [0, 2, 1, 3] : (tensor<1x64x4x32xf32>) -> tensor<1x4x64x32xf32>
  %a = nn.attention %t, %t, %t scale = 1.000000e-01
    : (tensor<1x4x64x32xf32>, tensor<1x4x64x32xf32>, tensor<1x4x64x32xf32>) -> tensor<1x4x64x32xf32>
  %r = stablehlo.transpose %a, dims = [0, 2, 1, 3] : (tensor<1x4x64x32xf32>) -> tensor<1x64x4x32xf32>
  %b = nn.attention %q, %k, %k scale = 1.000000e-01
    : (tensor<1x4x2x32xf32>, tensor<1x4x1x32xf32>, tensor<1x4x1x32xf32>) -> tensor<1x4x2x32xf32>
  return %r, %b : tensor<1x64x4x32xf32>, tensor<1x4x2x32xf32>
}
