// RUN: sinter-opt %s --split-input-file '--cpu-set-precision=triple=x86_64-unknown-linux-gnu cpu=x86-64-v3' | FileCheck %s
// RUN: sinter-opt %s --split-input-file '--cpu-set-precision=triple=x86_64-unknown-linux-gnu cpu=sapphirerapids' | FileCheck %s --check-prefix=OTHERS
// Covers: backend/cpu/precision BFloat16Roundings
// Machines that round by an instruction have no use for it.
// OTHERS-NOT: cpu.of_bf16

// What arithmetic makes of numbers of bf16 and of constants.
// CHECK-LABEL: func.func @sums
// CHECK: stablehlo.convert {{.*}} {cpu.of_bf16} : (tensor<4x4xf32>) -> tensor<4x4xbf16>
func.func @sums(%x: tensor<4x8xbf16>) -> tensor<4x4xbf16> {
  %w = stablehlo.constant dense<0.3> : tensor<8x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
  %0 = stablehlo.convert %x : (tensor<4x8xbf16>) -> tensor<4x8xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %2 = stablehlo.maximum %1, %zeros : tensor<4x4xf32>
  %3 = stablehlo.convert %2 : (tensor<4x4xf32>) -> tensor<4x4xbf16>
  return %3 : tensor<4x4xbf16>
}

// -----

// An input may hold any NaN, and so may what follows from one.
// CHECK-LABEL: func.func @inputs
// CHECK-NOT: cpu.of_bf16
func.func @inputs(%x: tensor<4x8xf32>, %h: tensor<4x8xf16>) -> (tensor<4x8xbf16>, tensor<4x8xbf16>) {
  %0 = stablehlo.add %x, %x : tensor<4x8xf32>
  %1 = stablehlo.convert %0 : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  %2 = stablehlo.convert %h : (tensor<4x8xf16>) -> tensor<4x8xf32>
  %3 = stablehlo.convert %2 : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  return %1, %3 : tensor<4x8xbf16>, tensor<4x8xbf16>
}

// -----

// Of a NaN and a number the greater has bits of both; a constant may be a NaN.
// CHECK-LABEL: func.func @others
// CHECK-NOT: cpu.of_bf16
func.func @others(%x: tensor<4xbf16>, %y: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xbf16>) {
  %nan = stablehlo.constant dense<0x7FFFFFFF> : tensor<4xf32>
  %0 = stablehlo.convert %x : (tensor<4xbf16>) -> tensor<4xf32>
  %1 = stablehlo.convert %y : (tensor<4xbf16>) -> tensor<4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4xf32>
  %3 = stablehlo.maximum %2, %0 : tensor<4xf32>
  %4 = stablehlo.convert %3 : (tensor<4xf32>) -> tensor<4xbf16>
  %5 = stablehlo.add %2, %nan : tensor<4xf32>
  %6 = stablehlo.convert %5 : (tensor<4xf32>) -> tensor<4xbf16>
  return %4, %6 : tensor<4xbf16>, tensor<4xbf16>
}
