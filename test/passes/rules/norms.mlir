// Layer norms that are spelt out: a function a rule, called by the rule's label
// (see arithmetic.mlir).

func.func @"raise-norm"(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<2x3xf32>
  %eps = stablehlo.constant dense<1.0e-5> : tensor<2x3x1xf32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %m = stablehlo.divide %s, %n : tensor<2x3xf32>
  %mw = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %c = stablehlo.subtract %x, %mw : tensor<2x3x8xf32>
  %q = stablehlo.multiply %c, %c : tensor<2x3x8xf32>
  %qs = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %v = stablehlo.divide %qs, %n : tensor<2x3xf32>
  %vk = stablehlo.reshape %v : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  %ve = stablehlo.add %vk, %eps : tensor<2x3x1xf32>
  %i = stablehlo.rsqrt %ve : tensor<2x3x1xf32>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1, 2] : (tensor<2x3x1xf32>) -> tensor<2x3x8xf32>
  %y = stablehlo.multiply %c, %iw : tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// A power of two has an exact inverse.
func.func @"raise-norm/power-of-two-times"(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<0.125> : tensor<2x3xf32>
  %eps = stablehlo.constant dense<1.0e-5> : tensor<2x3x1xf32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %m = stablehlo.multiply %s, %n : tensor<2x3xf32>
  %mw = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %c = stablehlo.subtract %x, %mw : tensor<2x3x8xf32>
  %q = stablehlo.multiply %c, %c : tensor<2x3x8xf32>
  %qs = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %v = stablehlo.multiply %qs, %n : tensor<2x3xf32>
  %vk = stablehlo.reshape %v : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  %ve = stablehlo.add %vk, %eps : tensor<2x3x1xf32>
  %i = stablehlo.rsqrt %ve : tensor<2x3x1xf32>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1, 2] : (tensor<2x3x1xf32>) -> tensor<2x3x8xf32>
  %y = stablehlo.multiply %c, %iw : tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

func.func @"raise-norm/two-dimensions"(%x: tensor<3x4x6xf32>) -> tensor<3x4x6xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<24.0> : tensor<3xf32>
  %eps = stablehlo.constant dense<1.0e-5> : tensor<3x1x1xf32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1, 2] : (tensor<3x4x6xf32>, tensor<f32>) -> tensor<3xf32>
  %m = stablehlo.divide %s, %n : tensor<3xf32>
  %mw = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<3xf32>) -> tensor<3x4x6xf32>
  %c = stablehlo.subtract %x, %mw : tensor<3x4x6xf32>
  %q = stablehlo.multiply %c, %c : tensor<3x4x6xf32>
  %qs = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [1, 2] : (tensor<3x4x6xf32>, tensor<f32>) -> tensor<3xf32>
  %v = stablehlo.divide %qs, %n : tensor<3xf32>
  %vk = stablehlo.reshape %v : (tensor<3xf32>) -> tensor<3x1x1xf32>
  %ve = stablehlo.add %vk, %eps : tensor<3x1x1xf32>
  %i = stablehlo.rsqrt %ve : tensor<3x1x1xf32>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1, 2] : (tensor<3x1x1xf32>) -> tensor<3x4x6xf32>
  %y = stablehlo.multiply %c, %iw : tensor<3x4x6xf32>
  return %y : tensor<3x4x6xf32>
}

func.func @"raise-norm/f64"(%x: tensor<5x7xf64>) -> tensor<5x7xf64> {
  %z = stablehlo.constant dense<0.0> : tensor<f64>
  %n = stablehlo.constant dense<7.0> : tensor<5xf64>
  %eps = stablehlo.constant dense<1.0e-5> : tensor<5x1xf64>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<5x7xf64>, tensor<f64>) -> tensor<5xf64>
  %m = stablehlo.divide %s, %n : tensor<5xf64>
  %mw = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<5xf64>) -> tensor<5x7xf64>
  %c = stablehlo.subtract %x, %mw : tensor<5x7xf64>
  %q = stablehlo.multiply %c, %c : tensor<5x7xf64>
  %qs = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [1] : (tensor<5x7xf64>, tensor<f64>) -> tensor<5xf64>
  %v = stablehlo.divide %qs, %n : tensor<5xf64>
  %vk = stablehlo.reshape %v : (tensor<5xf64>) -> tensor<5x1xf64>
  %ve = stablehlo.add %vk, %eps : tensor<5x1xf64>
  %i = stablehlo.rsqrt %ve : tensor<5x1xf64>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1] : (tensor<5x1xf64>) -> tensor<5x7xf64>
  %y = stablehlo.multiply %c, %iw : tensor<5x7xf64>
  return %y : tensor<5x7xf64>
}

