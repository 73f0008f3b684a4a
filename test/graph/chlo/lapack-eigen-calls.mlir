// RUN: sinter test %s --backend interpreter
// RUN: sinter test %s --backend cpu

// What JAX calls LAPACK for on CPUs: eigenvalues, and what reduces to simpler forms. The results are held to what
// defines them.

// A V = V W and U^H A = W U^H of real matrices, one of which has the eigenvalues 1 +- i.
func.func @geev() {
  %a = stablehlo.constant dense<[[[1.0, -1.0], [1.0, 1.0]], [[2.0, 1.0], [1.0, 2.0]]]> : tensor<2x2x2xf64>
  %wr, %wi, %u, %v, %info = stablehlo.custom_call @lapack_dgeev_ffi(%a) {mhlo.backend_config = {compute_left = 86 : ui8, compute_right = 86 : ui8}}
      : (tensor<2x2x2xf64>) -> (tensor<2x2xf64>, tensor<2x2xf64>, tensor<2x2x2xcomplex<f64>>, tensor<2x2x2xcomplex<f64>>, tensor<2xi32>)
  check.expect_eq_const %info, dense<0> : tensor<2xi32>
  check.expect_almost_eq_const %wi, dense<[[1.0, -1.0], [0.0, 0.0]]> : tensor<2x2xf64>
  %none = stablehlo.constant dense<0.0> : tensor<2x2x2xf64>
  %wide = stablehlo.complex %a, %none : tensor<2x2x2xcomplex<f64>>
  %w = stablehlo.complex %wr, %wi : tensor<2x2xcomplex<f64>>
  %scale = stablehlo.broadcast_in_dim %w, dims = [0, 2] : (tensor<2x2xcomplex<f64>>) -> tensor<2x2x2xcomplex<f64>>
  %av = stablehlo.dot_general %wide, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x2x2xcomplex<f64>>, tensor<2x2x2xcomplex<f64>>) -> tensor<2x2x2xcomplex<f64>>
  %vw = stablehlo.multiply %v, %scale : tensor<2x2x2xcomplex<f64>>
  check.expect_almost_eq %av, %vw : tensor<2x2x2xcomplex<f64>>
  %real = stablehlo.real %u : (tensor<2x2x2xcomplex<f64>>) -> tensor<2x2x2xf64>
  %imag = stablehlo.imag %u : (tensor<2x2x2xcomplex<f64>>) -> tensor<2x2x2xf64>
  %minus = stablehlo.negate %imag : tensor<2x2x2xf64>
  %conjugate = stablehlo.complex %real, %minus : tensor<2x2x2xcomplex<f64>>
  // Rows are the left vectors.
  %ua = stablehlo.dot_general %conjugate, %wide, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x2x2xcomplex<f64>>, tensor<2x2x2xcomplex<f64>>) -> tensor<2x2x2xcomplex<f64>>
  %rows = stablehlo.transpose %conjugate, dims = [0, 2, 1] : (tensor<2x2x2xcomplex<f64>>) -> tensor<2x2x2xcomplex<f64>>
  %scaleRows = stablehlo.broadcast_in_dim %w, dims = [0, 1] : (tensor<2x2xcomplex<f64>>) -> tensor<2x2x2xcomplex<f64>>
  %wu = stablehlo.multiply %rows, %scaleRows : tensor<2x2x2xcomplex<f64>>
  check.expect_almost_eq %ua, %wu : tensor<2x2x2xcomplex<f64>>
  return
}

// -----

// Of complex numbers, and without vectors on the left.
func.func @geev_complex() {
  %a = stablehlo.constant dense<[[(0.0, 1.0), (2.0, 0.0), (0.0, 0.0)], [(1.0, 0.0), (0.0, -1.0), (1.0, 1.0)], [(0.0, 0.0), (0.5, 0.0), (3.0, 0.0)]]> : tensor<3x3xcomplex<f32>>
  %w, %u, %v, %info = stablehlo.custom_call @lapack_cgeev_ffi(%a) {mhlo.backend_config = {compute_left = 78 : ui8, compute_right = 86 : ui8}}
      : (tensor<3x3xcomplex<f32>>) -> (tensor<3xcomplex<f32>>, tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>, tensor<i32>)
  %scale = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
  %av = stablehlo.dot_general %a, %v, contracting_dims = [1] x [0] : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
  %vw = stablehlo.multiply %v, %scale : tensor<3x3xcomplex<f32>>
  check.expect_almost_eq %av, %vw : tensor<3x3xcomplex<f32>>
  return
}

