// RUN: sinter-opt %s -split-input-file -verify-diagnostics
// Covers: graph/stablehlo VerifyDynamism

func.func @dynamic_iota_c1(%s: tensor<1xi64>) {
  // expected-error@+1 {{(C1) iota_dimension is not a dimension of the result}}
  %r = "stablehlo.dynamic_iota"(%s)
      {iota_dimension = 1 : i64}
      : (tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @dynamic_iota_i1(%s: tensor<1xi64>) {
  // expected-error@+1 {{cannot count in i1}}
  %r = "stablehlo.dynamic_iota"(%s)
      {iota_dimension = 0 : i64}
      : (tensor<1xi64>) -> tensor<?xi1>
  return
}

// -----

func.func @dynamic_iota_c2(%s: tensor<2xi64>) {
  // expected-error@+1 {{(C2) output_shape has not one element a dimension of the result}}
  %r = "stablehlo.dynamic_iota"(%s)
      {iota_dimension = 0 : i64}
      : (tensor<2xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @dynamic_broadcast_in_dim_c1(%x: tensor<2xf32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{(C1) operand and result differ in element type: 'f32' and 'f64'}}
  %r = "stablehlo.dynamic_broadcast_in_dim"(%x, %s)
      {broadcast_dimensions = array<i64: 0>}
      : (tensor<2xf32>, tensor<2xi64>) -> tensor<?x?xf64>
  return
}

// -----

func.func @dynamic_broadcast_in_dim_c2(%x: tensor<2xf32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{(C2) broadcast_dimensions has not one element a dimension of the opera}}
  %r = "stablehlo.dynamic_broadcast_in_dim"(%x, %s)
      {broadcast_dimensions = array<i64: 0, 1>}
      : (tensor<2xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @dynamic_broadcast_in_dim_c3(%x: tensor<2xf32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{(C3) broadcast_dimensions are not dimensions of the result}}
  %r = "stablehlo.dynamic_broadcast_in_dim"(%x, %s)
      {broadcast_dimensions = array<i64: 2>}
      : (tensor<2xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @dynamic_broadcast_in_dim_c4(%x: tensor<2x2xf32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{(C4) a dimension stands twice in broadcast_dimensions}}
  %r = "stablehlo.dynamic_broadcast_in_dim"(%x, %s)
      {broadcast_dimensions = array<i64: 0, 0>}
      : (tensor<2x2xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @dynamic_broadcast_in_dim_c5(%x: tensor<2xf32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{(C5) dimension 0 of the operand has size 2, neither 1 nor the result's}}
  %r = "stablehlo.dynamic_broadcast_in_dim"(%x, %s)
      {broadcast_dimensions = array<i64: 0>}
      : (tensor<2xf32>, tensor<2xi64>) -> tensor<3x?xf32>
  return
}

// -----

func.func @dynamic_broadcast_in_dim_c6(%x: tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %s: tensor<2xi64>) {
  // expected-error@+1 {{(C6) the result is not quantised along the axis to which the operand's}}
  %r = "stablehlo.dynamic_broadcast_in_dim"(%x, %s)
      {broadcast_dimensions = array<i64: 1>}
      : (tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<2xi64>) -> tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  return
}

// -----

func.func @dynamic_broadcast_in_dim_c7(%x: tensor<2xf32>, %s: tensor<3xi64>) {
  // expected-error@+1 {{(C7) output_dimensions has not one element a dimension of the result}}
  %r = "stablehlo.dynamic_broadcast_in_dim"(%x, %s)
      {broadcast_dimensions = array<i64: 0>}
      : (tensor<2xf32>, tensor<3xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @dynamic_broadcast_in_dim_c8(%x: tensor<2xf32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{(C8) a dimension stands twice in known_expanding_dimensions and known_}}
  %r = "stablehlo.dynamic_broadcast_in_dim"(%x, %s)
      {broadcast_dimensions = array<i64: 0>, known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 0>}
      : (tensor<2xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @dynamic_broadcast_in_dim_c9(%x: tensor<2xf32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{(C9) known_expanding_dimensions are not dimensions of the operand}}
  %r = "stablehlo.dynamic_broadcast_in_dim"(%x, %s)
      {broadcast_dimensions = array<i64: 0>, known_expanding_dimensions = array<i64: 1>}
      : (tensor<2xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @dynamic_broadcast_in_dim_c10(%x: tensor<2xf32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{(C10) known_nonexpanding_dimensions are not dimensions of the operand}}
  %r = "stablehlo.dynamic_broadcast_in_dim"(%x, %s)
      {broadcast_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 1>}
      : (tensor<2xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @dynamic_reshape_c1(%x: tensor<4xf32>, %s: tensor<1xi64>) {
  // expected-error@+1 {{(C1) operand and result differ in element type: 'f32' and 'f64'}}
  %r = "stablehlo.dynamic_reshape"(%x, %s) : (tensor<4xf32>, tensor<1xi64>) -> tensor<?xf64>
  return
}

// -----

func.func @dynamic_reshape_c2(%x: tensor<4xf32>, %s: tensor<1xi64>) {
  // expected-error@+1 {{(C2) operand and result differ in the number of elements}}
  %r = "stablehlo.dynamic_reshape"(%x, %s) : (tensor<4xf32>, tensor<1xi64>) -> tensor<5xf32>
  return
}

// -----

func.func @dynamic_reshape_c3(%x: tensor<2x4x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %s: tensor<2xi64>) {
  // expected-error@+1 {{(C3) the quantised axis, or what lies before or after it, has another}}
  %r = "stablehlo.dynamic_reshape"(%x, %s) : (tensor<2x4x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<2xi64>) -> tensor<4x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>
  return
}

// -----

func.func @dynamic_reshape_c4(%x: tensor<4xf32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{(C4) output_shape has not one element a dimension of the result}}
  %r = "stablehlo.dynamic_reshape"(%x, %s) : (tensor<4xf32>, tensor<2xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @dynamic_pad_c1(%x: tensor<4xf32>, %v: tensor<f64>, %s: tensor<1xi64>) {
  // expected-error@+1 {{(C1) operand, padding_value and result differ in element type}}
  %r = "stablehlo.dynamic_pad"(%x, %v, %s, %s, %s) : (tensor<4xf32>, tensor<f64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @dynamic_pad_c2(%x: tensor<4xf32>, %v: tensor<f32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{(C2) padding has not one element a dimension, all of one type}}
  %r = "stablehlo.dynamic_pad"(%x, %v, %s, %s, %s) : (tensor<4xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @dynamic_pad_c4(%x: tensor<4xf32>, %v: tensor<f32>, %s: tensor<1xi64>) {
  // expected-error@+1 {{(C4) the result differs from the operand in rank}}
  %r = "stablehlo.dynamic_pad"(%x, %v, %s, %s, %s) : (tensor<4xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @get_dimension_size_c1(%x: tensor<4xf32>) {
  // expected-error@+2 {{(C1) dimension is not one of the operand's}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.get_dimension_size"(%x)
      {dimension = 1 : i64}
      : (tensor<4xf32>) -> tensor<i32>
  return
}

// -----

func.func @set_dimension_size_c1(%x: tensor<4xf32>, %n: tensor<i32>) {
  // expected-error@+2 {{(C1) the dimension is not one of the operand's}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.set_dimension_size"(%x, %n)
      {dimension = 1 : i64}
      : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @dynamic_gather_c1(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{(C1) offset_dims, collapsed_slice_dims and operand_batching_dims are n}}
  %r = "stablehlo.dynamic_gather"(%x, %i, %s)
      {dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>}
      : (tensor<4x5xf32>, tensor<3x1xi32>, tensor<2xi64>) -> tensor<3x?xf32>
  return
}

// -----

func.func @dynamic_gather_c2(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{(C2) index_vector_dim is not a dimension of start_indices}}
  %r = "stablehlo.dynamic_gather"(%x, %i, %s)
      {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 3>}
      : (tensor<4x5xf32>, tensor<3x1xi32>, tensor<2xi64>) -> tensor<3x?xf32>
  return
}

// -----

func.func @dynamic_gather_c3(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{(C3) start_index_map has not one element an index component}}
  %r = "stablehlo.dynamic_gather"(%x, %i, %s)
      {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>}
      : (tensor<4x5xf32>, tensor<3x1xi32>, tensor<2xi64>) -> tensor<3x?xf32>
  return
}

// -----

func.func @dynamic_gather_c5(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{(C5) offset_dims are not dimensions of the result}}
  %r = "stablehlo.dynamic_gather"(%x, %i, %s)
      {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}
      : (tensor<4x5xf32>, tensor<3x1xi32>, tensor<2xi64>) -> tensor<3x?xf32>
  return
}

// -----

func.func @dynamic_gather_c7(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{(C7) collapsed_slice_dims are not dimensions of the operand}}
  %r = "stablehlo.dynamic_gather"(%x, %i, %s)
      {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [2], start_index_map = [0], index_vector_dim = 1>}
      : (tensor<4x5xf32>, tensor<3x1xi32>, tensor<2xi64>) -> tensor<3x?xf32>
  return
}

// -----

func.func @dynamic_gather_c10(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{(C10) start_index_map has no dimensions of the operand}}
  %r = "stablehlo.dynamic_gather"(%x, %i, %s)
      {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [2], index_vector_dim = 1>}
      : (tensor<4x5xf32>, tensor<3x1xi32>, tensor<2xi64>) -> tensor<3x?xf32>
  return
}

// -----

func.func @dynamic_gather_c11(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>, %s: tensor<3xi64>) {
  // expected-error@+1 {{(C11) slice_sizes has not one element a dimension of the operand}}
  %r = "stablehlo.dynamic_gather"(%x, %i, %s)
      {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}
      : (tensor<4x5xf32>, tensor<3x1xi32>, tensor<3xi64>) -> tensor<3x?xf32>
  return
}

// -----

func.func @dynamic_gather_c13(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{(C13) the result's shape does not follow from the operands}}
  %r = "stablehlo.dynamic_gather"(%x, %i, %s)
      {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}
      : (tensor<4x5xf32>, tensor<3x1xi32>, tensor<2xi64>) -> tensor<4x?xf32>
  return
}

// -----

func.func @dynamic_gather_c14(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{(C14) operand and result differ in element type}}
  %r = "stablehlo.dynamic_gather"(%x, %i, %s)
      {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}
      : (tensor<4x5xf32>, tensor<3x1xi32>, tensor<2xi64>) -> tensor<3x?xf64>
  return
}

// -----

func.func @dynamic_conv_c1(%x: tensor<2x6x6x4xf32>, %k: tensor<3x4x8xf32>, %p: tensor<2x2xi64>) {
  // expected-error@+1 {{(C1) lhs and rhs have not the same two or more dimensions}}
  %r = "stablehlo.dynamic_conv"(%x, %k, %p)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4xf32>, tensor<3x4x8xf32>, tensor<2x2xi64>) -> tensor<2x?x?x8xf32>
  return
}

// -----

func.func @dynamic_conv_c2(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>, %p: tensor<2x2xi64>) {
  // expected-error@+1 {{(C2) window_strides has not one element a spatial dimension}}
  %r = "stablehlo.dynamic_conv"(%x, %k, %p)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_strides = array<i64: 1>}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>, tensor<2x2xi64>) -> tensor<2x?x?x8xf32>
  return
}

// -----

func.func @dynamic_conv_c3(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>, %p: tensor<2x2xi64>) {
  // expected-error@+1 {{(C3) a stride is not positive}}
  %r = "stablehlo.dynamic_conv"(%x, %k, %p)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_strides = array<i64: 1, 0>}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>, tensor<2x2xi64>) -> tensor<2x?x?x8xf32>
  return
}

// -----

func.func @dynamic_conv_c4(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>, %p: tensor<3x2xi64>) {
  // expected-error@+1 {{(C4) padding is not [low, high] for each spatial dimension}}
  %r = "stablehlo.dynamic_conv"(%x, %k, %p)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>, tensor<3x2xi64>) -> tensor<2x?x?x8xf32>
  return
}

// -----

func.func @dynamic_conv_c5(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>, %p: tensor<2x2xi64>) {
  // expected-error@+1 {{(C5) lhs_dilation has not one element a spatial dimension}}
  %r = "stablehlo.dynamic_conv"(%x, %k, %p)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, lhs_dilation = array<i64: 1>}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>, tensor<2x2xi64>) -> tensor<2x?x?x8xf32>
  return
}

// -----

func.func @dynamic_conv_c8(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>, %p: tensor<2x2xi64>) {
  // expected-error@+1 {{(C8) an element of rhs_dilation is not positive}}
  %r = "stablehlo.dynamic_conv"(%x, %k, %p)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, rhs_dilation = array<i64: 1, 0>}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>, tensor<2x2xi64>) -> tensor<2x?x?x8xf32>
  return
}

// -----

func.func @dynamic_conv_c11(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf32>, %p: tensor<2x2xi64>) {
  // expected-error@+1 {{(C11) the input's features are not a multiple of feature_group_count}}
  %r = "stablehlo.dynamic_conv"(%x, %k, %p)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 3 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>, tensor<2x2xi64>) -> tensor<2x?x?x8xf32>
  return
}

// -----

func.func @dynamic_conv_c14(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x3x8xf32>, %p: tensor<2x2xi64>) {
  // expected-error@+1 {{(C14) the kernel has 3 input features, not the input's 4 over 1 groups}}
  %r = "stablehlo.dynamic_conv"(%x, %k, %p)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4xf32>, tensor<3x3x3x8xf32>, tensor<2x2xi64>) -> tensor<2x?x?x8xf32>
  return
}

// -----

func.func @dynamic_conv_c27(%x: tensor<2x6x6x4xf32>, %k: tensor<3x3x4x8xf64>, %p: tensor<2x2xi64>) {
  // expected-error@+1 {{(C27) lhs and rhs have different element types: 'f32' and 'f64'}}
  %r = "stablehlo.dynamic_conv"(%x, %k, %p)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf64>, tensor<2x2xi64>) -> tensor<2x?x?x8xf32>
  return
}