func.func @"raise-norm/one-row"(%x: tensor<1x7xf32>) -> tensor<1x7xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<7.0> : tensor<1xf32>
  %eps = stablehlo.constant dense<1.0e-5> : tensor<1x1xf32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<1x7xf32>, tensor<f32>) -> tensor<1xf32>
  %m = stablehlo.divide %s, %n : tensor<1xf32>
  %mw = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<1xf32>) -> tensor<1x7xf32>
  %c = stablehlo.subtract %x, %mw : tensor<1x7xf32>
  %q = stablehlo.multiply %c, %c : tensor<1x7xf32>
  %qs = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [1] : (tensor<1x7xf32>, tensor<f32>) -> tensor<1xf32>
  %v = stablehlo.divide %qs, %n : tensor<1xf32>
  %vk = stablehlo.reshape %v : (tensor<1xf32>) -> tensor<1x1xf32>
  %ve = stablehlo.add %vk, %eps : tensor<1x1xf32>
  %i = stablehlo.rsqrt %ve : tensor<1x1xf32>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x7xf32>
  %y = stablehlo.multiply %c, %iw : tensor<1x7xf32>
  return %y : tensor<1x7xf32>
}

func.func @"raise-norm/rms"(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<2x3xf32>
  %eps = stablehlo.constant dense<1.0e-5> : tensor<2x3x1xf32>
  %q = stablehlo.multiply %x, %x : tensor<2x3x8xf32>
  %qs = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %v = stablehlo.divide %qs, %n : tensor<2x3xf32>
  %vk = stablehlo.reshape %v : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  %ve = stablehlo.add %vk, %eps : tensor<2x3x1xf32>
  %i = stablehlo.rsqrt %ve : tensor<2x3x1xf32>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1, 2] : (tensor<2x3x1xf32>) -> tensor<2x3x8xf32>
  %y = stablehlo.multiply %x, %iw : tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// Each step is rounded.
func.func @"raise-norm/stays-narrow"(%x: tensor<2x3x8xf16>) -> tensor<2x3x8xf16> {
  %z = stablehlo.constant dense<0.0> : tensor<f16>
  %n = stablehlo.constant dense<8.0> : tensor<2x3xf16>
  %eps = stablehlo.constant dense<1.0e-5> : tensor<2x3x1xf16>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf16>, tensor<f16>) -> tensor<2x3xf16>
  %m = stablehlo.divide %s, %n : tensor<2x3xf16>
  %mw = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x3xf16>) -> tensor<2x3x8xf16>
  %c = stablehlo.subtract %x, %mw : tensor<2x3x8xf16>
  %q = stablehlo.multiply %c, %c : tensor<2x3x8xf16>
  %qs = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf16>, tensor<f16>) -> tensor<2x3xf16>
  %v = stablehlo.divide %qs, %n : tensor<2x3xf16>
  %vk = stablehlo.reshape %v : (tensor<2x3xf16>) -> tensor<2x3x1xf16>
  %ve = stablehlo.add %vk, %eps : tensor<2x3x1xf16>
  %i = stablehlo.rsqrt %ve : tensor<2x3x1xf16>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1, 2] : (tensor<2x3x1xf16>) -> tensor<2x3x8xf16>
  %y = stablehlo.multiply %c, %iw : tensor<2x3x8xf16>
  return %y : tensor<2x3x8xf16>
}

// 1 / 6 is rounded.
func.func @"raise-norm/stays-inverse"(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<0.16666666666666666> : tensor<2xf32>
  %eps = stablehlo.constant dense<1.0e-5> : tensor<2x1xf32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x6xf32>, tensor<f32>) -> tensor<2xf32>
  %m = stablehlo.multiply %s, %n : tensor<2xf32>
  %mw = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<2xf32>) -> tensor<2x6xf32>
  %c = stablehlo.subtract %x, %mw : tensor<2x6xf32>
  %q = stablehlo.multiply %c, %c : tensor<2x6xf32>
  %qs = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x6xf32>, tensor<f32>) -> tensor<2xf32>
  %v = stablehlo.multiply %qs, %n : tensor<2xf32>
  %vk = stablehlo.reshape %v : (tensor<2xf32>) -> tensor<2x1xf32>
  %ve = stablehlo.add %vk, %eps : tensor<2x1xf32>
  %i = stablehlo.rsqrt %ve : tensor<2x1xf32>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x6xf32>
  %y = stablehlo.multiply %c, %iw : tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

