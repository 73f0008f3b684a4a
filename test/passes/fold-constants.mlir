// RUN: sinter-opt --fold-constants %s | FileCheck %s
// RUN: sinter-opt --fold-constants="byte-limit=8" %s | FileCheck %s --check-prefix=LIMIT
// RUN: sinter-opt --eliminate-common-subexpressions --eliminate-dead-code %s | FileCheck %s --check-prefix=CSE

// CHECK-LABEL: func @sum
// LIMIT-LABEL: func @sum
func.func @sum() -> tensor<4xf32> {
  // CHECK: %[[C:.*]] = stablehlo.constant dense<[4.000000e+00, 6.000000e+00, 4.000000e+00, 6.000000e+00]>
  // CHECK: return %[[C]]
  // LIMIT: stablehlo.concatenate
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = stablehlo.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %0 = stablehlo.add %a, %b : tensor<2xf32>
  %2 = stablehlo.concatenate %0, %0, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// What is computed of the elements that a broadcast repeats is repeated.
// CHECK-LABEL: func.func @repeated
func.func @repeated(%x: tensor<64x2xf32>) -> tensor<64x2xf32> {
  // CHECK: %[[EACH:.*]] = stablehlo.constant dense<[3.000000e+00, 7.000000e+00]> : tensor<2xf32>
  // CHECK: %[[ALL:.*]] = stablehlo.broadcast_in_dim %[[EACH]], dims = [1]
  // CHECK: stablehlo.add %arg0, %[[ALL]]
  %b = stablehlo.constant dense<[3, 7]> : tensor<2xi32>
  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<2xi32>) -> tensor<64x2xi32>
  %1 = stablehlo.convert %0 : (tensor<64x2xi32>) -> tensor<64x2xf32>
  %2 = stablehlo.add %x, %1 : tensor<64x2xf32>
  return %2 : tensor<64x2xf32>
}

// A weight in another order is that weight; a broadcast does not become an array.
// CHECK-LABEL: func @weights
func.func @weights() -> (tensor<2x2xf32>, tensor<64x2xf32>) {
  // CHECK: stablehlo.constant {sinter.name = "w"} dense<{{\[\[}}1.000000e+00, 3.000000e+00], [2.000000e+00, 4.000000e+00]]>
  // CHECK: stablehlo.broadcast_in_dim
  %w = stablehlo.constant {sinter.name = "w"} dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = stablehlo.transpose %w, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<2xf32>) -> tensor<64x2xf32>
  return %0, %1 : tensor<2x2xf32>, tensor<64x2xf32>
}

// A part of a node that stays is folded away from it, unless it is large:
// nothing is exported.
// CHECK-LABEL: func @part_of_node
// LIMIT-LABEL: func @part_of_node
func.func @part_of_node(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  // CHECK-NOT: stablehlo.reshape
  // CHECK: stablehlo.dot_general
  // LIMIT: stablehlo.reshape %{{.*}} {sinter.source = 3 : i64}
  %w = stablehlo.constant {sinter.name = "w"} dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = stablehlo.reshape %w {sinter.source = 3 : i64} : (tensor<4xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] {sinter.source = 3 : i64} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %1 : tensor<1x2xf32>
}

// Parts of a large array take its place when they are no larger together.
// LIMIT-LABEL: func @slices
func.func @slices() -> (tensor<3xf32>, tensor<3xf32>) {
  // LIMIT-NOT: stablehlo.slice
  // LIMIT: return
  %w = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %0 = stablehlo.slice %w [0:3] : (tensor<6xf32>) -> tensor<3xf32>
  %1 = stablehlo.slice %w [3:6] : (tensor<6xf32>) -> tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}

