// RUN: sinter-opt %s -verify-diagnostics -split-input-file
// Covers: graph/stablehlo Verify VerifyDeprecated

func.func @add(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{must have the same shape}}
  %r = "stablehlo.add"(%a, %b) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

func.func @features(%x: tensor<1x3x8x8xf32>, %k: tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32> {
  // expected-error@+1 {{(C14) the kernel has 2 input features, not the input's 3 over 1 groups}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
      window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x3x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32>
  return %r : tensor<1x4x6x6xf32>
}

// -----

func.func @size(%x: tensor<1x3x8x8xf32>, %k: tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32> {
  // expected-error@+1 {{(C25) spatial dimension 0 of the result should have size 6}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
      window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  return %r : tensor<1x4x8x8xf32>
}

// -----

func.func @broadcast(%x: tensor<2xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{(C5) dimension 0 of the operand has size 2, neither 1 nor the result's 3}}
  %r = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<2xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

func.func @reshape(%x: tensor<2x3xf32>) -> tensor<5xf32> {
  // expected-error@+1 {{(C2) operand and result differ in the number of elements}}
  %r = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// -----

func.func @statistics(%x: tensor<2x3xf32>, %p: tensor<3xf32>, %v: tensor<2xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{(C6) variance is not one number a feature}}
  %r = "stablehlo.batch_norm_inference"(%x, %p, %p, %p, %v) {epsilon = 0.001 : f32, feature_index = 1 : i64}
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

func.func @product(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) -> tensor<2x5xf32> {
  // expected-error@+1 {{(C10) contracting dimensions differ in size}}
  %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return %r : tensor<2x5xf32>
}