func.func @"raise-norm/stays-other-count"(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<7.0> : tensor<2x3xf32>
  %eps = stablehlo.constant dense<1.0e-5> : tensor<2x3x1xf32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %m = stablehlo.divide %s, %n : tensor<2x3xf32>
  %mw = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %c = stablehlo.subtract %x, %mw : tensor<2x3x8xf32>
  %q = stablehlo.multiply %c, %c : tensor<2x3x8xf32>
  %qs = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %v = stablehlo.divide %qs, %n : tensor<2x3xf32>
  %vk = stablehlo.reshape %v : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  %ve = stablehlo.add %vk, %eps : tensor<2x3x1xf32>
  %i = stablehlo.rsqrt %ve : tensor<2x3x1xf32>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1, 2] : (tensor<2x3x1xf32>) -> tensor<2x3x8xf32>
  %y = stablehlo.multiply %c, %iw : tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

func.func @"raise-norm/stays-first-dimension"(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<4.0> : tensor<3xf32>
  %eps = stablehlo.constant dense<1.0e-5> : tensor<1x3xf32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
  %m = stablehlo.divide %s, %n : tensor<3xf32>
  %mw = stablehlo.broadcast_in_dim %m, dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>
  %c = stablehlo.subtract %x, %mw : tensor<4x3xf32>
  %q = stablehlo.multiply %c, %c : tensor<4x3xf32>
  %qs = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
  %v = stablehlo.divide %qs, %n : tensor<3xf32>
  %vk = stablehlo.reshape %v : (tensor<3xf32>) -> tensor<1x3xf32>
  %ve = stablehlo.add %vk, %eps : tensor<1x3xf32>
  %i = stablehlo.rsqrt %ve : tensor<1x3xf32>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<4x3xf32>
  %y = stablehlo.multiply %c, %iw : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// The variance is a result, too.
func.func @"raise-norm/stays-shared"(%x: tensor<2x3x8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<2x3xf32>
  %eps = stablehlo.constant dense<1.0e-5> : tensor<2x3x1xf32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %m = stablehlo.divide %s, %n : tensor<2x3xf32>
  %mw = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %c = stablehlo.subtract %x, %mw : tensor<2x3x8xf32>
  %q = stablehlo.multiply %c, %c : tensor<2x3x8xf32>
  %qs = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %v = stablehlo.divide %qs, %n : tensor<2x3xf32>
  %vk = stablehlo.reshape %v : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  %ve = stablehlo.add %vk, %eps : tensor<2x3x1xf32>
  %i = stablehlo.rsqrt %ve : tensor<2x3x1xf32>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1, 2] : (tensor<2x3x1xf32>) -> tensor<2x3x8xf32>
  %y = stablehlo.multiply %c, %iw : tensor<2x3x8xf32>
  return %y, %v : tensor<2x3x8xf32>, tensor<2x3xf32>
}

func.func @"raise-norm/stays-mean-of-squares"(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<2x3xf32>
  %eps = stablehlo.constant dense<1.0e-5> : tensor<2x3x1xf32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %m = stablehlo.divide %s, %n : tensor<2x3xf32>
  %mw = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %c = stablehlo.subtract %x, %mw : tensor<2x3x8xf32>
  %q = stablehlo.multiply %x, %x : tensor<2x3x8xf32>
  %qs = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %qm = stablehlo.divide %qs, %n : tensor<2x3xf32>
  %mm = stablehlo.multiply %m, %m : tensor<2x3xf32>
  %v = stablehlo.subtract %qm, %mm : tensor<2x3xf32>
  %vk = stablehlo.reshape %v : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  %ve = stablehlo.add %vk, %eps : tensor<2x3x1xf32>
  %i = stablehlo.rsqrt %ve : tensor<2x3x1xf32>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1, 2] : (tensor<2x3x1xf32>) -> tensor<2x3x8xf32>
  %y = stablehlo.multiply %c, %iw : tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// A variance of 0 has no root then.
func.func @"raise-norm/stays-below-zero"(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<2xf32>
  %eps = stablehlo.constant dense<-1.0e-5> : tensor<2x1xf32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x8xf32>, tensor<f32>) -> tensor<2xf32>
  %m = stablehlo.divide %s, %n : tensor<2xf32>
  %mw = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<2xf32>) -> tensor<2x8xf32>
  %c = stablehlo.subtract %x, %mw : tensor<2x8xf32>
  %q = stablehlo.multiply %c, %c : tensor<2x8xf32>
  %qs = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x8xf32>, tensor<f32>) -> tensor<2xf32>
  %v = stablehlo.divide %qs, %n : tensor<2xf32>
  %vk = stablehlo.reshape %v : (tensor<2xf32>) -> tensor<2x1xf32>
  %ve = stablehlo.add %vk, %eps : tensor<2x1xf32>
  %i = stablehlo.rsqrt %ve : tensor<2x1xf32>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x8xf32>
  %y = stablehlo.multiply %c, %iw : tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// As flax.linen.LayerNorm writes it
