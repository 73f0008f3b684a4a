// RUN: sinter-opt --split-input-file --inline-calls --refine-shapes --simplify-algebra --eliminate-dead-code --verify-diagnostics %s | FileCheck %s
// Covers: graph/stablehlo InferDynamic InferGather Inference InferenceOfAlgebra InferenceOfRegions
// Covers: passes RefineTypes

// CHECK-LABEL: func @main(%arg0: tensor<2x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.concatenate %arg0, %arg0, dim = 0
// CHECK-NEXT: return %[[C]]
func.func @main(%x: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %0 = stablehlo.abs %x : (tensor<2x3xf32>) -> tensor<?x?xf32>
  %1 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %2 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %3 = stablehlo.concatenate %two, %2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %4 = stablehlo.dynamic_reshape %x, %3 : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %5 = stablehlo.concatenate %4, %x, dim = 0 : (tensor<?x?xf32>, tensor<2x3xf32>) -> tensor<?x?xf32>
  return %5 : tensor<?x?xf32>
}

// -----

// Sizes that are known in part.
// CHECK-LABEL: func @main(%arg0: tensor<?xf32>, %arg1: tensor<1xi32>) -> tensor<?x3xf32>
func.func @main(%x: tensor<?xf32>, %n: tensor<1xi32>) -> tensor<?x?xf32> {
  %three = stablehlo.constant dense<3> : tensor<1xi32>
  %s = stablehlo.concatenate %n, %three, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  // CHECK: dynamic_reshape {{.*}} -> tensor<?x3xf32>
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// Each caller has its own shapes.
// CHECK-LABEL: func @main(%arg0: tensor<2xf32>, %arg1: tensor<3xf32>) -> (tensor<2xf32>, tensor<3xf32>)
// CHECK-NEXT: stablehlo.abs %arg0 : tensor<2xf32>
// CHECK-NEXT: stablehlo.abs %arg1 : tensor<3xf32>
// CHECK-NOT: func @f
func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %s = nn.shape %x : (tensor<2xf32>) -> tensor<1xi64>
  %t = nn.shape %y : (tensor<3xf32>) -> tensor<1xi64>
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<2xf32>, tensor<1xi64>) -> tensor<?xf32>
  %1 = stablehlo.dynamic_reshape %y, %t : (tensor<3xf32>, tensor<1xi64>) -> tensor<?xf32>
  %2 = call @f(%0) : (tensor<?xf32>) -> tensor<?xf32>
  %3 = call @f(%1) : (tensor<?xf32>) -> tensor<?xf32>
  return %2, %3 : tensor<?xf32>, tensor<?xf32>
}
func.func private @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.abs %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Composites keep their functions, whose shapes follow.
// CHECK-LABEL: func @main(%arg0: tensor<2xf32>) -> tensor<2xf32>
// CHECK: stablehlo.composite "my.abs" %arg0 {decomposition = @f} : (tensor<2xf32>) -> tensor<2xf32>
// CHECK: func private @f(%arg0: tensor<2xf32>) -> tensor<2xf32>
func.func @main(%x: tensor<2xf32>) -> tensor<?xf32> {
  %two = stablehlo.constant dense<2> : tensor<1xi64>
  %0 = stablehlo.dynamic_reshape %x, %two : (tensor<2xf32>, tensor<1xi64>) -> tensor<?xf32>
  %1 = stablehlo.composite "my.abs" %0 {decomposition = @f} : (tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}
func.func private @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.abs %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// A loop that keeps its shapes, and one that does not.
// CHECK-LABEL: func @main(%arg0: tensor<2xf32>) -> (tensor<2xf32>, tensor<?xf32>)
func.func @main(%x: tensor<2xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %two = stablehlo.constant dense<2> : tensor<1xi64>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0 = stablehlo.dynamic_reshape %x, %two : (tensor<2xf32>, tensor<1xi64>) -> tensor<?xf32>
  // CHECK: stablehlo.while({{.*}}) : tensor<i32>, tensor<2xf32>
  // CHECK: abs {{.*}} : tensor<2xf32>
  %1:2 = stablehlo.while(%i = %zero, %v = %0) : tensor<i32>, tensor<?xf32>
    cond {
      %c = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %n = stablehlo.add %i, %one : tensor<i32>
      %a = stablehlo.abs %v : tensor<?xf32>
      stablehlo.return %n, %a : tensor<i32>, tensor<?xf32>
    }
  // CHECK: stablehlo.while({{.*}}) : tensor<i32>, tensor<?xf32>
  // CHECK: concatenate {{.*}} -> tensor<?xf32>
  %y = stablehlo.dynamic_reshape %x, %two : (tensor<2xf32>, tensor<1xi64>) -> tensor<?xf32>
  %2:2 = stablehlo.while(%i = %zero, %v = %y) : tensor<i32>, tensor<?xf32>
    cond {
      %c = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %n = stablehlo.add %i, %one : tensor<i32>
      %a = stablehlo.concatenate %v, %v, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      stablehlo.return %n, %a : tensor<i32>, tensor<?xf32>
    }
  return %1#1, %2#1 : tensor<?xf32>, tensor<?xf32>
}

// -----

// CHECK-LABEL: func @main(%arg0: tensor<4x5xf32>, %arg1: tensor<f32>, %arg2: tensor<3x1xi32>) -> (tensor<7x9xf32>, tensor<3x2xf32>)
// CHECK: stablehlo.pad %arg0, %arg1, low = [1, 0], high = [2, 0], interior = [0, 1]
// CHECK: "stablehlo.gather"
func.func @main(%x: tensor<4x5xf32>, %v: tensor<f32>, %i: tensor<3x1xi32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %low = stablehlo.constant dense<[1, 0]> : tensor<2xi64>
  %high = stablehlo.constant dense<[2, 0]> : tensor<2xi64>
  %inner = stablehlo.constant dense<[0, 1]> : tensor<2xi64>
  %0 = stablehlo.dynamic_pad %x, %v, %low, %high, %inner : (tensor<4x5xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  %sizes = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %1 = "stablehlo.dynamic_gather"(%x, %i, %sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<4x5xf32>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<?x?xf32>
}

// -----

// CHECK-LABEL: func @main(%arg0: tensor<1x4x4x2xf32>, %arg1: tensor<3x3x2x5xf32>) -> tensor<1x4x3x5xf32>
// CHECK: stablehlo.convolution
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x5xf32>) -> tensor<?x?x?x?xf32> {
  %p = stablehlo.constant dense<[[1, 1], [1, 0]]> : tensor<2x2xi32>
  %0 = "stablehlo.dynamic_conv"(%x, %k, %p) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<1x4x4x2xf32>, tensor<3x3x2x5xf32>, tensor<2x2xi32>) -> tensor<?x?x?x?xf32>
  return %0 : tensor<?x?x?x?xf32>
}

// -----

// What exporters leave behind to be refined.
// CHECK-LABEL: func @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3x2xf32>)
// CHECK-NEXT: %[[Y:.*]] = stablehlo.custom_call @swap(%arg0) : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: return %arg0, %[[Y]]
func.func @main(%x: tensor<2x3xf32>) -> (tensor<?x?xf32>, tensor<?x2xf32>) {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %t = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
  %0 = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%x, %s) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = stablehlo.custom_call @swap(%x, %t) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x2xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<?x2xf32>
}

