// What is spelt out and becomes one operation: a function a rule, called by the
// rule's label (see arithmetic.mlir).

func.func @"raise-max-pool"(%x: tensor<1x2x6x6xf32>) -> tensor<1x2x3x3xf32> {
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %r = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 1, 1, 3, 3>, window_strides = array<i64: 1, 1, 2, 2>, padding = dense<[[0, 0], [0, 0], [1, 1], [0, 1]]> : tensor<4x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  return %r : tensor<1x2x3x3xf32>
}

func.func @"raise-max-pool/stays-other-start"(%x: tensor<1x2x6x6xf32>) -> tensor<1x2x3x3xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  return %r : tensor<1x2x3x3xf32>
}

func.func @"raise-average-pool"(%x: tensor<1x2x6x6xf32>) -> tensor<1x2x3x3xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  %n = stablehlo.constant dense<4.0> : tensor<1x2x3x3xf32>
  %r = stablehlo.divide %s, %n : tensor<1x2x3x3xf32>
  return %r : tensor<1x2x3x3xf32>
}

// Windows at the edge divide by what they meet.
func.func @"raise-average-pool/counted"(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 1, 1, 3, 3>, padding = dense<[[0, 0], [0, 0], [1, 1], [1, 1]]> : tensor<4x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<1x1x4x4xf32>, tensor<f32>) -> tensor<1x1x4x4xf32>
  %n = stablehlo.constant dense<[[[[4.0, 6.0, 6.0, 4.0], [6.0, 9.0, 9.0, 6.0], [6.0, 9.0, 9.0, 6.0], [4.0, 6.0, 6.0, 4.0]]]]> : tensor<1x1x4x4xf32>
  %r = stablehlo.divide %s, %n : tensor<1x1x4x4xf32>
  return %r : tensor<1x1x4x4xf32>
}

func.func @"raise-average-pool/stays-other-number"(%x: tensor<1x2x6x6xf32>) -> tensor<1x2x3x3xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  %n = stablehlo.constant dense<3.0> : tensor<1x2x3x3xf32>
  %r = stablehlo.divide %s, %n : tensor<1x2x3x3xf32>
  return %r : tensor<1x2x3x3xf32>
}

func.func @"raise-softmax"(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %l = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %l) applies stablehlo.maximum across dimensions = [2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3xf32>
  %a = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x4xf32>
  %b = stablehlo.subtract %x, %a : tensor<2x3x4xf32>
  %e = stablehlo.exponential %b : tensor<2x3x4xf32>
  %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3xf32>
  %c = stablehlo.broadcast_in_dim %s, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x4xf32>
  %r = stablehlo.divide %e, %c : tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// The sum is over another dimension.
func.func @"raise-softmax/stays-crossed"(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %l = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %l) applies stablehlo.maximum across dimensions = [1] : (tensor<3x3xf32>, tensor<f32>) -> tensor<3xf32>
  %a = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<3xf32>) -> tensor<3x3xf32>
  %b = stablehlo.subtract %x, %a : tensor<3x3xf32>
  %e = stablehlo.exponential %b : tensor<3x3xf32>
  %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [0] : (tensor<3x3xf32>, tensor<f32>) -> tensor<3xf32>
  %c = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<3xf32>) -> tensor<3x3xf32>
  %r = stablehlo.divide %e, %c : tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}

func.func @"raise-log-softmax"(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %l = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %l) applies stablehlo.maximum across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
  %a = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<2xf32>) -> tensor<2x4xf32>
  %b = stablehlo.subtract %x, %a : tensor<2x4xf32>
  %e = stablehlo.exponential %b : tensor<2x4xf32>
  %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
  %g = stablehlo.log %s : tensor<2xf32>
  %c = stablehlo.broadcast_in_dim %g, dims = [0] : (tensor<2xf32>) -> tensor<2x4xf32>
  %r = stablehlo.subtract %b, %c : tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

func.func @"join-columns"(%x: tensor<1x5x3xf32>, %w: tensor<3x2x4xf32>, %b: tensor<2x4xf32>) -> tensor<1x5x2x4xf32> {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<1x5x3xf32>, tensor<3x2x4xf32>) -> tensor<1x5x2x4xf32>
  %c = stablehlo.broadcast_in_dim %b, dims = [2, 3] : (tensor<2x4xf32>) -> tensor<1x5x2x4xf32>
  %r = stablehlo.add %p, %c : tensor<1x5x2x4xf32>
  return %r : tensor<1x5x2x4xf32>
}

func.func @"join-columns/stays-apart"(%x: tensor<5x3xf32>, %w: tensor<2x3x4xf32>, %b: tensor<2x4xf32>) -> tensor<5x2x4xf32> {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<5x3xf32>, tensor<2x3x4xf32>) -> tensor<5x2x4xf32>
  %c = stablehlo.broadcast_in_dim %b, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<5x2x4xf32>
  %r = stablehlo.add %p, %c : tensor<5x2x4xf32>
  return %r : tensor<5x2x4xf32>
}

