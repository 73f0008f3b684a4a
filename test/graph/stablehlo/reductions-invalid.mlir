// RUN: sinter-opt %s -split-input-file -verify-diagnostics
// Covers: graph/stablehlo VerifyReductions

func.func @reduce_i2(%x: tensor<2x3xf32>, %i: tensor<1xf32>) {
  // expected-error@+1 {{(I2) an init_value is not a scalar}}
  %r = "stablehlo.reduce"(%x, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_c2(%x: tensor<2x3xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{(C2) an init_value has another element type than its input}}
  %r = "stablehlo.reduce"(%x, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<i32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_c4(%x: tensor<2x3xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C4) dimensions are not dimensions of the inputs}}
  %r = "stablehlo.reduce"(%x, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {dimensions = array<i64: 2>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_c5(%x: tensor<2x3xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C5) a dimension stands twice}}
  %r = "stablehlo.reduce"(%x, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {dimensions = array<i64: 1, 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_c6(%x: tensor<2x3xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C6) elements of 'tensor<2x3xf32>' cannot be promoted to those of 'ten}}
  %r = "stablehlo.reduce"(%x, %i) ({
    ^bb0(%p: tensor<f16>, %q: tensor<f16>):
      %s = stablehlo.add %p, %q : tensor<f16>
      stablehlo.return %s : tensor<f16>
    }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf16>
  return
}

// -----

func.func @reduce_c7(%x: tensor<2x3xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C7) a result's shape does not follow from the inputs'}}
  %r = "stablehlo.reduce"(%x, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}

// -----

func.func @reduce_c8(%x: tensor<2x3xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C8) elements of the result 'tensor<2xf64>' are not those of 'tensor<f}}
  %r = "stablehlo.reduce"(%x, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf64>
  return
}

// -----

func.func @reduce_window_c3(%x: tensor<4x4xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{(C3) an init_value has another element type than its input}}
  %r = "stablehlo.reduce_window"(%x, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {window_dimensions = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<i32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @reduce_window_c4(%x: tensor<4x4xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C4) window_dimensions has not one element a dimension}}
  %r = "stablehlo.reduce_window"(%x, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {window_dimensions = array<i64: 2>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @reduce_window_c5(%x: tensor<4x4xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C5) a window dimension is not positive}}
  %r = "stablehlo.reduce_window"(%x, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {window_dimensions = array<i64: 2, 0>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @reduce_window_c6(%x: tensor<4x4xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C6) window_strides has not one element a dimension}}
  %r = "stablehlo.reduce_window"(%x, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @reduce_window_c7(%x: tensor<4x4xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C7) a stride is not positive}}
  %r = "stablehlo.reduce_window"(%x, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 0>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @reduce_window_c8(%x: tensor<4x4xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C8) base_dilations has not one element a dimension}}
  %r = "stablehlo.reduce_window"(%x, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {window_dimensions = array<i64: 2, 2>, base_dilations = array<i64: 1>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @reduce_window_c9(%x: tensor<4x4xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C9) a base dilation is not positive}}
  %r = "stablehlo.reduce_window"(%x, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {window_dimensions = array<i64: 2, 2>, base_dilations = array<i64: 1, 0>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @reduce_window_c10(%x: tensor<4x4xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C10) window_dilations has not one element a dimension}}
  %r = "stablehlo.reduce_window"(%x, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {window_dimensions = array<i64: 2, 2>, window_dilations = array<i64: 1>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @reduce_window_c11(%x: tensor<4x4xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C11) a window dilation is not positive}}
  %r = "stablehlo.reduce_window"(%x, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {window_dimensions = array<i64: 2, 2>, window_dilations = array<i64: 1, 0>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @reduce_window_c12(%x: tensor<4x4xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C12) padding is not [low, high] for each dimension}}
  %r = "stablehlo.reduce_window"(%x, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {window_dimensions = array<i64: 2, 2>, padding = dense<0> : tensor<2x1xi64>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @reduce_window_c13(%x: tensor<4x4xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C13) elements of 'tensor<4x4xf32>' cannot be promoted to those of 'te}}
  %r = "stablehlo.reduce_window"(%x, %i) ({
    ^bb0(%p: tensor<f16>, %q: tensor<f16>):
      %s = stablehlo.add %p, %q : tensor<f16>
      stablehlo.return %s : tensor<f16>
    }) {window_dimensions = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<3x3xf16>
  return
}

// -----

func.func @reduce_window_c15(%x: tensor<4x4xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C14, C15) dimension 1 of the result does not follow from the inputs}}
  %r = "stablehlo.reduce_window"(%x, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {window_dimensions = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @reduce_window_c16(%x: tensor<4x4xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C16) elements of the result 'tensor<3x3xf64>' are not those of 'tenso}}
  %r = "stablehlo.reduce_window"(%x, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {window_dimensions = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<3x3xf64>
  return
}

// -----

func.func @select_and_scatter_c1(%x: tensor<4x4xf32>, %s: tensor<2x2xf64>, %i: tensor<f32>) {
  // expected-error@+1 {{(C1) source and operand have different element types}}
  %r = "stablehlo.select_and_scatter"(%x, %s, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    }, {
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %t : tensor<f32>
    }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf64>, tensor<f32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @select_and_scatter_c2(%x: tensor<4x4xf32>, %s: tensor<2x3xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C2) dimension 1 of the source is not the number of windows}}
  %r = "stablehlo.select_and_scatter"(%x, %s, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    }, {
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %t : tensor<f32>
    }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @select_and_scatter_c3(%x: tensor<4x4xf32>, %s: tensor<2x2xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{(C3) init_value has another element type than the operand}}
  %r = "stablehlo.select_and_scatter"(%x, %s, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    }, {
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %t : tensor<f32>
    }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<i32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @select_and_scatter_c4(%x: tensor<4x4xf32>, %s: tensor<2x2xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C4) window_dimensions has not one element a dimension}}
  %r = "stablehlo.select_and_scatter"(%x, %s, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    }, {
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %t : tensor<f32>
    }) {window_dimensions = array<i64: 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @select_and_scatter_c5(%x: tensor<4x4xf32>, %s: tensor<2x2xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C5) a window dimension is not positive}}
  %r = "stablehlo.select_and_scatter"(%x, %s, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    }, {
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %t : tensor<f32>
    }) {window_dimensions = array<i64: 2, 0>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @select_and_scatter_c6(%x: tensor<4x4xf32>, %s: tensor<2x2xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C6) window_strides has not one element a dimension}}
  %r = "stablehlo.select_and_scatter"(%x, %s, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    }, {
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %t : tensor<f32>
    }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @select_and_scatter_c7(%x: tensor<4x4xf32>, %s: tensor<2x2xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C7) a stride is not positive}}
  %r = "stablehlo.select_and_scatter"(%x, %s, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    }, {
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %t : tensor<f32>
    }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 0>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @select_and_scatter_c8(%x: tensor<4x4xf32>, %s: tensor<2x2xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C8) padding is not [low, high] for each dimension}}
  %r = "stablehlo.select_and_scatter"(%x, %s, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    }, {
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %t : tensor<f32>
    }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>, padding = dense<0> : tensor<2x1xi64>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @select_and_scatter_c9(%x: tensor<4x4xf32>, %s: tensor<2x2xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C9) the region returns 'tensor<f32>', not a scalar of 'i1'}}
  %r = "stablehlo.select_and_scatter"(%x, %s, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      stablehlo.return %p : tensor<f32>
    }, {
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %t : tensor<f32>
    }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @select_and_scatter_c10(%x: tensor<4x4xf32>, %s: tensor<2x2xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C10) elements of 'tensor<4x4xf32>' cannot be promoted to those of 'te}}
  %r = "stablehlo.select_and_scatter"(%x, %s, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    }, {
    ^bb0(%p: tensor<f16>, %q: tensor<f16>):
      %t = stablehlo.add %p, %q : tensor<f16>
      stablehlo.return %t : tensor<f16>
    }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf16>
  return
}