// -----

func.func @size_beyond_bound(%a: tensor<3xf32>, %b: tensor<?xf32, #stablehlo.bounds<2>>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{operands have different shapes: 'tensor<3xf32>' and 'tensor<?xf32, #stablehlo.bounds<2>>'}}
  %r = "stablehlo.add"(%a, %b) : (tensor<3xf32>, tensor<?xf32, #stablehlo.bounds<2>>) -> tensor<?xf32>
  return
}

// -----

func.func @slice_beyond_bound(%a: tensor<3x?xi32, #stablehlo.bounds<?, 4>>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{(C3) dimension 1: not 0 <= start <= limit <= bound}}
  %r = stablehlo.slice %a [1:2, 0:5] : (tensor<3x?xi32, #stablehlo.bounds<?, 4>>) -> tensor<?x?xi32>
  return
}

// -----

func.func @pad_below_bound(%a: tensor<?xf16, #stablehlo.bounds<3>>, %v: tensor<f16>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{(C4) dimension 0: the padded bound is negative or too large}}
  %r = stablehlo.pad %a, %v, low = [-4], high = [0], interior = [0]
      : (tensor<?xf16, #stablehlo.bounds<3>>, tensor<f16>) -> tensor<?xf16>
  return
}

// -----

func.func @dynamic_conv_c25_empty_window(%x: tensor<1x8x8x2xf32>, %w: tensor<0x3x2x4xf32>) {
  %p = stablehlo.constant dense<0> : tensor<2x2xi64>
  // expected-error@+1 {{(C25) spatial dimension 0 of the result should have size 9}}
  %r = "stablehlo.dynamic_conv"(%x, %w, %p)
      {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}
      : (tensor<1x8x8x2xf32>, tensor<0x3x2x4xf32>, tensor<2x2xi64>) -> tensor<1x8x8x4xf32>
  return
}