func.func @"raise-norm-relaxed"(%x: tensor<2x3x8xf32>, %g: tensor<8xf32>) -> tensor<2x3x8xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<2x3xf32>
  %eps = stablehlo.constant dense<1.0e-5> : tensor<2x3x1xf32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %m = stablehlo.divide %s, %n : tensor<2x3xf32>
  %mw = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %c = stablehlo.subtract %x, %mw : tensor<2x3x8xf32>
  %q = stablehlo.multiply %x, %x : tensor<2x3x8xf32>
  %qs = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %qm = stablehlo.divide %qs, %n : tensor<2x3xf32>
  %mm = stablehlo.multiply %m, %m : tensor<2x3xf32>
  %v = stablehlo.subtract %qm, %mm : tensor<2x3xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %v1 = stablehlo.maximum %zero, %v : tensor<2x3xf32>
  %vk = stablehlo.reshape %v1 : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  %ve = stablehlo.add %vk, %eps : tensor<2x3x1xf32>
  %i = stablehlo.rsqrt %ve : tensor<2x3x1xf32>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1, 2] : (tensor<2x3x1xf32>) -> tensor<2x3x8xf32>
  %gw = stablehlo.broadcast_in_dim %g, dims = [2] : (tensor<8xf32>) -> tensor<2x3x8xf32>
  %f = stablehlo.multiply %iw, %gw : tensor<2x3x8xf32>
  %y = stablehlo.multiply %c, %f : tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

func.func @"raise-norm-relaxed/inverse"(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<0.16666666666666666> : tensor<2xf32>
  %eps = stablehlo.constant dense<1.0e-5> : tensor<2x1xf32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x6xf32>, tensor<f32>) -> tensor<2xf32>
  %m = stablehlo.multiply %s, %n : tensor<2xf32>
  %mw = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<2xf32>) -> tensor<2x6xf32>
  %c = stablehlo.subtract %x, %mw : tensor<2x6xf32>
  %q = stablehlo.multiply %c, %c : tensor<2x6xf32>
  %qs = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x6xf32>, tensor<f32>) -> tensor<2xf32>
  %v = stablehlo.multiply %qs, %n : tensor<2xf32>
  %vk = stablehlo.reshape %v : (tensor<2xf32>) -> tensor<2x1xf32>
  %ve = stablehlo.add %vk, %eps : tensor<2x1xf32>
  %i = stablehlo.rsqrt %ve : tensor<2x1xf32>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x6xf32>
  %y = stablehlo.multiply %c, %iw : tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

func.func @"raise-norm-relaxed/torch"(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<2x3xf32>
  %eps = stablehlo.constant dense<1.0e-5> : tensor<2x3x1xf32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %m = stablehlo.divide %s, %n : tensor<2x3xf32>
  %mw = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %c = stablehlo.subtract %x, %mw : tensor<2x3x8xf32>
  %q = stablehlo.multiply %c, %c : tensor<2x3x8xf32>
  %qs = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %v = stablehlo.divide %qs, %n : tensor<2x3xf32>
  %vk = stablehlo.reshape %v : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  %ve = stablehlo.add %vk, %eps : tensor<2x3x1xf32>
  %i = stablehlo.sqrt %ve : tensor<2x3x1xf32>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1, 2] : (tensor<2x3x1xf32>) -> tensor<2x3x8xf32>
  %y = stablehlo.divide %c, %iw : tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

func.func @"raise-norm-relaxed/rms"(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<2x3xf32>
  %eps = stablehlo.constant dense<1.0e-5> : tensor<2x3x1xf32>
  %q = stablehlo.multiply %x, %x : tensor<2x3x8xf32>
  %qs = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %v = stablehlo.divide %qs, %n : tensor<2x3xf32>
  %vk = stablehlo.reshape %v : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  %ve = stablehlo.add %vk, %eps : tensor<2x3x1xf32>
  %i = stablehlo.sqrt %ve : tensor<2x3x1xf32>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1, 2] : (tensor<2x3x1xf32>) -> tensor<2x3x8xf32>
  %y = stablehlo.divide %x, %iw : tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

