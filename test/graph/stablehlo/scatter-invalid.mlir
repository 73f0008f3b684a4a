// RUN: sinter-opt %s -split-input-file -verify-diagnostics
// Covers: graph/stablehlo VerifyDataMovement

func.func @scatter_c2(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x3xf32>) {
  // expected-error@+1 {{(C2) the window's, inserted and batching dimensions are not as many as}}
  %r = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>} : (tensor<2x4x5xf32>, tensor<2x3x2xi32>, tensor<2x3x3xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @scatter_c4(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x6xf32>) {
  // expected-error@+1 {{(C4) a window is larger than the input}}
  %r = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>} : (tensor<2x4x5xf32>, tensor<2x3x2xi32>, tensor<2x3x6xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @scatter_c6(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x3xf64>) {
  // expected-error@+1 {{(C6) an update has another element type than its input}}
  %r = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>} : (tensor<2x4x5xf32>, tensor<2x3x2xi32>, tensor<2x3x3xf64>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @scatter_c7(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x3xf32>) {
  // expected-error@+1 {{(C7) update_window_dims are not in order}}
  %r = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>} : (tensor<2x4x5xf32>, tensor<2x3x2xi32>, tensor<2x3x3xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @scatter_c8(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x3xf32>) {
  // expected-error@+1 {{(C8) update_window_dims are not dimensions of the updates}}
  %r = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [3], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>} : (tensor<2x4x5xf32>, tensor<2x3x2xi32>, tensor<2x3x3xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @scatter_c9(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x3xf32>) {
  // expected-error@+1 {{(C9) a dimension stands twice in inserted_window_dims and input_batchi}}
  %r = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>} : (tensor<2x4x5xf32>, tensor<2x3x2xi32>, tensor<2x3x3xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @scatter_c10(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x3xf32>) {
  // expected-error@+1 {{(C10) inserted_window_dims are not in order}}
  %r = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [2, 1], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>} : (tensor<2x4x5xf32>, tensor<2x3x2xi32>, tensor<2x3x3xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @scatter_c11(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x3xf32>) {
  // expected-error@+1 {{(C11) inserted_window_dims are not dimensions of the input}}
  %r = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [3], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>} : (tensor<2x4x5xf32>, tensor<2x3x2xi32>, tensor<2x3x3xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @scatter_c12(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x3xf32>) {
  // expected-error@+1 {{(C12) input_batching_dims are not in order}}
  %r = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], input_batching_dims = [1, 0], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>} : (tensor<2x4x5xf32>, tensor<2x3x2xi32>, tensor<2x3x3xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @scatter_c13(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x3xf32>) {
  // expected-error@+1 {{(C13) input_batching_dims are not dimensions of the input}}
  %r = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [3], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>} : (tensor<2x4x5xf32>, tensor<2x3x2xi32>, tensor<2x3x3xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @scatter_c14(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x3xf32>) {
  // expected-error@+1 {{(C14) a dimension stands twice in scatter_indices_batching_dims}}
  %r = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 0], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>} : (tensor<2x4x5xf32>, tensor<2x3x2xi32>, tensor<2x3x3xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @scatter_c15(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x3xf32>) {
  // expected-error@+1 {{(C15) scatter_indices_batching_dims are not dimensions of scatter_indi}}
  %r = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [3], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>} : (tensor<2x4x5xf32>, tensor<2x3x2xi32>, tensor<2x3x3xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @scatter_c16(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x3xf32>) {
  // expected-error@+1 {{(C16) index_vector_dim is one of scatter_indices_batching_dims}}
  %r = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [2], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>} : (tensor<2x4x5xf32>, tensor<2x3x2xi32>, tensor<2x3x3xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @scatter_c17(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x3xf32>) {
  // expected-error@+1 {{(C17) input_batching_dims and scatter_indices_batching_dims are not as}}
  %r = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>} : (tensor<2x4x5xf32>, tensor<2x3x2xi32>, tensor<2x3x3xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @scatter_c18(%x: tensor<3x4x5xf32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x3xf32>) {
  // expected-error@+1 {{(C18) input and scatter_indices differ in a batching dimension}}
  %r = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>} : (tensor<3x4x5xf32>, tensor<2x3x2xi32>, tensor<2x3x3xf32>) -> tensor<3x4x5xf32>
  return
}

// -----

func.func @scatter_c19(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x3xf32>) {
  // expected-error@+1 {{(C19) scatter_dims_to_operand_dims has not one element an index compon}}
  %r = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>} : (tensor<2x4x5xf32>, tensor<2x3x2xi32>, tensor<2x3x3xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @scatter_c20(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x3xf32>) {
  // expected-error@+1 {{(C20) a dimension stands twice in scatter_dims_to_operand_dims and inp}}
  %r = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 2>} : (tensor<2x4x5xf32>, tensor<2x3x2xi32>, tensor<2x3x3xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @scatter_c21(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x3xf32>) {
  // expected-error@+1 {{(C21) scatter_dims_to_operand_dims has no dimensions of the input}}
  %r = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 3], index_vector_dim = 2>} : (tensor<2x4x5xf32>, tensor<2x3x2xi32>, tensor<2x3x3xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @scatter_c22(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x3xf32>) {
  // expected-error@+1 {{(C22) index_vector_dim is not a dimension of scatter_indices}}
  %r = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 4>} : (tensor<2x4x5xf32>, tensor<2x3x2xi32>, tensor<2x3x3xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @scatter_c23(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x3xf32>) {
  // expected-error@+1 {{(C23) elements of 'tensor<2x4x5xf32>' cannot be promoted to those of '}}
  %r = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%p: tensor<f16>, %q: tensor<f16>):
      %s = stablehlo.add %p, %q : tensor<f16>
      stablehlo.return %s : tensor<f16>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>} : (tensor<2x4x5xf32>, tensor<2x3x2xi32>, tensor<2x3x3xf32>) -> tensor<2x4x5xf16>
  return
}

// -----

func.func @scatter_c24(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x3xf32>) {
  // expected-error@+1 {{(C24) a result differs from its input in shape}}
  %r = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>} : (tensor<2x4x5xf32>, tensor<2x3x2xi32>, tensor<2x3x3xf32>) -> tensor<2x4x6xf32>
  return
}

// -----

func.func @scatter_c25(%x: tensor<2x4x5xf32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x3xf32>) {
  // expected-error@+1 {{(C25) elements of the result 'tensor<2x4x5xf32>' are not those of 'ten}}
  %r = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%p: tensor<f64>, %q: tensor<f64>):
      %s = stablehlo.add %p, %q : tensor<f64>
      stablehlo.return %s : tensor<f64>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>} : (tensor<2x4x5xf32>, tensor<2x3x2xi32>, tensor<2x3x3xf32>) -> tensor<2x4x5xf32>
  return
}
