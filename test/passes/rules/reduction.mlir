// Reductions, sorts, windows, products, batch norms: a function a rule, called
// by the rule's label (see arithmetic.mlir).

func.func @"reduce-nothing"(%x: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

// The body is what is left.
func.func @"reduce-nothing/other-start"(%x: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %z = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"reduce-nothing/several"(%x: tensor<2x3xf32>, %y: tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %l = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<-1> : tensor<i32>
  %r:2 = stablehlo.reduce(%x init: %l), (%y init: %z) across dimensions = [] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
      %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %v = stablehlo.select %c, %a, %b : tensor<i1>, tensor<f32>
      %w = stablehlo.select %c, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %v, %w : tensor<f32>, tensor<i32>
    }
  return %r#0, %r#1 : tensor<2x3xf32>, tensor<2x3xi32>
}

func.func @"reduce-nothing/mixed"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %k: tensor<f32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r:2 = stablehlo.reduce(%x init: %z), (%y init: %k) across dimensions = [] : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<f32>, %d: tensor<f32>) {
      %s = stablehlo.add %b, %a : tensor<f32>
      %h = stablehlo.constant dense<0.5> : tensor<f32>
      %m = stablehlo.multiply %c, %h : tensor<f32>
      %t = stablehlo.subtract %m, %d : tensor<f32>
      stablehlo.return %s, %t : tensor<f32>, tensor<f32>
    }
  return %r#0, %r#1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// The body gives what it is given first: the initial value.
func.func @"reduce-nothing/initial"(%x: tensor<2x3xf32>, %k: tensor<f32>) -> tensor<2x3xf32> {
  %r = stablehlo.reduce(%x init: %k) across dimensions = [] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
      stablehlo.return %a : tensor<f32>
    }
  return %r : tensor<2x3xf32>
}

func.func @"reduce-nothing/element"(%x0: tensor<2x3xf32>, %k: tensor<f32>) -> tensor<?x3xf32> {
  %x = stablehlo.convert %x0 : (tensor<2x3xf32>) -> tensor<?x3xf32>
  %r = stablehlo.reduce(%x init: %k) across dimensions = [] : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
      stablehlo.return %b : tensor<f32>
    }
  return %r : tensor<?x3xf32>
}

func.func @"reduce-nothing/open"(%x0: tensor<2x3xf16>, %k: tensor<f16>) -> tensor<?x3xf16> {
  %x = stablehlo.convert %x0 : (tensor<2x3xf16>) -> tensor<?x3xf16>
  %r = stablehlo.reduce(%x init: %k) applies stablehlo.add across dimensions = [] : (tensor<?x3xf16>, tensor<f16>) -> tensor<?x3xf16>
  return %r : tensor<?x3xf16>
}

// The body computes in a wider type than the tensor's.
func.func @"reduce-nothing/promoted"(%x: tensor<2x3xf16>, %k: tensor<f16>) -> tensor<2x3xf32> {
  %r = "stablehlo.reduce"(%x, %k) <{dimensions = array<i64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x3xf16>, tensor<f16>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// A body that is more than elementwise.
func.func @"reduce-nothing/stays-choosing"(%x: tensor<2x3xf32>, %k: tensor<f32>) -> tensor<2x3xf32> {
  %r = stablehlo.reduce(%x init: %k) across dimensions = [] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
      %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %v = "stablehlo.if"(%c) ({
        stablehlo.return %a : tensor<f32>
      }, {
        %n = stablehlo.negate %b : tensor<f32>
        stablehlo.return %n : tensor<f32>
      }) : (tensor<i1>) -> tensor<f32>
      stablehlo.return %v : tensor<f32>
    }
  return %r : tensor<2x3xf32>
}

// The driver goes on after a rule that does not apply.
func.func @"reduce-unit/stays-choosing"(%x: tensor<2x1xf32>, %k: tensor<f32>) -> tensor<2xf32> {
  %r = stablehlo.reduce(%x init: %k) across dimensions = [1] : (tensor<2x1xf32>, tensor<f32>) -> tensor<2xf32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
      %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %v = "stablehlo.if"(%c) ({
        stablehlo.return %a : tensor<f32>
      }, {
        %n = stablehlo.negate %b : tensor<f32>
        stablehlo.return %n : tensor<f32>
      }) : (tensor<i1>) -> tensor<f32>
      stablehlo.return %v : tensor<f32>
    }
  return %r : tensor<2xf32>
}

