// RUN: sinter-opt %s -verify-diagnostics -split-input-file
// Covers: graph/chlo ChloDialect ScanAssembly Verify

func.func @broadcast_shapes(%a: tensor<2x3xf32>, %b: tensor<4xf32>) {
  // expected-error@+2 {{operands do not broadcast}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_add %a, %b : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_elements(%a: tensor<3xf32>, %b: tensor<3xf64>) {
  // expected-error@+2 {{operands have different element types}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_multiply %a, %b : (tensor<3xf32>, tensor<3xf64>) -> tensor<3xf32>
  return
}

// -----

func.func @broadcast_dimensions(%a: tensor<2x3xf32>, %b: tensor<3xf32>) {
  // expected-error@+2 {{operands do not broadcast}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_add %a, %b {broadcast_dimensions = array<i64: 2>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_dimensions_count(%a: tensor<2x3xf32>, %b: tensor<3xf32>) {
  // expected-error@+2 {{operands do not broadcast}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_add %a, %b {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @logical_floats(%a: tensor<3xf32>) {
  // expected-error@+1 {{operand #0 must be}}
  %0 = chlo.broadcast_and %a, %a : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @complex_parts(%a: tensor<3xf16>) {
  // expected-error@+1 {{operand #0 must be}}
  %0 = chlo.broadcast_complex %a, %a : (tensor<3xf16>, tensor<3xf16>) -> tensor<3xcomplex<f32>>
  return
}

// -----

func.func @compare_result(%a: tensor<3xf32>) {
  // expected-error@+1 {{result #0 must be}}
  %0 = chlo.broadcast_compare %a, %a {comparison_direction = #chlo<comparison_direction EQ>} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @select(%p: tensor<4xi1>, %a: tensor<3xf32>) {
  // expected-error@+2 {{the predicate does not broadcast}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_select %p, %a, %a : (tensor<4xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @integer_function(%a: tensor<3xi32>) {
  // expected-error@+1 {{operand #0 must be}}
  %0 = chlo.erf %a : tensor<3xi32> -> tensor<3xi32>
  return
}

// -----

func.func @complex_lgamma(%a: tensor<3xcomplex<f32>>) {
  // expected-error@+1 {{operand #0 must be}}
  %0 = chlo.lgamma %a : tensor<3xcomplex<f32>> -> tensor<3xcomplex<f32>>
  return
}

// -----

func.func @real_kernel(%a: tensor<3xf32>) {
  // expected-error@+1 {{operand #0 must be}}
  %0 = chlo._asin_acos_kernel %a : tensor<3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @function_shape(%a: tensor<3xf32>) {
  // expected-error@+1 {{must have the same shape}}
  %0 = chlo.tan %a : tensor<3xf32> -> tensor<4xf32>
  return
}

// -----

func.func @function_element(%a: tensor<3xf32>) {
  // expected-error@+1 {{requires the same element type for all operands and results}}
  %0 = chlo.acos %a : tensor<3xf32> -> tensor<3xf64>
  return
}

// -----

func.func @predicate_result(%a: tensor<3xf32>) {
  // expected-error@+1 {{result #0 must be}}
  %0 = chlo.is_inf %a : tensor<3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @next_after(%a: tensor<3xf32>, %b: tensor<3xf64>) {
  // expected-error@+1 {{requires the same element type for all operands and results}}
  %0 = chlo.next_after %a, %b : tensor<3xf32>, tensor<3xf64> -> tensor<3xf32>
  return
}

// -----

func.func @zeta(%a: tensor<3xf32>, %b: tensor<1xf32>) {
  // expected-error@+1 {{must have the same shape}}
  %0 = chlo.zeta %a, %b : tensor<3xf32>, tensor<1xf32> -> tensor<3xf32>
  return
}

// -----

func.func @mulhi(%a: tensor<3xf32>) {
  // expected-error@+1 {{operand #0 must be}}
  %0 = chlo.mulhi %a, %a : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @constant_like(%a: tensor<3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<3xi32>' are incompatible with return type(s)}}
  %0 = "chlo.constant_like"(%a) {value = 1 : i32} : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @top_k_size(%a: tensor<3xf32>) {
  // expected-error@+2 {{k = 4 is greater than the last dimension, 3}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = chlo.top_k(%a, k = 4) : tensor<3xf32> -> (tensor<4xf32>, tensor<4xi32>)
  return
}

// -----

func.func @top_k_scalar(%a: tensor<f32>) {
  // expected-error@+2 {{the operand is a scalar}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = chlo.top_k(%a, k = 1) : tensor<f32> -> (tensor<1xf32>, tensor<1xi32>)
  return
}

// -----

func.func @top_k_negative(%a: tensor<3xf32>) {
  // expected-error@+1 {{failed to satisfy constraint}}
  %0:2 = chlo.top_k(%a, k = -1) : tensor<3xf32> -> (tensor<1xf32>, tensor<1xi32>)
  return
}

// -----

func.func @ragged_dimension_twice(%lhs: tensor<11x5xf32>, %rhs: tensor<3x5x7xf32>, %sizes: tensor<3xi64>) {
  // expected-error@+1 {{a dimension is not there, or stands twice}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %sizes) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0],
      lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}
      : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}

// -----

func.func @ragged_contracting(%lhs: tensor<11x5xf32>, %rhs: tensor<3x5x7xf32>, %sizes: tensor<3xi64>) {
  // expected-error@+1 {{the contracting dimensions do not match}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %sizes) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [2],
      lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}
      : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x5xf32>
  return
}

// -----

func.func @ragged_none(%lhs: tensor<11x5xf32>, %rhs: tensor<3x5x7xf32>, %sizes: tensor<3xi64>) {
  // expected-error@+1 {{lhs has exactly one ragged dimension}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %sizes) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
      rhs_group_dimensions = [0]>}
      : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}

// -----

func.func @ragged_no_group(%lhs: tensor<11x5xf32>, %rhs: tensor<5x7xf32>, %sizes: tensor<3xi64>) {
  // expected-error@+1 {{rhs has a group dimension if, and only if}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %sizes) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0],
      lhs_ragged_dimensions = [0]>}
      : (tensor<11x5xf32>, tensor<5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}

// -----

func.func @ragged_groups(%lhs: tensor<11x5xf32>, %rhs: tensor<3x5x7xf32>, %sizes: tensor<4xi64>) {
  // expected-error@+1 {{rhs has 3 groups, group_sizes 4}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %sizes) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
      lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}
      : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<4xi64>) -> tensor<11x7xf32>
  return
}

// -----

func.func @ragged_prefix(%lhs: tensor<2x11x5xf32>, %rhs: tensor<3x2x5x7xf32>, %sizes: tensor<4x3xi64>) {
  // expected-error@+1 {{group_sizes does not have the shape}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %sizes) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [0], rhs_batching_dimensions = [1],
      lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2],
      lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>}
      : (tensor<2x11x5xf32>, tensor<3x2x5x7xf32>, tensor<4x3xi64>) -> tensor<2x11x7xf32>
  return
}

