// RUN: sinter-opt %s -split-input-file -verify-diagnostics
// Covers: graph/stablehlo VerifyDataMovement

func.func @gather_c1(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error@+2 {{(C1) offset_dims, collapsed_slice_dims and operand_batching_dims are n}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.gather"(%x, %i)
      {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}
      : (tensor<2x4x5xf32>, tensor<2x3x2xi32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @gather_c2(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error@+2 {{(C2) index_vector_dim is not a dimension of start_indices}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.gather"(%x, %i)
      {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 4>, slice_sizes = array<i64: 1, 1, 3>}
      : (tensor<2x4x5xf32>, tensor<2x3x2xi32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @gather_c3(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error@+2 {{(C3) start_index_map has not one element an index component}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.gather"(%x, %i)
      {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}
      : (tensor<2x4x5xf32>, tensor<2x3x2xi32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @gather_c4(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error@+2 {{(C4) offset_dims are not in order}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.gather"(%x, %i)
      {dimension_numbers = #stablehlo.gather<offset_dims = [2, 1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}
      : (tensor<2x4x5xf32>, tensor<2x3x2xi32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @gather_c5(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error@+2 {{(C5) offset_dims are not dimensions of the result}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.gather"(%x, %i)
      {dimension_numbers = #stablehlo.gather<offset_dims = [3], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}
      : (tensor<2x4x5xf32>, tensor<2x3x2xi32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @gather_c6(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error@+2 {{(C6) a dimension stands twice in collapsed_slice_dims and operand_batc}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.gather"(%x, %i)
      {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}
      : (tensor<2x4x5xf32>, tensor<2x3x2xi32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @gather_c7(%x: tensor<5x4x1xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error@+2 {{(C7) collapsed_slice_dims are not in order}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.gather"(%x, %i)
      {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [2, 1], start_index_map = [1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 3, 1, 1>}
      : (tensor<5x4x1xf32>, tensor<2x3x2xi32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @gather_c8(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error@+2 {{(C8) collapsed_slice_dims are not dimensions of the operand}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.gather"(%x, %i)
      {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [3], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}
      : (tensor<2x4x5xf32>, tensor<2x3x2xi32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @gather_c9(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error@+2 {{(C9) a slice size of a collapsed dimension is greater than 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.gather"(%x, %i)
      {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 2, 3>}
      : (tensor<2x4x5xf32>, tensor<2x3x2xi32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @gather_c10(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error@+2 {{(C10) operand_batching_dims are not in order}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.gather"(%x, %i)
      {dimension_numbers = #stablehlo.gather<offset_dims = [2], operand_batching_dims = [1, 0], start_indices_batching_dims = [0, 1], start_index_map = [2, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}
      : (tensor<2x4x5xf32>, tensor<2x3x2xi32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @gather_c11(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error@+2 {{(C11) operand_batching_dims are not dimensions of the operand}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.gather"(%x, %i)
      {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [3], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}
      : (tensor<2x4x5xf32>, tensor<2x3x2xi32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @gather_c12(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error@+2 {{(C12) a slice size of a batching dimension is greater than 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.gather"(%x, %i)
      {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 2, 1, 3>}
      : (tensor<2x4x5xf32>, tensor<2x3x2xi32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @gather_c13(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error@+2 {{(C13) a dimension stands twice in start_indices_batching_dims}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.gather"(%x, %i)
      {dimension_numbers = #stablehlo.gather<offset_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 0], start_index_map = [1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}
      : (tensor<2x4x5xf32>, tensor<2x3x2xi32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @gather_c14(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error@+2 {{(C14) start_indices_batching_dims are not dimensions of start_indices}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.gather"(%x, %i)
      {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [3], start_index_map = [1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}
      : (tensor<2x4x5xf32>, tensor<2x3x2xi32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @gather_c15(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error@+2 {{(C15) index_vector_dim is one of start_indices_batching_dims}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.gather"(%x, %i)
      {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [2], start_index_map = [1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}
      : (tensor<2x4x5xf32>, tensor<2x3x2xi32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @gather_c16(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error@+2 {{(C16) operand_batching_dims and start_indices_batching_dims are not as}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.gather"(%x, %i)
      {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0, 1], start_index_map = [1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}
      : (tensor<2x4x5xf32>, tensor<2x3x2xi32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @gather_c17(%x: tensor<3x4x5xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error@+2 {{(C17) operand and start_indices differ in a batching dimension}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.gather"(%x, %i)
      {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}
      : (tensor<3x4x5xf32>, tensor<2x3x2xi32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @gather_c18(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error@+2 {{(C18) a dimension stands twice in start_index_map and operand_batching}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.gather"(%x, %i)
      {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}
      : (tensor<2x4x5xf32>, tensor<2x3x2xi32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @gather_c19(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error@+2 {{(C19) start_index_map has no dimensions of the operand}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.gather"(%x, %i)
      {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 3], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}
      : (tensor<2x4x5xf32>, tensor<2x3x2xi32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @gather_c20(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error@+2 {{(C20) slice_sizes has not one element a dimension of the operand}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.gather"(%x, %i)
      {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}
      : (tensor<2x4x5xf32>, tensor<2x3x2xi32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @gather_c21(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error@+2 {{(C21) a slice size is negative or greater than the operand's}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.gather"(%x, %i)
      {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 6>}
      : (tensor<2x4x5xf32>, tensor<2x3x2xi32>) -> tensor<2x3x3xf32>
  return
}