func.func @"raise-norm-relaxed/stays-shared"(%x: tensor<2x3x8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<2x3xf32>
  %eps = stablehlo.constant dense<1.0e-5> : tensor<2x3x1xf32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %m = stablehlo.divide %s, %n : tensor<2x3xf32>
  %mw = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %c = stablehlo.subtract %x, %mw : tensor<2x3x8xf32>
  %q = stablehlo.multiply %x, %x : tensor<2x3x8xf32>
  %qs = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %qm = stablehlo.divide %qs, %n : tensor<2x3xf32>
  %mm = stablehlo.multiply %m, %m : tensor<2x3xf32>
  %v = stablehlo.subtract %qm, %mm : tensor<2x3xf32>
  %vk = stablehlo.reshape %v : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  %ve = stablehlo.add %vk, %eps : tensor<2x3x1xf32>
  %i = stablehlo.rsqrt %ve : tensor<2x3x1xf32>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1, 2] : (tensor<2x3x1xf32>) -> tensor<2x3x8xf32>
  %y = stablehlo.multiply %c, %iw : tensor<2x3x8xf32>
  return %y, %v : tensor<2x3x8xf32>, tensor<2x3xf32>
}

func.func @"raise-norm-relaxed/stays-other-count"(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<7.0> : tensor<2x3xf32>
  %eps = stablehlo.constant dense<1.0e-5> : tensor<2x3x1xf32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %m = stablehlo.divide %s, %n : tensor<2x3xf32>
  %mw = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %c = stablehlo.subtract %x, %mw : tensor<2x3x8xf32>
  %q = stablehlo.multiply %x, %x : tensor<2x3x8xf32>
  %qs = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %qm = stablehlo.divide %qs, %n : tensor<2x3xf32>
  %mm = stablehlo.multiply %m, %m : tensor<2x3xf32>
  %v = stablehlo.subtract %qm, %mm : tensor<2x3xf32>
  %vk = stablehlo.reshape %v : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  %ve = stablehlo.add %vk, %eps : tensor<2x3x1xf32>
  %i = stablehlo.rsqrt %ve : tensor<2x3x1xf32>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1, 2] : (tensor<2x3x1xf32>) -> tensor<2x3x8xf32>
  %y = stablehlo.multiply %c, %iw : tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

func.func @"scale-norm"(%x: tensor<2x3x8xf32>, %g: tensor<8xf32>) -> tensor<2x3x8xf32> {
  %o = stablehlo.constant dense<1.0> : tensor<8xf32>
  %y, %m, %i = nn.layer_norm %x, %o axis = 2 {compute_type = f32, epsilon = 1.0e-05 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>)
  %gw = stablehlo.broadcast_in_dim %g, dims = [2] : (tensor<8xf32>) -> tensor<2x3x8xf32>
  %r = stablehlo.multiply %y, %gw : tensor<2x3x8xf32>
  return %r : tensor<2x3x8xf32>
}

