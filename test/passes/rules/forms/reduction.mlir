// reduce-nothing
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// reduce-nothing/other-start
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %2 = stablehlo.add %1, %arg0 : tensor<2x3xi32>
    return %2 : tensor<2x3xi32>
  }
}

// -----
// reduce-nothing/several
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
    %0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.constant dense<-1> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %4 = stablehlo.compare  GE, %2, %arg0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %5 = stablehlo.select %4, %2, %arg0 : tensor<2x3xi1>, tensor<2x3xf32>
    %6 = stablehlo.select %4, %3, %arg1 : tensor<2x3xi1>, tensor<2x3xi32>
    return %5, %6 : tensor<2x3xf32>, tensor<2x3xi32>
  }
}

// -----
// reduce-nothing/mixed
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<f32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %3 = stablehlo.add %arg0, %1 : tensor<2x3xf32>
    %4 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %6 = stablehlo.multiply %2, %5 : tensor<2x3xf32>
    %7 = stablehlo.subtract %6, %arg1 : tensor<2x3xf32>
    return %3, %7 : tensor<2x3xf32>, tensor<2x3xf32>
  }
}

// -----
// reduce-nothing/initial
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) -> tensor<2x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// reduce-nothing/element
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) -> tensor<?x3xf32> {
    %0 = stablehlo.convert %arg0 : (tensor<2x3xf32>) -> tensor<?x3xf32>
    return %0 : tensor<?x3xf32>
  }
}

// -----
// reduce-nothing/open
module {
  func.func @main(%arg0: tensor<2x3xf16>, %arg1: tensor<f16>) -> tensor<?x3xf16> {
    %0 = stablehlo.convert %arg0 : (tensor<2x3xf16>) -> tensor<?x3xf16>
    %1 = nn.broadcast_like %arg1, %0 : (tensor<f16>, tensor<?x3xf16>) -> tensor<?x3xf16>
    %2 = stablehlo.add %1, %0 : tensor<?x3xf16>
    return %2 : tensor<?x3xf16>
  }
}

// -----
// reduce-nothing/promoted
module {
  func.func @main(%arg0: tensor<2x3xf16>, %arg1: tensor<f16>) -> tensor<2x3xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<f16>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %2 = stablehlo.convert %arg0 : (tensor<2x3xf16>) -> tensor<2x3xf32>
    %3 = stablehlo.add %1, %2 : tensor<2x3xf32>
    return %3 : tensor<2x3xf32>
  }
}

// -----
// reduce-unit/other-start
module {
  func.func @main(%arg0: tensor<2x1x3xf32>, %arg1: tensor<f32>) -> tensor<2x3xf32> {
    %0 = stablehlo.reshape %arg0 : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %2 = stablehlo.add %1, %0 : tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }
}

// -----
// reduce-unit
module {
  func.func @main(%arg0: tensor<2x1x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.reshape %arg0 : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// reduce-empty
module {
  func.func @main(%arg0: tensor<0x3xf32>, %arg1: tensor<f32>) -> tensor<3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}

// -----
// reduce-outside
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}

// -----
// reduce-reduce
module {
  func.func @main(%arg0: tensor<2x3x4xf32>) -> tensor<3xf32> {
    %0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%arg0 init: %0) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<3xf32>
    return %1 : tensor<3xf32>
  }
}

// -----
// reduce-reduce-relaxed
module {
  func.func @main(%arg0: tensor<2x3x4xf32>) -> tensor<3xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%arg0 init: %0) applies stablehlo.add across dimensions = [0, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<3xf32>
    return %1 : tensor<3xf32>
  }
}

// -----
// reduce-transpose
module {
  func.func @main(%arg0: tensor<2x3x4xi32>) -> tensor<2x4xi32> {
    %0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.reduce(%arg0 init: %0) applies stablehlo.add across dimensions = [1] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<2x4xi32>
    return %1 : tensor<2x4xi32>
  }
}

// -----
// reduce-unused
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xi32>) -> tensor<2xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%arg0 init: %0) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}

// -----
// sort-unused
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xf32> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %1 = stablehlo.compare  LT, %arg2, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// sort-unit
module {
  func.func @main(%arg0: tensor<2x1xf32>) -> tensor<2x1xf32> {
    return %arg0 : tensor<2x1xf32>
  }
}

// -----
// sort-dimension
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 1 : i64}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %1 = stablehlo.compare  LT, %arg1, %arg2 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// reduce-window-one
module {
  func.func @main(%arg0: tensor<4x5xf32>) -> tensor<4x3xf32> {
    %0 = stablehlo.slice %arg0 [0:4, 0:5:2] : (tensor<4x5xf32>) -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
}

// -----
// pad-reduce-window
module {
  func.func @main(%arg0: tensor<6xf32>) -> tensor<5xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{padding = dense<1> : tensor<1x2xi64>, window_dimensions = array<i64: 4>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<6xf32>, tensor<f32>) -> tensor<5xf32>
    return %1 : tensor<5xf32>
  }
}

// -----
// dot-nothing
module {
  func.func @main(%arg0: tensor<2x0xf32>, %arg1: tensor<0x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----
// batch-norm-unit
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