// -----

// A = Z T Z^T, with Z orthogonal and T quasi-triangular.
func.func @gees() {
  %a = stablehlo.constant dense<[[1.0, 2.0, 3.0], [-4.0, 1.0, 0.5], [0.0, 1.0, 2.0]]> : tensor<3x3xf64>
  %t, %z, %wr, %wi, %chosen, %info = stablehlo.custom_call @lapack_dgees_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, sort = 78 : ui8}}
      : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %info, dense<0> : tensor<i32>
  %zt = stablehlo.dot_general %z, %t, contracting_dims = [1] x [0] : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
  %again = stablehlo.dot_general %zt, %z, contracting_dims = [1] x [1] : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
  check.expect_almost_eq %again, %a : tensor<3x3xf64>
  %unit = stablehlo.dot_general %z, %z, contracting_dims = [1] x [1] : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
  check.expect_almost_eq_const %unit, dense<[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf64>
  %corner = stablehlo.slice %t [2:3, 0:1] : (tensor<3x3xf64>) -> tensor<1x1xf64>
  check.expect_eq_const %corner, dense<0.0> : tensor<1x1xf64>
  // The trace is the sum of the eigenvalues.
  %c = stablehlo.constant dense<0.0> : tensor<f64>
  %trace = stablehlo.reduce(%wr init: %c) applies stablehlo.add across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
  check.expect_almost_eq_const %trace, dense<4.0> : tensor<f64>
  return
}

// -----

// A = Q H Q^T, where Q is 1 beside the product of the reflections.
func.func @gehrd() {
  %a = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [3.0, 8.0, 9.5]]> : tensor<3x3xf64>
  %p, %taus, %info = stablehlo.custom_call @lapack_dgehrd_ffi(%a) {mhlo.backend_config = {low = 1 : i32, high = 3 : i32}}
      : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<2xf64>, tensor<i32>)
  %vectors = stablehlo.slice %p [1:3, 0:2] : (tensor<3x3xf64>) -> tensor<2x2xf64>
  %inner = stablehlo.custom_call @lapack_dorgqr_ffi(%vectors, %taus) {mhlo.backend_config = {}} : (tensor<2x2xf64>, tensor<2xf64>) -> tensor<2x2xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %one = stablehlo.constant dense<[[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]> : tensor<3x3xf64>
  %beside = stablehlo.pad %inner, %zero, low = [1, 1], high = [0, 0], interior = [0, 0] : (tensor<2x2xf64>, tensor<f64>) -> tensor<3x3xf64>
  %q = stablehlo.add %one, %beside : tensor<3x3xf64>
  %keep = stablehlo.constant dense<[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]]> : tensor<3x3xf64>
  %h = stablehlo.multiply %p, %keep : tensor<3x3xf64>
  %qh = stablehlo.dot_general %q, %h, contracting_dims = [1] x [0] : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
  %again = stablehlo.dot_general %qh, %q, contracting_dims = [1] x [1] : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
  check.expect_almost_eq %again, %a : tensor<3x3xf64>
  return
}

// -----

