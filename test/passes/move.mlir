// RUN: sinter-opt --simplify-algebra %s | FileCheck %s
// RUN: sinter-opt --move-transposes %s | FileCheck %s --check-prefix=MOVE
// Covers: passes EliminateCommonSubexpressions EliminateDeadCode Groups InlineCalls MoveTransposes Matching

// CHECK-LABEL: func @nothing
func.func @nothing(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: return %arg0
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %2 = stablehlo.reshape %1 : (tensor<2x3xf32>) -> tensor<6xf32>
  %3 = stablehlo.reshape %2 : (tensor<6xf32>) -> tensor<2x3xf32>
  %4 = stablehlo.slice %3 [0:2, 0:3] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = stablehlo.concatenate %4, dim = 0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = stablehlo.pad %5, %zero, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = stablehlo.reverse %7, dims = [0, 1] : tensor<2x3xf32>
  %9 = stablehlo.reverse %8, dims = [1, 0] : tensor<2x3xf32>
  %10 = stablehlo.slice %9 [0:1, 0:3] : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %11 = stablehlo.slice %9 [1:2, 0:3] : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %12 = stablehlo.concatenate %10, %11, dim = 0 : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  return %12 : tensor<2x3xf32>
}

// CHECK-LABEL: func @merged
func.func @merged(%x: tensor<2x8xf32>, %y: tensor<2x4xf32>) -> (tensor<1x2xf32>, tensor<2x2xf32>, tensor<2x16xf32>, tensor<2x1x8xf32>) {
  // CHECK-DAG: stablehlo.slice %arg0 [1:2, 2:7:4] : (tensor<2x8xf32>) -> tensor<1x2xf32>
  // CHECK-DAG: stablehlo.slice %arg1 [0:2, 1:3] : (tensor<2x4xf32>) -> tensor<2x2xf32>
  // CHECK-DAG: stablehlo.concatenate %arg0, %arg1, %arg1, dim = 1
  // CHECK-DAG: stablehlo.reshape %arg0 : (tensor<2x8xf32>) -> tensor<2x1x8xf32>
  %0 = stablehlo.slice %x [1:2, 0:8:2] : (tensor<2x8xf32>) -> tensor<1x4xf32>
  %1 = stablehlo.slice %0 [0:1, 1:4:2] : (tensor<1x4xf32>) -> tensor<1x2xf32>
  %2 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<2x8xf32>, tensor<2x4xf32>) -> tensor<2x12xf32>
  %3 = stablehlo.slice %2 [0:2, 9:11] : (tensor<2x12xf32>) -> tensor<2x2xf32>
  %4 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<2x8xf32>, tensor<2x4xf32>) -> tensor<2x12xf32>
  %5 = stablehlo.concatenate %4, %y, dim = 1 : (tensor<2x12xf32>, tensor<2x4xf32>) -> tensor<2x16xf32>
  %6 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<2x8xf32>) -> tensor<2x1x8xf32>
  return %1, %3, %5, %6 : tensor<1x2xf32>, tensor<2x2xf32>, tensor<2x16xf32>, tensor<2x1x8xf32>
}

// CHECK-LABEL: func @padding
func.func @padding(%x: tensor<1x1x4x4xf32>, %k: tensor<1x1x3x3xf32>) -> tensor<1x1x4x3xf32> {
  // CHECK: stablehlo.convolution(%arg0, %arg1)
  // CHECK-SAME: pad = {{\[\[}}1, 1], [1, 0]]
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %zero, low = [0, 0, 1, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<1x1x4x4xf32>, tensor<f32>) -> tensor<1x1x5x4xf32>
  %1 = stablehlo.convolution(%0, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
      window = {pad = [[0, 1], [1, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x1x5x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x4x3xf32>
  return %1 : tensor<1x1x4x3xf32>
}

// CHECK-LABEL: func @shapes
func.func @shapes(%x: tensor<?x3xf32>, %y: tensor<2x3xf32>) -> (tensor<1xi64>, tensor<2xi64>, tensor<3x2xf32>, tensor<2x3xf32>) {
  // CHECK-DAG: stablehlo.constant dense<3> : tensor<1xi64>
  // CHECK-DAG: stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  // CHECK-DAG: stablehlo.reshape %arg1 : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK: return
  // CHECK-SAME: %arg1
  %i = stablehlo.constant dense<1> : tensor<1xi64>
  %to = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
  %0 = nn.shape %x : (tensor<?x3xf32>) -> tensor<2xi64>
  %1 = nn.take %0, %i, axis = 0 : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
  %2 = nn.shape %y : (tensor<2x3xf32>) -> tensor<2xi64>
  %3 = stablehlo.dynamic_reshape %y, %to : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  %4 = nn.broadcast_like %y, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1, %2, %3, %4 : tensor<1xi64>, tensor<2xi64>, tensor<3x2xf32>, tensor<2x3xf32>
}

// MOVE-LABEL: func @cancel
func.func @cancel(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  // MOVE-NOT: stablehlo.transpose %arg0
  // MOVE: %[[R:.*]] = nn.relu %arg0 : tensor<1x2x3x4xf32>
  // MOVE: stablehlo.broadcast_in_dim %{{.*}}, dims = [1] : (tensor<2xf32>) -> tensor<1x2x3x4xf32>
  // MOVE: stablehlo.add %[[R]]
  %c = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = stablehlo.transpose %x, dims = [0, 2, 3, 1] : (tensor<1x2x3x4xf32>) -> tensor<1x3x4x2xf32>
  %1 = nn.relu %0 : tensor<1x3x4x2xf32>
  %b = stablehlo.broadcast_in_dim %c, dims = [3] : (tensor<2xf32>) -> tensor<1x3x4x2xf32>
  %2 = stablehlo.add %1, %b : tensor<1x3x4x2xf32>
  %3 = stablehlo.transpose %2, dims = [0, 3, 1, 2] : (tensor<1x3x4x2xf32>) -> tensor<1x2x3x4xf32>
  return %3 : tensor<1x2x3x4xf32>
}

// One transpose up, another one down: nothing is gained, so nothing moves.
// MOVE-LABEL: func @no_gain
func.func @no_gain(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<3x2xf32> {
  // MOVE: %[[S:.*]] = stablehlo.add %arg0, %arg1
  // MOVE: stablehlo.transpose %[[S]]
  %0 = stablehlo.add %x, %y : tensor<2x3xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// MOVE-LABEL: func @reshapes
func.func @reshapes(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  // MOVE-NOT: reshape
  %half = stablehlo.constant dense<0.5> : tensor<3x4xf32>
  %0 = stablehlo.reshape %x : (tensor<2x6xf32>) -> tensor<3x4xf32>
  %1 = stablehlo.multiply %0, %half : tensor<3x4xf32>
  %2 = stablehlo.tanh %1 : tensor<3x4xf32>
  %3 = stablehlo.reshape %2 : (tensor<3x4xf32>) -> tensor<2x6xf32>
  return %3 : tensor<2x6xf32>
}