// -----

func.func @ragged_result(%lhs: tensor<11x5xf32>, %rhs: tensor<3x5x7xf32>, %sizes: tensor<3xi64>) {
  // expected-error@+1 {{the result's shape does not follow from the operands'}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %sizes) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
      lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}
      : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x8xf32>
  return
}

// -----

func.func @scan_dimension(%x: tensor<4xi32>, %init: tensor<i32>) {
  // expected-error@+1 {{dimension 1 is not one of}}
  %0:2 = chlo.scan(%x) inits(%init) dimension=1 {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %a, %b : tensor<i32>, tensor<i32>
  } : (tensor<4xi32>, tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
  return
}

// -----

func.func @scan_sizes(%x: tensor<4xi32>, %y: tensor<5xi32>, %init: tensor<i32>) {
  // expected-error@+1 {{inputs and outputs have different sizes along the dimension: 4 and 5}}
  %0:2 = chlo.scan(%x, %y) inits(%init) dimension=0 {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>):
    stablehlo.return %a, %c : tensor<i32>, tensor<i32>
  } : (tensor<4xi32>, tensor<5xi32>, tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
  return
}

// -----

func.func @scan_arguments(%x: tensor<4xi32>, %init: tensor<i32>) {
  // expected-error@+1 {{the body does not take a slice of each input and the carries}}
  %0:2 = chlo.scan(%x) inits(%init) dimension=0 {
  ^bb0(%a: tensor<4xi32>, %b: tensor<i32>):
    stablehlo.return %b, %b : tensor<i32>, tensor<i32>
  } : (tensor<4xi32>, tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
  return
}

// -----

func.func @scan_results(%x: tensor<4xi32>, %init: tensor<i32>) {
  // expected-error@+1 {{the body does not return a slice of each output and the carries}}
  %0:2 = chlo.scan(%x) inits(%init) dimension=0 {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %a : tensor<i32>
  } : (tensor<4xi32>, tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
  return
}
