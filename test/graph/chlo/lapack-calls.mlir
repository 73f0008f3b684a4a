// RUN: sinter test %s --backend interpreter
// RUN: sinter test %s --backend cpu
// Covers: interpreter ChloOperations KnownCalls CustomCalls

// What JAX calls LAPACK for on CPUs.
func.func @main() {
  %a = stablehlo.constant dense<[[[4.0, 2.0], [2.0, 10.0]]]> : tensor<1x2x2xf64>
  %lower, %good = stablehlo.custom_call @lapack_dpotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}}
      : (tensor<1x2x2xf64>) -> (tensor<1x2x2xf64>, tensor<1xi32>)
  check.expect_eq_const %lower, dense<[[[2.0, 2.0], [1.0, 3.0]]]> : tensor<1x2x2xf64>
  check.expect_eq_const %good, dense<0> : tensor<1xi32>
  %bad = stablehlo.constant dense<[[1.0, 2.0], [2.0, 1.0]]> : tensor<2x2xf32>
  %u, %second = stablehlo.custom_call @lapack_spotrf_ffi(%bad) {api_version = 4 : i32, backend_config = {uplo = 85 : ui8}}
      : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>)
  check.expect_eq_const %second, dense<2> : tensor<i32>

  // P A = L U, with L = [[1, 0], [1/2, 1]].
  %b = stablehlo.constant dense<[[2.0, 3.0, 4.0], [4.0, 4.0, 4.0]]> : tensor<2x3xf32>
  %lu:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%b) {mhlo.backend_config = {}}
      : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2xi32>, tensor<i32>)
  check.expect_eq_const %lu#0, dense<[[4.0, 4.0, 4.0], [0.5, 1.0, 2.0]]> : tensor<2x3xf32>
  check.expect_eq_const %lu#1, dense<2> : tensor<2xi32>

  // The first column's length with the other sign; v = [1, 4 / (3 + 5)].
  %c = stablehlo.constant dense<[[3.0, 1.0], [4.0, 2.0]]> : tensor<2x2xf64>
  %qr:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%c) {mhlo.backend_config = {}}
      : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2xf64>)
  check.expect_almost_eq_const %qr#0, dense<[[-5.0, -2.2], [0.5, 0.4]]> : tensor<2x2xf64>
  %q = stablehlo.custom_call @lapack_dorgqr_ffi(%qr#0, %qr#1) {mhlo.backend_config = {}}
      : (tensor<2x2xf64>, tensor<2xf64>) -> tensor<2x2xf64>
  check.expect_almost_eq_const %q, dense<[[-0.6, -0.8], [-0.8, 0.6]]> : tensor<2x2xf64>

  // [[2, i], [-i, 2]] has the eigenvalues 1 and 3.
  %h = stablehlo.constant dense<[[(2.0, 0.0), (0.0, 1.0)], [(0.0, -1.0), (2.0, 0.0)]]> : tensor<2x2xcomplex<f64>>
  %vectors, %values, %info = stablehlo.custom_call @lapack_zheevd_ffi(%h) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}}
      : (tensor<2x2xcomplex<f64>>) -> (tensor<2x2xcomplex<f64>>, tensor<2xf64>, tensor<i32>)
  check.expect_almost_eq_const %values, dense<[1.0, 3.0]> : tensor<2xf64>
  %left = stablehlo.dot_general %h, %vectors, contracting_dims = [1] x [0] : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
  %wide = stablehlo.broadcast_in_dim %values, dims = [1] : (tensor<2xf64>) -> tensor<2x2xf64>
  %none = stablehlo.constant dense<0.0> : tensor<2x2xf64>
  %scale = stablehlo.complex %wide, %none : tensor<2x2xcomplex<f64>>
  %right = stablehlo.multiply %vectors, %scale : tensor<2x2xcomplex<f64>>
  check.expect_almost_eq %left, %right : tensor<2x2xcomplex<f64>>

  // A wide matrix of rank 1: u diag(s) vt gives it again.
  %m = stablehlo.constant dense<[[3.0, 0.0, 4.0], [0.0, 0.0, 0.0]]> : tensor<2x3xf64>
  %svd:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%m) {mhlo.backend_config = {mode = 65 : ui8}}
      : (tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<3x3xf64>, tensor<i32>)
  check.expect_almost_eq_const %svd#1, dense<[5.0, 0.0]> : tensor<2xf64>
  %rows = stablehlo.slice %svd#3 [0:2, 0:3] : (tensor<3x3xf64>) -> tensor<2x3xf64>
  %stretch = stablehlo.broadcast_in_dim %svd#1, dims = [0] : (tensor<2xf64>) -> tensor<2x3xf64>
  %stretched = stablehlo.multiply %stretch, %rows : tensor<2x3xf64>
  %again = stablehlo.dot_general %svd#2, %stretched, contracting_dims = [1] x [0] : (tensor<2x2xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  check.expect_almost_eq %again, %m : tensor<2x3xf64>
  %unit = stablehlo.dot_general %svd#3, %svd#3, contracting_dims = [1] x [1] : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
  check.expect_almost_eq_const %unit, dense<[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf64>

  %t = stablehlo.constant dense<[[2.0, 9.0], [1.0, 4.0]]> : tensor<2x2xf32>
  %y = stablehlo.constant dense<[[2.0], [9.0]]> : tensor<2x1xf32>
  %x = stablehlo.custom_call @lapack_strsm_ffi(%t, %y) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}}
      : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  check.expect_eq_const %x, dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  return
}