// -----

func.func @select_and_scatter_c11(%x: tensor<4x4xf32>, %s: tensor<2x2xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C11) operand and result differ in shape}}
  %r = "stablehlo.select_and_scatter"(%x, %s, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    }, {
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %t : tensor<f32>
    }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @select_and_scatter_c12(%x: tensor<4x4xf32>, %s: tensor<2x2xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{(C12) elements of the result 'tensor<4x4xf64>' are not those of 'tenso}}
  %r = "stablehlo.select_and_scatter"(%x, %s, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    }, {
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %t : tensor<f32>
    }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf64>
  return
}

// -----

func.func @map_c3(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{(C3) dimensions are not all dimensions in order}}
  %r = "stablehlo.map"(%x) ({
    ^bb0(%p: tensor<f32>):
      stablehlo.return %p : tensor<f32>
    }) {dimensions = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @map_c4(%x: tensor<2x3xf64>) {
  // expected-error@+1 {{(C4) the region's argument 'tensor<f32>' is not a scalar of 'f64'}}
  %r = "stablehlo.map"(%x) ({
    ^bb0(%p: tensor<f32>):
      stablehlo.return %p : tensor<f32>
    }) {dimensions = array<i64: 0, 1>} : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return
}

// -----

func.func @reduce_applies(%x: tensor<2x3xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{'applies' takes a commutative operation of two operands}}
  %r = stablehlo.reduce(%x init: %i) applies stablehlo.subtract across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}
