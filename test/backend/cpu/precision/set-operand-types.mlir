// RUN: sinter-opt %s '--cpu-set-precision=triple=x86_64-unknown-linux-gnu cpu=sapphirerapids' | FileCheck %s
// RUN: sinter-opt %s '--cpu-set-precision=triple=x86_64-unknown-linux-gnu cpu=x86-64-v4' | FileCheck %s --check-prefix=OTHERS
// Machines without matrix units have no use for it.
// OTHERS-NOT: sinter.operand_types

// Activations that were of f16 are f16 numbers, wherever they have been moved to.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.dot_general {{.*}} {sinter.operand_types = [f16, f16]} :
// CHECK: stablehlo.dot_general {{.*}} {sinter.operand_types = [bf16, f32]} :
// CHECK: stablehlo.dot_general
// CHECK-NOT: sinter.operand_types
func.func @main(%x: tensor<4x8xf16>, %b: tensor<4x8xbf16>, %f: tensor<8x8xf32>)
    -> (tensor<8x8xf32>, tensor<4x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.convert %x : (tensor<4x8xf16>) -> tensor<4x8xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %2 = stablehlo.dot_general %1, %0, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %3 = stablehlo.convert %b : (tensor<4x8xbf16>) -> tensor<4x8xf32>
  %4 = stablehlo.dot_general %3, %f, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %5 = stablehlo.dot_general %f, %f, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2, %4, %5 : tensor<8x8xf32>, tensor<4x8xf32>, tensor<8x8xf32>
}