// -----

func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<?xf32> {
  %0 = stablehlo.abs %x : (tensor<2xf32>) -> tensor<?xf32>
  %1 = stablehlo.abs %y : (tensor<3xf32>) -> tensor<?xf32>
  // expected-error@+1 {{operands have different shapes: 'tensor<2xf32>' and 'tensor<3xf32>'}}
  %2 = stablehlo.add %0, %1 : tensor<?xf32>
  return %2 : tensor<?xf32>
}

// -----

// Functions for others to call, none of which is @main.
// CHECK-LABEL: func @first(%arg0: tensor<2xf32>) -> tensor<2xf32>
func.func @first(%x: tensor<2xf32>) -> tensor<?xf32> {
  %0 = stablehlo.abs %x : (tensor<2xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
// CHECK-LABEL: func @second(%arg0: tensor<3xf32>) -> tensor<3xf32>
func.func @second(%x: tensor<3xf32>) -> tensor<?xf32> {
  %0 = stablehlo.abs %x : (tensor<3xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// A slice with known bounds of something of a dynamic size.
// CHECK-LABEL: func @main
// CHECK: stablehlo.slice %arg0 [0:3, 1:4:2] : (tensor<?x4xf32>) -> tensor<3x2xf32>
func.func @main(%x: tensor<?x4xf32>) -> tensor<3x2xf32> {
  %starts = stablehlo.constant dense<[0, 1]> : tensor<2xi64>
  %limits = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
  %strides = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %r = stablehlo.real_dynamic_slice %x, %starts, %limits, %strides : (tensor<?x4xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// -----

// CHECK-LABEL: func @main
// CHECK: stablehlo.reshape %arg0 : (tensor<?x?xf32>) -> tensor<2x1xf32>
func.func @main(%x: tensor<?x?xf32>) -> tensor<2x1xf32> {
  %sizes = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
  %r = stablehlo.dynamic_reshape %x, %sizes : (tensor<?x?xf32>, tensor<2xi32>) -> tensor<2x1xf32>
  return %r : tensor<2x1xf32>
}

// -----

// CHECK-LABEL: func @main
// CHECK: stablehlo.dot %arg0, %arg1 : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:2>>, tensor<3x4x!quant.uniform<i8:f32, 2.500000e-01:1>>) -> tensor<2x4x!quant.uniform<i8:f32, 1.000000e+00>>
func.func @main(%x: tensor<2x3x!quant.uniform<i8:f32, 0.5:2>>, %w: tensor<3x4x!quant.uniform<i8:f32, 0.25:1>>) -> tensor<?x?x!quant.uniform<i8:f32, 1.0>> {
  %r = stablehlo.dot %x, %w : (tensor<2x3x!quant.uniform<i8:f32, 0.5:2>>, tensor<3x4x!quant.uniform<i8:f32, 0.25:1>>) -> tensor<?x?x!quant.uniform<i8:f32, 1.0>>
  return %r : tensor<?x?x!quant.uniform<i8:f32, 1.0>>
}