// The upper triangle alone is read, the lower one in the complex matrix; trace and length stay.
func.func @sytrd() {
  %a = stablehlo.constant dense<[[1.0, 2.0, 3.0], [99.0, 4.0, 5.0], [99.0, 99.0, 6.0]]> : tensor<3x3xf64>
  %p:5 = stablehlo.custom_call @lapack_dsytrd_ffi(%a) {mhlo.backend_config = {uplo = 85 : ui8}}
      : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xf64>, tensor<2xf64>, tensor<2xf64>, tensor<i32>)
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %trace = stablehlo.reduce(%p#1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
  check.expect_almost_eq_const %trace, dense<11.0> : tensor<f64>
  %dd = stablehlo.multiply %p#1, %p#1 : tensor<3xf64>
  %ee = stablehlo.multiply %p#2, %p#2 : tensor<2xf64>
  %d = stablehlo.reduce(%dd init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
  %e = stablehlo.reduce(%ee init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf64>, tensor<f64>) -> tensor<f64>
  %half = stablehlo.add %d, %e : tensor<f64>
  %length = stablehlo.add %half, %e : tensor<f64>
  check.expect_almost_eq_const %length, dense<129.0> : tensor<f64>
  // Of the last column [3, 5] stays the length, and its sign is turned.
  %last = stablehlo.slice %p#2 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
  check.expect_almost_eq_const %last, dense<-5.830951894845301> : tensor<1xf64>

  %b = stablehlo.constant dense<[[(1.0, 0.0), (9.0, 9.0)], [(3.0, 4.0), (2.0, 0.0)]]> : tensor<2x2xcomplex<f64>>
  %r:5 = stablehlo.custom_call @lapack_zhetrd_ffi(%b) {mhlo.backend_config = {uplo = 76 : ui8}}
      : (tensor<2x2xcomplex<f64>>) -> (tensor<2x2xcomplex<f64>>, tensor<2xf64>, tensor<1xf64>, tensor<1xcomplex<f64>>, tensor<i32>)
  check.expect_almost_eq_const %r#1, dense<[1.0, 2.0]> : tensor<2xf64>
  check.expect_almost_eq_const %r#2, dense<[-5.0]> : tensor<1xf64>
  return
}

// -----

// Q R is A with its columns as the pivots say.
func.func @geqp3() {
  %a = stablehlo.constant dense<[[1.0, 3.0], [0.0, 4.0]]> : tensor<2x2xf64>
  %free = stablehlo.constant dense<0> : tensor<2xi32>
  %p:3 = stablehlo.custom_call @lapack_dgeqp3_ffi(%a, %free) {mhlo.backend_config = {}}
      : (tensor<2x2xf64>, tensor<2xi32>) -> (tensor<2x2xf64>, tensor<2xi32>, tensor<2xf64>)
  check.expect_eq_const %p#1, dense<[2, 1]> : tensor<2xi32>
  check.expect_almost_eq_const %p#0, dense<[[-5.0, -0.6], [0.5, -0.8]]> : tensor<2x2xf64>
  %q = stablehlo.custom_call @lapack_dorgqr_ffi(%p#0, %p#2) {mhlo.backend_config = {}} : (tensor<2x2xf64>, tensor<2xf64>) -> tensor<2x2xf64>
  check.expect_almost_eq_const %q, dense<[[-0.6, -0.8], [-0.8, 0.6]]> : tensor<2x2xf64>
  return
}

// -----

// The lower diagonal's first element and the upper one's last are not read; the first pivot is 0.
func.func @gtsv() {
  %dl = stablehlo.constant dense<[9.0, 1.0, 2.0]> : tensor<3xf32>
  %d = stablehlo.constant dense<[0.0, 1.0, 4.0]> : tensor<3xf32>
  %du = stablehlo.constant dense<[2.0, 1.0, 9.0]> : tensor<3xf32>
  %b = stablehlo.constant dense<[[4.0, 2.0], [6.0, 3.0], [16.0, 10.0]]> : tensor<3x2xf32>
  %s:5 = stablehlo.custom_call @lapack_sgtsv_ffi(%dl, %d, %du, %b) {mhlo.backend_config = {}}
      : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x2xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x2xf32>, tensor<i32>)
  check.expect_eq_const %s#4, dense<0> : tensor<i32>
  check.expect_almost_eq_const %s#3, dense<[[1.0, 0.0], [2.0, 1.0], [3.0, 2.0]]> : tensor<3x2xf32>
  return
}