func.func @"scale-norm/rms"(%x: tensor<2x3x8xf32>, %g: tensor<8xf32>) -> tensor<2x3x8xf32> {
  %o = stablehlo.constant dense<1.0> : tensor<8xf32>
  %y = nn.rms_norm %x, %o axis = 2 {compute_type = f32, epsilon = 1.0e-05 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  %h = stablehlo.reshape %g : (tensor<8xf32>) -> tensor<1x1x8xf32>
  %gw = stablehlo.broadcast_in_dim %h, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<2x3x8xf32>
  %r = stablehlo.multiply %gw, %y : tensor<2x3x8xf32>
  return %r : tensor<2x3x8xf32>
}

func.func @"scale-norm/stays-scaled"(%x: tensor<2x3x8xf32>, %g: tensor<8xf32>) -> tensor<2x3x8xf32> {
  %y, %m, %i = nn.layer_norm %x, %g axis = 2 {compute_type = f32, epsilon = 1.0e-05 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>)
  %gw = stablehlo.broadcast_in_dim %g, dims = [2] : (tensor<8xf32>) -> tensor<2x3x8xf32>
  %r = stablehlo.multiply %y, %gw : tensor<2x3x8xf32>
  return %r : tensor<2x3x8xf32>
}

func.func @"scale-norm/stays-by-row"(%x: tensor<2x3x8xf32>, %h: tensor<3xf32>) -> tensor<2x3x8xf32> {
  %o = stablehlo.constant dense<1.0> : tensor<8xf32>
  %y, %m, %i = nn.layer_norm %x, %o axis = 2 {compute_type = f32, epsilon = 1.0e-05 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>)
  %gw = stablehlo.broadcast_in_dim %h, dims = [1] : (tensor<3xf32>) -> tensor<2x3x8xf32>
  %r = stablehlo.multiply %y, %gw : tensor<2x3x8xf32>
  return %r : tensor<2x3x8xf32>
}

func.func @"scale-norm/stays-shared"(%x: tensor<2x3x8xf32>, %g: tensor<8xf32>) -> tensor<2x3x8xf32> {
  %o = stablehlo.constant dense<1.0> : tensor<8xf32>
  %y, %m, %i = nn.layer_norm %x, %o axis = 2 {compute_type = f32, epsilon = 1.0e-05 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>)
  %gw = stablehlo.broadcast_in_dim %g, dims = [2] : (tensor<8xf32>) -> tensor<2x3x8xf32>
  %p = stablehlo.multiply %y, %gw : tensor<2x3x8xf32>
  %r = stablehlo.subtract %p, %y : tensor<2x3x8xf32>
  return %r : tensor<2x3x8xf32>
}

func.func @"shift-norm"(%x: tensor<2x3x8xf32>, %g: tensor<8xf32>) -> tensor<2x3x8xf32> {
  %y, %m, %i = nn.layer_norm %x, %g axis = 2 {compute_type = f32, epsilon = 1.0e-05 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>)
  %gw = stablehlo.broadcast_in_dim %g, dims = [2] : (tensor<8xf32>) -> tensor<2x3x8xf32>
  %r = stablehlo.add %y, %gw : tensor<2x3x8xf32>
  return %r : tensor<2x3x8xf32>
}

func.func @"shift-norm/stays-shifted"(%x: tensor<2x3x8xf32>, %g: tensor<8xf32>) -> tensor<2x3x8xf32> {
  %y, %m, %i = nn.layer_norm %x, %g, %g axis = 2 {compute_type = f32, epsilon = 1.0e-05 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>)
  %gw = stablehlo.broadcast_in_dim %g, dims = [2] : (tensor<8xf32>) -> tensor<2x3x8xf32>
  %r = stablehlo.add %y, %gw : tensor<2x3x8xf32>
  return %r : tensor<2x3x8xf32>
}

func.func @"shift-norm/stays-residual"(%x: tensor<2x3x8xf32>, %g: tensor<8xf32>) -> tensor<2x3x8xf32> {
  %y, %m, %i = nn.layer_norm %x, %g axis = 2 {compute_type = f32, epsilon = 1.0e-05 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>)
  %r = stablehlo.add %y, %x : tensor<2x3x8xf32>
  return %r : tensor<2x3x8xf32>
}

// As PyTorch exports it: means are summed up in f32
func.func @"raise-narrow-norm"(%x: tensor<2x3x8xf16>) -> tensor<2x3x8xf16> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<2x3xf32>
  %eps = stablehlo.constant dense<0.125> : tensor<2x3x1xf16>
  %mw32 = stablehlo.convert %x : (tensor<2x3x8xf16>) -> tensor<2x3x8xf32>
  %ms = stablehlo.reduce(%mw32 init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %md = stablehlo.divide %ms, %n : tensor<2x3xf32>
  %m = stablehlo.convert %md : (tensor<2x3xf32>) -> tensor<2x3xf16>
  %mw = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x3xf16>) -> tensor<2x3x8xf16>
  %c = stablehlo.subtract %x, %mw : tensor<2x3x8xf16>
  %q = stablehlo.multiply %c, %c : tensor<2x3x8xf16>
  %vw32 = stablehlo.convert %q : (tensor<2x3x8xf16>) -> tensor<2x3x8xf32>
  %vs = stablehlo.reduce(%vw32 init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %vd = stablehlo.divide %vs, %n : tensor<2x3xf32>
  %v = stablehlo.convert %vd : (tensor<2x3xf32>) -> tensor<2x3xf16>
  %vk = stablehlo.reshape %v : (tensor<2x3xf16>) -> tensor<2x3x1xf16>
  %ve = stablehlo.add %vk, %eps : tensor<2x3x1xf16>
  %i = stablehlo.sqrt %ve : tensor<2x3x1xf16>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1, 2] : (tensor<2x3x1xf16>) -> tensor<2x3x8xf16>
  %y = stablehlo.divide %c, %iw : tensor<2x3x8xf16>
  return %y : tensor<2x3x8xf16>
}

func.func @"raise-narrow-norm/inverse"(%x: tensor<2x3x8xbf16>) -> tensor<2x3x8xbf16> {
  %z = stablehlo.constant dense<0.0> : tensor<bf16>
  %n = stablehlo.constant dense<8.0> : tensor<2x3xbf16>
  %eps = stablehlo.constant dense<0.125> : tensor<2x3x1xbf16>
  %ms = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xbf16>, tensor<bf16>) -> tensor<2x3xbf16>
  %m = stablehlo.divide %ms, %n : tensor<2x3xbf16>
  %mw = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x3xbf16>) -> tensor<2x3x8xbf16>
  %c = stablehlo.subtract %x, %mw : tensor<2x3x8xbf16>
  %q = stablehlo.multiply %c, %c : tensor<2x3x8xbf16>
  %vs = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xbf16>, tensor<bf16>) -> tensor<2x3xbf16>
  %v = stablehlo.divide %vs, %n : tensor<2x3xbf16>
  %vk = stablehlo.reshape %v : (tensor<2x3xbf16>) -> tensor<2x3x1xbf16>
  %ve = stablehlo.add %vk, %eps : tensor<2x3x1xbf16>
  %i = stablehlo.rsqrt %ve : tensor<2x3x1xbf16>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1, 2] : (tensor<2x3x1xbf16>) -> tensor<2x3x8xbf16>
  %y = stablehlo.multiply %c, %iw : tensor<2x3x8xbf16>
  return %y : tensor<2x3x8xbf16>
}

