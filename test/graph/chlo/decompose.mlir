// RUN: sinter-opt %s -decompose-chlo | FileCheck %s
// Covers: graph/chlo DecomposeChlo DecomposeRaggedDot
// Covers: passes DecomposeChlo

// CHECK-LABEL: func @static
func.func @static(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  // CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [1]
  // CHECK: stablehlo.add %arg0, %[[B]] : tensor<2x3xf32>
  %0 = chlo.broadcast_add %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// A scalar takes the other operand's shape, which needs no change.
// CHECK-LABEL: func @scalar
func.func @scalar(%a: tensor<?x3xf32>, %b: tensor<f32>) -> tensor<?x3xf32> {
  // CHECK: %[[B:.*]] = stablehlo.dynamic_broadcast_in_dim %arg1, %{{.*}}, dims = []
  // CHECK: stablehlo.multiply %arg0, %[[B]] : tensor<?x3xf32>
  %0 = chlo.broadcast_multiply %a, %b : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// A size is the first that is not 1.
// CHECK-LABEL: func @dynamic
func.func @dynamic(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xi1> {
  // CHECK: %[[A:.*]] = stablehlo.get_dimension_size %arg0, dim = 0
  // CHECK: %[[B:.*]] = stablehlo.get_dimension_size %arg1, dim = 0
  // CHECK: stablehlo.compare EQ
  // CHECK: %[[SIZE:.*]] = stablehlo.select
  // CHECK: stablehlo.dynamic_broadcast_in_dim %arg0, %[[SIZE]], dims = [0]
  // CHECK: stablehlo.dynamic_broadcast_in_dim %arg1, %[[SIZE]], dims = [0]
  // CHECK: stablehlo.compare LT
  %0 = chlo.broadcast_compare %a, %b {comparison_direction = #chlo<comparison_direction LT>} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xi1>
  return %0 : tensor<?xi1>
}

// CHECK-LABEL: func @function
func.func @function(%a: tensor<?x3xf16>) -> tensor<?x3xf16> {
  // CHECK-NOT: chlo.
  // CHECK: stablehlo.convert %arg0 : (tensor<?x3xf16>) -> tensor<?x3xf32>
  // CHECK: stablehlo.dynamic_broadcast_in_dim
  // CHECK: stablehlo.sqrt
  // CHECK: stablehlo.atan2
  // CHECK: -> tensor<?x3xf16>
  %0 = chlo.asin %a : tensor<?x3xf16> -> tensor<?x3xf16>
  return %0 : tensor<?x3xf16>
}

// CHECK-LABEL: func @top_k
func.func @top_k(%x: tensor<?x5xf32>) -> (tensor<?x2xf32>, tensor<?x2xi32>) {
  // CHECK: stablehlo.dynamic_iota
  // CHECK: "stablehlo.sort"
  // CHECK: stablehlo.compare GT, %{{.*}}, %{{.*}}, TOTALORDER
  // CHECK-COUNT-2: stablehlo.real_dynamic_slice
  %0:2 = chlo.top_k(%x, k = 2) : tensor<?x5xf32> -> (tensor<?x2xf32>, tensor<?x2xi32>)
  return %0#0, %0#1 : tensor<?x2xf32>, tensor<?x2xi32>
}

// Nothing says how often a scan of unknown length repeats.
// CHECK-LABEL: func @unknown_length
func.func @unknown_length(%x: tensor<?xi32>, %init: tensor<i32>) -> tensor<?xi32> {
  // CHECK: chlo.scan
  %0:2 = chlo.scan(%x) inits(%init) dimension=0 {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %sum = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %sum, %sum : tensor<i32>, tensor<i32>
  } : (tensor<?xi32>, tensor<i32>) -> (tensor<?xi32>, tensor<i32>)
  return %0#0 : tensor<?xi32>
}

// CHECK-LABEL: func @booleans
func.func @booleans(%a: tensor<4xi1>, %b: tensor<i1>) -> tensor<4xi1> {
  // CHECK: stablehlo.and %arg0, %{{.*}} : tensor<4xi1>
  %0 = chlo.broadcast_and %a, %b : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// Each operand and the result may be quantised in its own way.
// CHECK-LABEL: func @quantised
func.func @quantised(%a: tensor<2x!quant.uniform<i8:f32, 2.0:15>>, %b: tensor<2x!quant.uniform<i8:f32, 3.0:15>>)
    -> tensor<2x!quant.uniform<i8:f32, 4.0>> {
  // CHECK: stablehlo.add %arg0, %arg1 : (tensor<2x!quant.uniform<i8:f32, 2.000000e+00:15>>, tensor<2x!quant.uniform<i8:f32, 3.000000e+00:15>>) -> tensor<2x!quant.uniform<i8:f32, 4.000000e+00>>
  %0 = chlo.broadcast_add %a, %b : (tensor<2x!quant.uniform<i8:f32, 2.0:15>>, tensor<2x!quant.uniform<i8:f32, 3.0:15>>)
      -> tensor<2x!quant.uniform<i8:f32, 4.0>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 4.0>>
}
