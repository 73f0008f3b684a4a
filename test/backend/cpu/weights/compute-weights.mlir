// RUN: sinter-opt %s --cpu-compute-kernels --cpu-compute-operands | FileCheck %s
// RUN: sinter-opt %s '--cpu-compute-kernels=disable-patterns=compute-kernel' '--cpu-compute-operands=disable-patterns=compute-operand' | FileCheck %s --check-prefix=OFF

// A convolution's kernel is computed at once, a product's large operand when it
// is packed; small ones are left to folding.
// CHECK-LABEL: func.func @main
// CHECK: %[[K:.*]] = stablehlo.constant {{.*}} : tensor<8x4x1x1xf32>
// CHECK: stablehlo.convolution(%arg0, %[[K]])
// CHECK: %[[W:.*]] = cpu.computed_constant : tensor<1024x1024xf32> {
// CHECK: stablehlo.convert
// CHECK: cpu.yield
// CHECK: stablehlo.dot_general %arg1, %[[W]]
// CHECK: %[[S:.*]] = stablehlo.convert {{.*}} : (tensor<1024x4xf16>) -> tensor<1024x4xf32>
// CHECK: stablehlo.dot_general %arg1, %[[S]]
// OFF-NOT: cpu.computed_constant
func.func @main(%x: tensor<1x4x8x8xf32>, %y: tensor<2x1024xf32>)
    -> (tensor<1x8x8x8xf32>, tensor<2x1024xf32>, tensor<2x4xf32>) {
  %k = stablehlo.constant dense<0.5> : tensor<8x4x1x1xf16>
  %kf = stablehlo.convert %k : (tensor<8x4x1x1xf16>) -> tensor<8x4x1x1xf32>
  %0 = stablehlo.convolution(%x, %kf) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x4x8x8xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x8x8xf32>
  %w = stablehlo.constant dense<0.25> : tensor<1024x1024xf16>
  %wf = stablehlo.convert %w : (tensor<1024x1024xf16>) -> tensor<1024x1024xf32>
  %1 = stablehlo.dot_general %y, %wf, contracting_dims = [1] x [0]
    : (tensor<2x1024xf32>, tensor<1024x1024xf32>) -> tensor<2x1024xf32>
  %s = stablehlo.constant dense<0.25> : tensor<1024x4xf16>
  %sf = stablehlo.convert %s : (tensor<1024x4xf16>) -> tensor<1024x4xf32>
  %2 = stablehlo.dot_general %y, %sf, contracting_dims = [1] x [0]
    : (tensor<2x1024xf32>, tensor<1024x4xf32>) -> tensor<2x4xf32>
  return %0, %1, %2 : tensor<1x8x8x8xf32>, tensor<2x1024xf32>, tensor<2x4xf32>
}