func.func @"raise-narrow-norm/rms"(%x: tensor<2x3x8xf16>) -> tensor<2x3x8xf16> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<2x3xf32>
  %eps = stablehlo.constant dense<0.125> : tensor<2x3x1xf16>
  %q = stablehlo.multiply %x, %x : tensor<2x3x8xf16>
  %vw32 = stablehlo.convert %q : (tensor<2x3x8xf16>) -> tensor<2x3x8xf32>
  %vs = stablehlo.reduce(%vw32 init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %vd = stablehlo.divide %vs, %n : tensor<2x3xf32>
  %v = stablehlo.convert %vd : (tensor<2x3xf32>) -> tensor<2x3xf16>
  %vk = stablehlo.reshape %v : (tensor<2x3xf16>) -> tensor<2x3x1xf16>
  %ve = stablehlo.add %vk, %eps : tensor<2x3x1xf16>
  %i = stablehlo.rsqrt %ve : tensor<2x3x1xf16>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1, 2] : (tensor<2x3x1xf16>) -> tensor<2x3x8xf16>
  %y = stablehlo.multiply %x, %iw : tensor<2x3x8xf16>
  return %y : tensor<2x3x8xf16>
}

func.func @"raise-narrow-norm/stays-shared"(%x: tensor<2x3x8xf16>) -> (tensor<2x3x8xf16>, tensor<2x3xf16>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<2x3xf32>
  %eps = stablehlo.constant dense<0.125> : tensor<2x3x1xf16>
  %mw32 = stablehlo.convert %x : (tensor<2x3x8xf16>) -> tensor<2x3x8xf32>
  %ms = stablehlo.reduce(%mw32 init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %md = stablehlo.divide %ms, %n : tensor<2x3xf32>
  %m = stablehlo.convert %md : (tensor<2x3xf32>) -> tensor<2x3xf16>
  %mw = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x3xf16>) -> tensor<2x3x8xf16>
  %c = stablehlo.subtract %x, %mw : tensor<2x3x8xf16>
  %q = stablehlo.multiply %c, %c : tensor<2x3x8xf16>
  %vw32 = stablehlo.convert %q : (tensor<2x3x8xf16>) -> tensor<2x3x8xf32>
  %vs = stablehlo.reduce(%vw32 init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %vd = stablehlo.divide %vs, %n : tensor<2x3xf32>
  %v = stablehlo.convert %vd : (tensor<2x3xf32>) -> tensor<2x3xf16>
  %vk = stablehlo.reshape %v : (tensor<2x3xf16>) -> tensor<2x3x1xf16>
  %ve = stablehlo.add %vk, %eps : tensor<2x3x1xf16>
  %i = stablehlo.rsqrt %ve : tensor<2x3x1xf16>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1, 2] : (tensor<2x3x1xf16>) -> tensor<2x3x8xf16>
  %y = stablehlo.multiply %c, %iw : tensor<2x3x8xf16>
  return %y, %v : tensor<2x3x8xf16>, tensor<2x3xf16>
}

// Squares that are not rounded are no f16.
func.func @"raise-narrow-norm/stays-mixed"(%x: tensor<2x3x8xf16>) -> tensor<2x3x8xf16> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<2x3xf32>
  %eps = stablehlo.constant dense<0.125> : tensor<2x3x1xf16>
  %mw32 = stablehlo.convert %x : (tensor<2x3x8xf16>) -> tensor<2x3x8xf32>
  %ms = stablehlo.reduce(%mw32 init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %md = stablehlo.divide %ms, %n : tensor<2x3xf32>
  %m = stablehlo.convert %md : (tensor<2x3xf32>) -> tensor<2x3xf16>
  %mw = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x3xf16>) -> tensor<2x3x8xf16>
  %c = stablehlo.subtract %x, %mw : tensor<2x3x8xf16>
  %c32 = stablehlo.convert %c : (tensor<2x3x8xf16>) -> tensor<2x3x8xf32>
  %q = stablehlo.multiply %c32, %c32 : tensor<2x3x8xf32>
  %vs = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %vd = stablehlo.divide %vs, %n : tensor<2x3xf32>
  %v = stablehlo.convert %vd : (tensor<2x3xf32>) -> tensor<2x3xf16>
  %vk = stablehlo.reshape %v : (tensor<2x3xf16>) -> tensor<2x3x1xf16>
  %ve = stablehlo.add %vk, %eps : tensor<2x3x1xf16>
  %i = stablehlo.rsqrt %ve : tensor<2x3x1xf16>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1, 2] : (tensor<2x3x1xf16>) -> tensor<2x3x8xf16>
  %y = stablehlo.multiply %c, %iw : tensor<2x3x8xf16>
  return %y : tensor<2x3x8xf16>
}