// LIMIT-LABEL: func @overlapping_slices
func.func @overlapping_slices() -> (tensor<4xf32>, tensor<4xf32>) {
  // LIMIT-COUNT-2: stablehlo.slice
  %w = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %0 = stablehlo.slice %w [0:4] : (tensor<6xf32>) -> tensor<4xf32>
  %1 = stablehlo.slice %w [2:6] : (tensor<6xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// LIMIT-LABEL: func @slice_of_what_stays
func.func @slice_of_what_stays() -> (tensor<3xf32>, tensor<6xf32>) {
  // LIMIT: stablehlo.slice
  %w = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %0 = stablehlo.slice %w [0:3] : (tensor<6xf32>) -> tensor<3xf32>
  return %0, %w : tensor<3xf32>, tensor<6xf32>
}

// CSE-LABEL: func @same
func.func @same(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // CSE: stablehlo.constant {sinter.name = "a"}
  // CSE: stablehlo.constant {sinter.name = "b"}
  // CSE: stablehlo.exponential
  // CSE-NOT: stablehlo.exponential
  // CSE-NOT: stablehlo.tanh
  %a = stablehlo.constant {sinter.name = "a"} dense<1.0> : tensor<2xf32>
  %b = stablehlo.constant {sinter.name = "b"} dense<1.0> : tensor<2xf32>
  %0 = stablehlo.exponential %x {sinter.source = 0 : i64} : tensor<2xf32>
  %1 = stablehlo.exponential %x {sinter.source = 1 : i64} : tensor<2xf32>
  %2 = stablehlo.add %0, %a : tensor<2xf32>
  %3 = stablehlo.add %1, %b : tensor<2xf32>
  %4 = stablehlo.tanh %3 : tensor<2xf32>
  return %2, %3 : tensor<2xf32>, tensor<2xf32>
}

// A quantised weight is turned with its scales, and so is what it was stored
// as; integers of 32 bits, a bias, stay the vector that a node takes.
// CHECK-LABEL: func @turned
func.func @turned() -> (tensor<3x2x!quant.uniform<i8:f32:1, {0.5, 0.25:1}>>, tensor<2x2x!quant.uniform<u8:f32, 0.5:128>>, tensor<1x2x!quant.uniform<i32:f32, 0.5>>) {
  // CHECK-DAG: {value = dense<{{\[\[}}1, 4], [2, 5], [3, 6]]> : tensor<3x2xi8>}{{.*}}sinter.name = "w"{{.*}} -> tensor<3x2x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01:1}>>
  // CHECK-DAG: {value = dense<{{\[\[}}1, 3], [2, 4]]> : tensor<2x2xui8>}{{.*}}sinter.source.stored_as = !quant.uniform<i8:f32, 5.000000e-01>
  // CHECK: stablehlo.reshape
  // CHECK-NOT: stablehlo.transpose
  %w = stablehlo.constant() {value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>, sinter.name = "w"} : () -> tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>
  %0 = stablehlo.transpose %w, dims = [1, 0] : (tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>) -> tensor<3x2x!quant.uniform<i8:f32:1, {0.5, 0.25:1}>>
  %v = stablehlo.constant() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xui8>, sinter.source.stored_as = !quant.uniform<i8:f32, 0.5>} : () -> tensor<2x2x!quant.uniform<u8:f32, 0.5:128>>
  %1 = stablehlo.transpose %v, dims = [1, 0] : (tensor<2x2x!quant.uniform<u8:f32, 0.5:128>>) -> tensor<2x2x!quant.uniform<u8:f32, 0.5:128>>
  %b = stablehlo.constant() {value = dense<[7, 8]> : tensor<2xi32>} : () -> tensor<2x!quant.uniform<i32:f32, 0.5>>
  %2 = stablehlo.reshape %b : (tensor<2x!quant.uniform<i32:f32, 0.5>>) -> tensor<1x2x!quant.uniform<i32:f32, 0.5>>
  return %0, %1, %2 : tensor<3x2x!quant.uniform<i8:f32:1, {0.5, 0.25:1}>>, tensor<2x2x!quant.uniform<u8:f32, 0.5:128>>, tensor<1x2x!quant.uniform<i32:f32, 0.5>>
}
