// RUN: sinter-opt --simplify-algebra --split-input-file %s | FileCheck %s

// What is collapsed is not there: no rule may take it for one element.
// CHECK-LABEL: func @no_index
// CHECK: stablehlo.gather
func.func @no_index(%x: tensor<3x4xf32>, %i: tensor<5x0xi32>) -> tensor<5x2xf32> {
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [], index_vector_dim = 1>, slice_sizes = array<i64: 0, 2>}> : (tensor<3x4xf32>, tensor<5x0xi32>) -> tensor<5x2xf32>
  return %r : tensor<5x2xf32>
}

// CHECK-LABEL: func @one_index
// CHECK: stablehlo.gather
func.func @one_index(%x: tensor<3x4xf32>) -> tensor<1x2xf32> {
  %i = stablehlo.constant dense<1> : tensor<1x1xi32>
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 0, 2>}> : (tensor<3x4xf32>, tensor<1x1xi32>) -> tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}