func.func @"raise-narrow-norm/stays-wide"(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<2x3xf32>
  %eps = stablehlo.constant dense<0.125> : tensor<2x3x1xf32>
  %ms = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %m = stablehlo.divide %ms, %n : tensor<2x3xf32>
  %mw = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x8xf32>
  %c = stablehlo.subtract %x, %mw : tensor<2x3x8xf32>
  %q = stablehlo.multiply %c, %c : tensor<2x3x8xf32>
  %vs = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3xf32>
  %v = stablehlo.divide %vs, %n : tensor<2x3xf32>
  %vk = stablehlo.reshape %v : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  %ve = stablehlo.add %vk, %eps : tensor<2x3x1xf32>
  %i = stablehlo.rsqrt %ve : tensor<2x3x1xf32>
  %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1, 2] : (tensor<2x3x1xf32>) -> tensor<2x3x8xf32>
  %y = stablehlo.multiply %c, %iw : tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

func.func @"join-groups"(%x: tensor<2x6x3x4xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<2x6x3x4xf32> {
  %r = stablehlo.reshape %x : (tensor<2x6x3x4xf32>) -> tensor<2x3x24xf32>
  %n = nn.group_norm %r, %s, %b groups = 3 {epsilon = 1.0e-05 : f64} : (tensor<2x3x24xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x24xf32>
  %y = stablehlo.reshape %n : (tensor<2x3x24xf32>) -> tensor<2x6x3x4xf32>
  return %y : tensor<2x6x3x4xf32>
}

// Rows of other images.
func.func @"join-groups/stays-rows"(%x: tensor<2x6x3x4xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<2x6x3x4xf32> {
  %r = stablehlo.reshape %x : (tensor<2x6x3x4xf32>) -> tensor<4x3x12xf32>
  %n = nn.group_norm %r, %s, %b groups = 3 {epsilon = 1.0e-05 : f64} : (tensor<4x3x12xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3x12xf32>
  %y = stablehlo.reshape %n : (tensor<4x3x12xf32>) -> tensor<2x6x3x4xf32>
  return %y : tensor<2x6x3x4xf32>
}

// Groups that are no channels side by side.
func.func @"join-groups/stays-parts"(%x: tensor<2x6x2x4xf32>, %s: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<2x6x2x4xf32> {
  %r = stablehlo.reshape %x : (tensor<2x6x2x4xf32>) -> tensor<2x4x12xf32>
  %n = nn.group_norm %r, %s, %b groups = 4 {epsilon = 1.0e-05 : f64} : (tensor<2x4x12xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x12xf32>
  %y = stablehlo.reshape %n : (tensor<2x4x12xf32>) -> tensor<2x6x2x4xf32>
  return %y : tensor<2x6x2x4xf32>
}

// Another shape than before.
func.func @"join-groups/stays-turned"(%x: tensor<2x6x3x4xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<2x6x4x3xf32> {
  %r = stablehlo.reshape %x : (tensor<2x6x3x4xf32>) -> tensor<2x3x24xf32>
  %n = nn.group_norm %r, %s, %b groups = 3 {epsilon = 1.0e-05 : f64} : (tensor<2x3x24xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x24xf32>
  %y = stablehlo.reshape %n : (tensor<2x3x24xf32>) -> tensor<2x6x4x3xf32>
  return %y : tensor<2x6x4x3xf32>
}

// Several groups in a row.
func.func @"join-groups/stays-whole"(%x: tensor<2x6x3x4xf32>, %s: tensor<6xf32>, %b: tensor<6xf32>) -> tensor<2x6x3x4xf32> {
  %r = stablehlo.reshape %x : (tensor<2x6x3x4xf32>) -> tensor<2x6x12xf32>
  %n = nn.group_norm %r, %s, %b groups = 2 {epsilon = 1.0e-05 : f64} : (tensor<2x6x12xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x12xf32>
  %y = stablehlo.reshape %n : (tensor<2x6x12xf32>) -> tensor<2x6x3x4xf32>
  return %y : tensor<2x6x3x4xf32>
}
