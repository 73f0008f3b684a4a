// RUN: sinter test %s --backend interpreter
// RUN: sinter test %s --backend cpu

// As torch-mlir writes the reshaping of what has an unknown size.
func.func @reshape() {
  %x = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %open = tensor.cast %x : tensor<2x4xf32> to tensor<?x4xf32>
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c2_i64 = arith.constant 2 : i64
  %dim = tensor.dim %open, %c0 : tensor<?x4xf32>
  %n = arith.index_cast %dim : index to i64
  %m = arith.muli %n, %c2_i64 : i64
  %shape = tensor.from_elements %m, %c2_i64 : tensor<2xi64>
  %y = stablehlo.dynamic_reshape %open, %shape : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x2xf32>
  %z = stablehlo.convert %y : (tensor<?x2xf32>) -> tensor<4x2xf32>
  check.expect_eq_const %z, dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>
  return
}

// -----

// Shapes that broadcast, as vectors of indices.
func.func @broadcast() {
  %x = stablehlo.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %open = tensor.cast %x : tensor<2x1xf32> to tensor<?x1xf32>
  %a = shape.shape_of %open : tensor<?x1xf32> -> tensor<2xindex>
  %b = shape.const_shape [3] : tensor<1xindex>
  %both = shape.broadcast %a, %b : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
  %y = "stablehlo.dynamic_broadcast_in_dim"(%open, %both) {broadcast_dimensions = array<i64: 0, 1>}
      : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %z = stablehlo.convert %y : (tensor<?x?xf32>) -> tensor<2x3xf32>
  check.expect_eq_const %z, dense<[[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]> : tensor<2x3xf32>
  %count = shape.num_elements %both : tensor<2xindex> -> index
  %number = arith.index_cast %count : index to i32
  %all = tensor.from_elements %number : tensor<1xi32>
  check.expect_eq_const %all, dense<6> : tensor<1xi32>
  return
}

// -----

// Counters of loops, and what is chosen among sizes.
func.func @choose() {
  %i = arith.constant dense<5> : tensor<i64>
  %s = arith.constant dense<[4, 7]> : tensor<2xindex>
  %c1 = arith.constant 1 : index
  %e = shape.get_extent %s, %c1 : tensor<2xindex>, index -> index
  %c3 = arith.constant 3 : index
  %less = arith.cmpi slt, %e, %c3 : index
  %c = arith.select %less, %e, %c3 : index
  %r = arith.subi %c, %c1 : index
  %v = tensor.from_elements %r, %c : tensor<2xindex>
  %w = arith.index_cast %v : tensor<2xindex> to tensor<2xi64>
  check.expect_eq_const %w, dense<[2, 3]> : tensor<2xi64>
  check.expect_eq_const %i, dense<5> : tensor<i64>
  return
}
