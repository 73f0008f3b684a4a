// RUN: sinter-opt %s -split-input-file -verify-diagnostics

func.func @cholesky_c1(%a: tensor<2x2xf32>) {
  // expected-error@+2 {{inferred type(s) 'tensor<2x2xf32>' are incompatible with return type(s}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.cholesky"(%a) : (tensor<2x2xf32>) -> tensor<2x2xf64>
  return
}

// -----

func.func @cholesky_c2(%a: tensor<2xf32>) {
  // expected-error@+2 {{(C2) the operand has fewer than two dimensions}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.cholesky"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @cholesky_c3(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{(C3) the matrices are not square}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.cholesky"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @triangular_solve_c1(%a: tensor<3x3xf32>, %b: tensor<3x2xf64>) {
  // expected-error@+2 {{(C1) a and b have different element types}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.triangular_solve"(%a, %b)
      {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}
      : (tensor<3x3xf32>, tensor<3x2xf64>) -> tensor<3x2xf64>
  return
}

// -----

func.func @triangular_solve_c2(%a: tensor<3x3xf32>, %b: tensor<2x3x2xf32>) {
  // expected-error@+2 {{(C2) a and b have not the same two or more dimensions}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.triangular_solve"(%a, %b)
      {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}
      : (tensor<3x3xf32>, tensor<2x3x2xf32>) -> tensor<2x3x2xf32>
  return
}

// -----

func.func @triangular_solve_c3(%a: tensor<3x3xf32>, %b: tensor<3x2xf32>) {
  // expected-error@+2 {{(C3) the shapes of a and b do not match}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.triangular_solve"(%a, %b)
      {left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}
      : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @triangular_solve_c3_square(%a: tensor<4x3xf32>, %b: tensor<3x2xf32>) {
  // expected-error@+2 {{(C3) the matrices a are not square}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.triangular_solve"(%a, %b)
      {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}
      : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @triangular_solve_i6(%a: tensor<3x3xf32>, %b: tensor<3x2xf32>) {
  // expected-error@+2 {{(I6) transpose_a is not NO_TRANSPOSE, TRANSPOSE or ADJOINT}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.triangular_solve"(%a, %b)
      {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE_INVALID>}
      : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @fft_c1(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+2 {{(C1) the operand has fewer dimensions than fft_length elements}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.fft"(%x)
      {fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 4, 4>}
      : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @fft_c2(%x: tensor<4xf32>) {
  // expected-error@+2 {{(C2) FFT takes complex<f32> or complex<f64>}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.fft"(%x)
      {fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 4>}
      : (tensor<4xf32>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @fft_c3(%x: tensor<2x2x2x2xcomplex<f32>>) {
  // expected-error@+2 {{(C3) fft_length has not 1 to 3 elements}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.fft"(%x)
      {fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 2, 2, 2, 2>}
      : (tensor<2x2x2x2xcomplex<f32>>) -> tensor<2x2x2x2xcomplex<f32>>
  return
}

// -----

func.func @fft_c4(%x: tensor<5xf32>) {
  // expected-error@+2 {{(C4) a transformed dimension has size 5 instead of 4}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.fft"(%x)
      {fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 4>}
      : (tensor<5xf32>) -> tensor<3xcomplex<f32>>
  return
}

// -----

func.func @fft_c5(%x: tensor<4xf32>) {
  // expected-error@+2 {{inferred type(s) 'tensor<3xcomplex<f32>>' are incompatible with return}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.fft"(%x)
      {fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 4>}
      : (tensor<4xf32>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @rng_i1(%a: tensor<1xf32>, %b: tensor<f32>, %s: tensor<1xi64>) {
  // expected-error@+1 {{(I1) 0-dimensional tensor of integer, boolean or floating-point type,}}
  %r = "stablehlo.rng"(%a, %b, %s)
      {rng_distribution = #stablehlo<rng_distribution UNIFORM>}
      : (tensor<1xf32>, tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @rng_c1(%a: tensor<f32>, %b: tensor<f64>, %s: tensor<1xi64>) {
  // expected-error@+2 {{(C1) a and b have different element types}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.rng"(%a, %b, %s)
      {rng_distribution = #stablehlo<rng_distribution UNIFORM>}
      : (tensor<f32>, tensor<f64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @rng_c2(%a: tensor<i32>, %b: tensor<i32>, %s: tensor<1xi64>) {
  // expected-error@+2 {{(C2) a normal distribution is one of floating-point numbers}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.rng"(%a, %b, %s)
      {rng_distribution = #stablehlo<rng_distribution NORMAL>}
      : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<?xi32>
  return
}

// -----

func.func @rng_bit_generator_c1(%s: tensor<2xui64>) {
  // expected-error@+1 {{(C1) output_state differs from initial_state in type}}
  %r:2 = "stablehlo.rng_bit_generator"(%s)
      {rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}
      : (tensor<2xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return
}

// -----

func.func @rng_bit_generator_c2(%s: tensor<3xui64>) {
  // expected-error@+1 {{(C2) initial_state has 3 elements instead of 2}}
  %r:2 = "stablehlo.rng_bit_generator"(%s)
      {rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}
      : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return
}
