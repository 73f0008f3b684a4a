// RUN: sinter-opt %s --move-rescales | FileCheck %s
// Covers: backend/cpu/ir RescaleModels

!a = !quant.uniform<i8:f32, 0.5>
!b = !quant.uniform<i16:f32, 0.25:3>

// The backend's own operations say what rescales may do around them.
// CHECK-LABEL: @main
// CHECK: cpu.pack %arg0
// CHECK-NEXT: stablehlo.uniform_quantize
func.func @main(%x: tensor<1x16x4x4x!a>) -> tensor<1x1x4x4x16x!b> {
  %0 = stablehlo.uniform_quantize %x : (tensor<1x16x4x4x!a>) -> tensor<1x16x4x4x!b>
  %1 = cpu.pack %0 : (tensor<1x16x4x4x!b>) -> tensor<1x1x4x4x16x!b>
  return %1 : tensor<1x1x4x4x16x!b>
}

// CHECK-LABEL: @there_and_back
// CHECK-NOT: uniform_quantize
func.func @there_and_back(%x: tensor<1x16x4x4x!a>) -> tensor<1x1x4x4x16x!a> {
  %0 = stablehlo.uniform_quantize %x : (tensor<1x16x4x4x!a>) -> tensor<1x16x4x4x!b>
  %1 = cpu.pack %0 : (tensor<1x16x4x4x!b>) -> tensor<1x1x4x4x16x!b>
  %2 = stablehlo.uniform_quantize %1 : (tensor<1x1x4x4x16x!b>) -> tensor<1x1x4x4x16x!a>
  return %2 : tensor<1x1x4x4x16x!a>
}
