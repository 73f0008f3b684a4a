// RUN: sinter-opt %s --move-rescales | FileCheck %s --check-prefix=BEFORE
// RUN: sinter-opt %s --move-rescales --cpu-flatten --move-rescales | FileCheck %s

!a = !quant.uniform<i8:f32, 0.5>
!b = !quant.uniform<i16:f32, 0.25:3>

// What stood between two rescales the backend takes away; then they meet.
// BEFORE-LABEL: @main
// BEFORE: uniform_quantize
// BEFORE: optimization_barrier
// BEFORE: uniform_quantize
// CHECK-LABEL: @main
// CHECK-NOT: uniform_quantize
// CHECK: return %arg0
func.func @main(%x: tensor<4x6x!a>) -> tensor<4x6x!a> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4x6x!a>) -> tensor<4x6x!b>
  %1 = stablehlo.optimization_barrier %0 : tensor<4x6x!b>
  %2 = stablehlo.uniform_quantize %1 : (tensor<4x6x!b>) -> tensor<4x6x!a>
  return %2 : tensor<4x6x!a>
}
