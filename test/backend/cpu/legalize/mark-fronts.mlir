// RUN: sinter-opt %s --split-input-file --cpu-mark-fronts | FileCheck %s

// CHECK-LABEL: func.func @front
// CHECK: {sinter.front = 7 : i64}
func.func @front(%x: tensor<4x50xf32>) -> (tensor<4x7xf32>, tensor<2x3xf32>) {
  %s = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %c = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4x50xf32>) -> tensor<4x50xf32>
  %a = stablehlo.slice %s [0:4, 0:7] : (tensor<4x50xf32>) -> tensor<4x7xf32>
  %b = stablehlo.slice %s [1:3, 0:3] : (tensor<4x50xf32>) -> tensor<2x3xf32>
  return %a, %b : tensor<4x7xf32>, tensor<2x3xf32>
}

// -----

// What is read from elsewhere, every other one, or returned as a whole.
// CHECK-LABEL: func.func @others
// CHECK-NOT: sinter.front
func.func @others(%x: tensor<50xf32>) -> (tensor<7xf32>, tensor<4xf32>, tensor<50xf32>) {
  %s = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %c = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<50xf32>) -> tensor<50xf32>
  %t = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %c = stablehlo.compare GT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<50xf32>) -> tensor<50xf32>
  %u = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %c = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<50xf32>) -> tensor<50xf32>
  %a = stablehlo.slice %s [1:8] : (tensor<50xf32>) -> tensor<7xf32>
  %b = stablehlo.slice %t [0:8:2] : (tensor<50xf32>) -> tensor<4xf32>
  return %a, %b, %u : tensor<7xf32>, tensor<4xf32>, tensor<50xf32>
}
