// RUN: sinter-opt %s -split-input-file -verify-diagnostics
// Covers: graph/stablehlo VerifyDataMovement

func.func @broadcast_in_dim_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1) operand and result differ in element type: 'f32' and 'f64'}}
  %r = "stablehlo.broadcast_in_dim"(%x)
      {broadcast_dimensions = array<i64: 0>}
      : (tensor<2xf32>) -> tensor<2x3xf64>
  return
}

// -----

func.func @broadcast_in_dim_c2(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C2) broadcast_dimensions has not one element a dimension of the opera}}
  %r = "stablehlo.broadcast_in_dim"(%x)
      {broadcast_dimensions = array<i64: 0, 1>}
      : (tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_in_dim_c3(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C3) broadcast_dimensions are not dimensions of the result}}
  %r = "stablehlo.broadcast_in_dim"(%x)
      {broadcast_dimensions = array<i64: 2>}
      : (tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_in_dim_c4(%x: tensor<2x2xf32>) {
  // expected-error@+1 {{(C4) a dimension stands twice in broadcast_dimensions}}
  %r = "stablehlo.broadcast_in_dim"(%x)
      {broadcast_dimensions = array<i64: 0, 0>}
      : (tensor<2x2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_in_dim_c5(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C5) dimension 0 of the operand has size 2, neither 1 nor the result's}}
  %r = "stablehlo.broadcast_in_dim"(%x)
      {broadcast_dimensions = array<i64: 1>}
      : (tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_in_dim_c6(%x: tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  // expected-error@+1 {{(C6) the result is not quantised along the axis to which the operand's}}
  %r = "stablehlo.broadcast_in_dim"(%x)
      {broadcast_dimensions = array<i64: 1>}
      : (tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  return
}

// -----

func.func @concatenate_c1(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error@+2 {{(C1) inputs differ in element type}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.concatenate"(%x, %y)
      {dimension = 0 : i64}
      : (tensor<2xf32>, tensor<2xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @concatenate_c2(%x: tensor<2x2xf32>, %y: tensor<2x3xf32>) {
  // expected-error@+2 {{(C2) inputs differ in dimension 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.concatenate"(%x, %y)
      {dimension = 0 : i64}
      : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @concatenate_c3() {
  // expected-error@+2 {{(C3) no inputs}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.concatenate"() {dimension = 0 : i64} : () -> tensor<2xf32>
  return
}

// -----

func.func @concatenate_c4(%x: tensor<2xf32>) {
  // expected-error@+2 {{(C4) the dimension is not one of the inputs'}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.concatenate"(%x) {dimension = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @dynamic_slice_c2(%x: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error@+2 {{(C2) start indices and slice sizes have not one element a dimension}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.dynamic_slice"(%x, %i, %i)
      {slice_sizes = array<i64: 2>}
      : (tensor<4xf32>, tensor<i32>, tensor<i32>) -> tensor<2xf32>
  return
}

// -----

func.func @dynamic_slice_c3(%x: tensor<4x4xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error@+2 {{(C3) start indices differ in type}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.dynamic_slice"(%x, %i, %j)
      {slice_sizes = array<i64: 2, 2>}
      : (tensor<4x4xf32>, tensor<i32>, tensor<i64>) -> tensor<2x2xf32>
  return
}

// -----

func.func @dynamic_slice_c4(%x: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error@+2 {{(C4) dimension 0: not 0 <= slice size <= size}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.dynamic_slice"(%x, %i)
      {slice_sizes = array<i64: 5>}
      : (tensor<4xf32>, tensor<i32>) -> tensor<5xf32>
  return
}

// -----

func.func @dynamic_update_slice_c2(%x: tensor<4xf32>, %u: tensor<2xf64>, %i: tensor<i32>) {
  // expected-error@+2 {{(C2) update has another element type than the operand}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.dynamic_update_slice"(%x, %u, %i) : (tensor<4xf32>, tensor<2xf64>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @dynamic_update_slice_c3(%x: tensor<4xf32>, %u: tensor<2x2xf32>, %i: tensor<i32>) {
  // expected-error@+2 {{(C3) update has another rank than the operand}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.dynamic_update_slice"(%x, %u, %i) : (tensor<4xf32>, tensor<2x2xf32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @dynamic_update_slice_c4(%x: tensor<4xf32>, %u: tensor<2xf32>) {
  // expected-error@+2 {{(C4) start indices have not one element a dimension}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.dynamic_update_slice"(%x, %u) : (tensor<4xf32>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @dynamic_update_slice_c5(%x: tensor<4x4xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error@+2 {{(C5) start indices differ in type}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.dynamic_update_slice"(%x, %x, %i, %j) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<i32>, tensor<i64>) -> tensor<4x4xf32>
  return
}

// -----

func.func @dynamic_update_slice_c6(%x: tensor<4xf32>, %u: tensor<5xf32>, %i: tensor<i32>) {
  // expected-error@+2 {{(C6) dimension 0: the update is larger than the operand}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.dynamic_update_slice"(%x, %u, %i) : (tensor<4xf32>, tensor<5xf32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @iota_c1() {
  // expected-error@+1 {{(C1) iota_dimension is not a dimension of the result}}
  %r = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<4xf32>
  return
}

// -----

func.func @pad_c1(%x: tensor<4xf32>, %v: tensor<f64>) {
  // expected-error@+2 {{(C1) the padding value is not a scalar of the operand's element type}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.pad"(%x, %v)
      {edge_padding_low = array<i64: 0>, edge_padding_high = array<i64: 0>, interior_padding = array<i64: 0>}
      : (tensor<4xf32>, tensor<f64>) -> tensor<4xf32>
  return
}

// -----

func.func @pad_i2(%x: tensor<4xf32>, %v: tensor<1xf32>) {
  // expected-error@+1 {{(I2) 0-dimensional tensor or per-tensor quantised tensor, but got 'ten}}
  %r = "stablehlo.pad"(%x, %v)
      {edge_padding_low = array<i64: 0>, edge_padding_high = array<i64: 0>, interior_padding = array<i64: 0>}
      : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @pad_c2(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error@+2 {{(C2) padding has not one element a dimension}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.pad"(%x, %v)
      {edge_padding_low = array<i64: 0, 0>, edge_padding_high = array<i64: 0>, interior_padding = array<i64: 0>}
      : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @pad_c3(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error@+2 {{(C3) dimension 0: the interior padding is negative}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.pad"(%x, %v)
      {edge_padding_low = array<i64: 0>, edge_padding_high = array<i64: 0>, interior_padding = array<i64: -1>}
      : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @pad_c4(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error@+2 {{(C4) dimension 0: the padded size is negative or too large}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.pad"(%x, %v)
      {edge_padding_low = array<i64: -5>, edge_padding_high = array<i64: 0>, interior_padding = array<i64: 0>}
      : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @reshape_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{(C1) operand and result differ in element type: 'f32' and 'f64'}}
  %r = "stablehlo.reshape"(%x) : (tensor<4xf32>) -> tensor<2x2xf64>
  return
}

// -----

func.func @reshape_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{(C2) operand and result differ in the number of elements}}
  %r = "stablehlo.reshape"(%x) : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @reshape_c3(%x: tensor<2x4x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  // expected-error@+1 {{(C3) the quantised axis, or what lies before or after it, has another}}
  %r = "stablehlo.reshape"(%x) : (tensor<2x4x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<4x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>
  return
}

// -----

func.func @reverse_c2(%x: tensor<4xf32>) {
  // expected-error@+2 {{(C2) a dimension stands twice}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.reverse"(%x)
      {dimensions = array<i64: 0, 0>}
      : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reverse_c3(%x: tensor<4xf32>) {
  // expected-error@+2 {{(C3) dimensions are not dimensions of the operand}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.reverse"(%x)
      {dimensions = array<i64: 1>}
      : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @slice_c2(%x: tensor<4xf32>) {
  // expected-error@+2 {{(C2) start, limit and stride have not one element a dimension}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.slice"(%x)
      {start_indices = array<i64: 0, 0>, limit_indices = array<i64: 2>, strides = array<i64: 1>}
      : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @slice_c3(%x: tensor<4xf32>) {
  // expected-error@+2 {{(C3) dimension 0: not 0 <= start <= limit <= size}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.slice"(%x)
      {start_indices = array<i64: 3>, limit_indices = array<i64: 2>, strides = array<i64: 1>}
      : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @slice_c4(%x: tensor<4xf32>) {
  // expected-error@+2 {{(C4) dimension 0: the stride is not positive}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.slice"(%x)
      {start_indices = array<i64: 0>, limit_indices = array<i64: 2>, strides = array<i64: 0>}
      : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @transpose_c1(%x: tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  // expected-error@+1 {{(C1) operand and result differ in element type: '!quant.uniform<i8:f32}}
  %r = "stablehlo.transpose"(%x)
      {permutation = array<i64: 1, 0>}
      : (tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {1.0, 3.0}>>
  return
}

// -----

func.func @transpose_c2(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{(C2) the permutation is not one of the operand's dimensions}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.transpose"(%x)
      {permutation = array<i64: 0, 0>}
      : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @transpose_c4(%x: tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  // expected-error@+1 {{(C4) the result is not quantised along the axis to which the operand's}}
  %r = "stablehlo.transpose"(%x)
      {permutation = array<i64: 1, 0>}
      : (tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  return
}

// -----

func.func @sort_c4(%x: tensor<4xf32>) {
  // expected-error@+1 {{(C4) dimension is not one of the inputs'}}
  %r = "stablehlo.sort"(%x) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %s : tensor<i1>
    }) {dimension = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @sort_c5(%x: tensor<4xf32>) {
  // expected-error@+1 {{(C5) the region returns 'tensor<f32>', not a scalar of 'i1'}}
  %r = "stablehlo.sort"(%x) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
