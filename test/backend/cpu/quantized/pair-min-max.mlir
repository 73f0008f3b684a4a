// RUN: sinter-opt %s --split-input-file --cpu-pair-min-max --cpu-remove-dead-code | FileCheck %s
// RUN: sinter-opt %s --split-input-file '--cpu-pair-min-max=disable-patterns=pair-min-max' | FileCheck %s --check-prefix=OFF
// Covers: backend/cpu/quantized PairMinMax

// CHECK-LABEL: func.func @both
// CHECK: %[[R:.*]]:2 = stablehlo.reduce(%arg0 init: {{.*}}), (%arg0 init: {{.*}}) across dimensions = [0, 1]
// CHECK: stablehlo.minimum
// CHECK: stablehlo.maximum
// CHECK: return %[[R]]#0, %[[R]]#1
// OFF-LABEL: func.func @both
// OFF: applies stablehlo.minimum
// OFF: applies stablehlo.maximum
func.func @both(%x: tensor<4x8xf32>) -> (tensor<f32>, tensor<f32>) {
  %l = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %m = stablehlo.reduce(%x init: %l) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
  %g = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %n = stablehlo.reduce(%x init: %g) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
  return %m, %n : tensor<f32>, tensor<f32>
}

// -----

// Rows are reduced in the kernel that reads them again.
// CHECK-LABEL: func.func @rows
// CHECK: applies stablehlo.minimum
// CHECK: applies stablehlo.maximum
func.func @rows(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %l = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %m = stablehlo.reduce(%x init: %l) applies stablehlo.minimum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %g = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %n = stablehlo.reduce(%x init: %g) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return %m, %n : tensor<4xf32>, tensor<4xf32>
}

// -----

// Two of one kind, of two tensors, and what is not known to start from.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: applies stablehlo.maximum
// CHECK: applies stablehlo.minimum
func.func @others(%x: tensor<8xf32>, %y: tensor<8xf32>, %i: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %g = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %g) applies stablehlo.maximum across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.reduce(%x init: %g) applies stablehlo.maximum across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.reduce(%y init: %g) applies stablehlo.maximum across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %3 = stablehlo.reduce(%x init: %i) applies stablehlo.minimum across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %0, %1, %2, %3 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
