// RUN: sinter run %s --input random --no-cache --verify-numerics 2>&1 | FileCheck %s
// RUN: sinter-opt --cpu-assign-layouts %s | FileCheck %s --check-prefix=BLOCKS

// Gradients of weights, of a convolution and of a depthwise one, are kernels of
// their own, which the oracle knows, too.
// CHECK: --verify-numerics: preparing for the CPU: all agree
// CHECK-NOT: nothing was compared
// BLOCKS-DAG: "cpu.weight_gradient"
// BLOCKS-DAG: "cpu.depthwise_gradient"
// BLOCKS-NOT: stablehlo.convolution
func.func @main(%x: tensor<4x20x8x8xf32>, %y: tensor<4x33x4x4xf32>, %d: tensor<4x20x8x8xf32>) -> (tensor<33x20x3x3xf32>, tensor<20x1x3x3xf32>) {
  %g = stablehlo.convolution(%x, %y) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {stride = [1, 1], pad = [[1, 0], [1, 0]], rhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x20x8x8xf32>, tensor<4x33x4x4xf32>) -> tensor<33x20x3x3xf32>
  %h = stablehlo.convolution(%x, %d) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 20 : i64, feature_group_count = 1 : i64} : (tensor<4x20x8x8xf32>, tensor<4x20x8x8xf32>) -> tensor<20x1x3x3xf32>
  return %g, %h : tensor<33x20x3x3xf32>, tensor<20x1x3x3xf32>
}