// As jax.nn.softmax guards the greatest element, behind a mask.
func.func @"raise-softmax/guarded"(%x: tensor<2x4xf32>, %k: tensor<2x4xi1>) -> tensor<2x4xf32> {
  %l = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %ls = stablehlo.constant dense<0xFF800000> : tensor<2xf32>
  %low = stablehlo.constant dense<-3.40282347E+38> : tensor<2x4xf32>
  %w = stablehlo.select %k, %x, %low : tensor<2x4xi1>, tensor<2x4xf32>
  %m = stablehlo.reduce(%w init: %l) applies stablehlo.maximum across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
  %g = stablehlo.maximum %ls, %m : tensor<2xf32>
  %h = stablehlo.optimization_barrier %g : tensor<2xf32>
  %a = stablehlo.broadcast_in_dim %h, dims = [0] : (tensor<2xf32>) -> tensor<2x4xf32>
  %b = stablehlo.subtract %w, %a : tensor<2x4xf32>
  %e = stablehlo.exponential %b : tensor<2x4xf32>
  %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
  %c = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<2xf32>) -> tensor<2x4xf32>
  %r = stablehlo.divide %e, %c : tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// Another bound than -inf may be the greatest.
func.func @"raise-softmax/stays-bounded"(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %l = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %ls = stablehlo.constant dense<0.5> : tensor<2xf32>
  %m = stablehlo.reduce(%x init: %l) applies stablehlo.maximum across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
  %g = stablehlo.maximum %ls, %m : tensor<2xf32>
  %a = stablehlo.broadcast_in_dim %g, dims = [0] : (tensor<2xf32>) -> tensor<2x4xf32>
  %b = stablehlo.subtract %x, %a : tensor<2x4xf32>
  %e = stablehlo.exponential %b : tensor<2x4xf32>
  %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
  %c = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<2xf32>) -> tensor<2x4xf32>
  %r = stablehlo.divide %e, %c : tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// Dimensions of one element may be reduced in one place and kept in another.
func.func @"raise-softmax/units"(%x: tensor<2x4x1x1xf32>) -> tensor<2x4x1x1xf32> {
  %l = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %l) applies stablehlo.maximum across dimensions = [1] : (tensor<2x4x1x1xf32>, tensor<f32>) -> tensor<2x1x1xf32>
  %n = stablehlo.reshape %m : (tensor<2x1x1xf32>) -> tensor<2xf32>
  %a = stablehlo.broadcast_in_dim %n, dims = [0] : (tensor<2xf32>) -> tensor<2x4x1x1xf32>
  %b = stablehlo.subtract %x, %a : tensor<2x4x1x1xf32>
  %e = stablehlo.exponential %b : tensor<2x4x1x1xf32>
  %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1, 3] : (tensor<2x4x1x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %c = stablehlo.broadcast_in_dim %s, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x4x1x1xf32>
  %r = stablehlo.divide %e, %c : tensor<2x4x1x1xf32>
  return %r : tensor<2x4x1x1xf32>
}

func.func @"raise-log-softmax/units"(%x: tensor<2x4x1xf32>) -> tensor<2x4x1xf32> {
  %l = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %l) applies stablehlo.maximum across dimensions = [1, 2] : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2xf32>
  %a = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<2xf32>) -> tensor<2x4x1xf32>
  %b = stablehlo.subtract %x, %a : tensor<2x4x1xf32>
  %e = stablehlo.exponential %b : tensor<2x4x1xf32>
  %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %g = stablehlo.log %s : tensor<2x1xf32>
  %k = stablehlo.reshape %g : (tensor<2x1xf32>) -> tensor<2x1x1xf32>
  %c = stablehlo.broadcast_in_dim %k, dims = [0, 1, 2] : (tensor<2x1x1xf32>) -> tensor<2x4x1xf32>
  %r = stablehlo.subtract %b, %c : tensor<2x4x1xf32>
  return %r : tensor<2x4x1xf32>
}

// The sums go to other places than they came from.
func.func @"raise-softmax/stays-moved"(%x: tensor<2x2x4xf32>) -> tensor<2x2x4xf32> {
  %l = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %l) applies stablehlo.maximum across dimensions = [2] : (tensor<2x2x4xf32>, tensor<f32>) -> tensor<2x2xf32>
  %a = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2x4xf32>
  %b = stablehlo.subtract %x, %a : tensor<2x2x4xf32>
  %e = stablehlo.exponential %b : tensor<2x2x4xf32>
  %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x2x4xf32>, tensor<f32>) -> tensor<2x2xf32>
  %c = stablehlo.broadcast_in_dim %s, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2x4xf32>
  %r = stablehlo.divide %e, %c : tensor<2x2x4xf32>
  return %r : tensor<2x2x4xf32>
}