func.func @"reduce-unit/other-start"(%x: tensor<2x1x3xf32>, %k: tensor<f32>) -> tensor<2x3xf32> {
  %r = stablehlo.reduce(%x init: %k) applies stablehlo.add across dimensions = [1] : (tensor<2x1x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"reduce-unit/stays-open"(%x0: tensor<2x1x3xf32>) -> tensor<?x3xf32> {
  %x = stablehlo.convert %x0 : (tensor<2x1x3xf32>) -> tensor<?x1x3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<?x1x3xf32>, tensor<f32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

func.func @"reduce-unit"(%x: tensor<2x1x3xf32>) -> tensor<2x3xf32> {
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %r = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<2x1x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"reduce-unit/stays-longer"(%x: tensor<2x1x3xf32>) -> tensor<2x1xf32> {
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %r = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [2] : (tensor<2x1x3xf32>, tensor<f32>) -> tensor<2x1xf32>
  return %r : tensor<2x1xf32>
}

func.func @"reduce-empty"(%x: tensor<0x3xf32>, %z: tensor<f32>) -> tensor<3xf32> {
  %r = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<0x3xf32>, tensor<f32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

func.func @"reduce-outside"(%x: tensor<2x3xf32>, %z: tensor<f32>, %y: tensor<f32>) -> tensor<3xf32> {
  %r = stablehlo.reduce(%x init: %z) across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
      stablehlo.return %y : tensor<f32>
    }
  return %r : tensor<3xf32>
}

func.func @"reduce-reduce"(%x: tensor<2x3x4xf32>) -> tensor<3xf32> {
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %a = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3xf32>
  %r = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

func.func @"reduce-reduce/stays-sum"(%x: tensor<2x3x4xf32>) -> tensor<3xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3xf32>
  %r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

func.func @"reduce-reduce-relaxed"(%x: tensor<2x3x4xf32>) -> tensor<3xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3xf32>
  %r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

func.func @"reduce-transpose"(%x: tensor<2x3x4xi32>) -> tensor<2x4xi32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %a = stablehlo.transpose %x, dims = [0, 2, 1] : (tensor<2x3x4xi32>) -> tensor<2x4x3xi32>
  %r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x4x3xi32>, tensor<i32>) -> tensor<2x4xi32>
  return %r : tensor<2x4xi32>
}

func.func @"reduce-transpose/stays-turned"(%x: tensor<2x3x4xi32>) -> tensor<4x2xi32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %a = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<2x3x4xi32>) -> tensor<4x2x3xi32>
  %r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [2] : (tensor<4x2x3xi32>, tensor<i32>) -> tensor<4x2xi32>
  return %r : tensor<4x2xi32>
}

func.func @"reduce-unused"(%x: tensor<2x3xf32>, %y: tensor<2x3xi32>) -> tensor<2xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.reduce(%x init: %z), (%y init: %i) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>) {
      %s = stablehlo.add %a, %b : tensor<f32>
      %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %t = stablehlo.select %p, %c, %d : tensor<i1>, tensor<i32>
      stablehlo.return %s, %t : tensor<f32>, tensor<i32>
    }
  return %r#0 : tensor<2xf32>
}

func.func @"reduce-unused/stays-needed"(%x: tensor<2x3xf32>, %y: tensor<2x3xi32>) -> tensor<2xi32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.reduce(%x init: %z), (%y init: %i) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>) {
      %s = stablehlo.add %a, %b : tensor<f32>
      %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %t = stablehlo.select %p, %c, %d : tensor<i1>, tensor<i32>
      stablehlo.return %s, %t : tensor<f32>, tensor<i32>
    }
  return %r#1 : tensor<2xi32>
}

func.func @"sort-unused"(%x: tensor<2x3xf32>, %y: tensor<2x3xi32>) -> tensor<2x3xf32> {
  %r:2 = "stablehlo.sort"(%x, %y) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<2x3xf32>, tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  return %r#0 : tensor<2x3xf32>
}

func.func @"sort-unused/stays-compared"(%x: tensor<2x3xf32>, %y: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %r:2 = "stablehlo.sort"(%x, %y) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<2x3xf32>, tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  return %r#1 : tensor<2x3xi32>
}

func.func @"sort-unit"(%x: tensor<2x1xf32>) -> tensor<2x1xf32> {
  %r = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  return %r : tensor<2x1xf32>
}

func.func @"sort-dimension"(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = "stablehlo.sort"(%x) <{dimension = -1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"reduce-window-one"(%x: tensor<4x5xf32>) -> tensor<4x3xf32> {
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %r = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 1, 1>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

func.func @"pad-reduce-window"(%x: tensor<6xf32>) -> tensor<5xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.pad %x, %z, low = [1], high = [0], interior = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<7xf32>
  %r = "stablehlo.reduce_window"(%p, %z) <{window_dimensions = array<i64: 4>, padding = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<7xf32>, tensor<f32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

func.func @"pad-reduce-window/stays-other"(%x: tensor<6xf32>) -> tensor<5xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %v = stablehlo.constant dense<2.0> : tensor<f32>
  %p = stablehlo.pad %x, %v, low = [1], high = [0], interior = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<7xf32>
  %r = "stablehlo.reduce_window"(%p, %z) <{window_dimensions = array<i64: 4>, padding = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<7xf32>, tensor<f32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// A window of the padded tensor is summed up in f32, a running sum is not.
func.func @"pad-reduce-window/stays-narrow-running"(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %z = stablehlo.constant dense<0.0> : tensor<bf16>
  %p = stablehlo.pad %x, %z, low = [3], high = [0], interior = [0] : (tensor<4xbf16>, tensor<bf16>) -> tensor<7xbf16>
  %r = "stablehlo.reduce_window"(%p, %z) <{window_dimensions = array<i64: 4>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %m = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %m : tensor<bf16>
  }) : (tensor<7xbf16>, tensor<bf16>) -> tensor<4xbf16>
  return %r : tensor<4xbf16>
}

func.func @"dot-nothing"(%x: tensor<2x0xf32>, %y: tensor<0x3xf32>) -> tensor<2x3xf32> {
  %r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"batch-norm-unit"(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %o = stablehlo.constant dense<1.0> : tensor<3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<3xf32>
  %r = "stablehlo.batch_norm_inference"(%x, %o, %z, %z, %o) <{epsilon = 0.0 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"batch-norm-unit/stays-scaled"(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %o = stablehlo.constant dense<1.0> : tensor<3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<3xf32>
  %r = "stablehlo.batch_norm_inference"(%x, %o, %z, %z, %o) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
