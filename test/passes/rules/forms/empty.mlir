// empty-result/of-several
module {
  func.func @main(%arg0: tensor<0xi16>, %arg1: tensor<0xf32>) -> (tensor<0xi16>, tensor<0xf32>) {
    %0 = stablehlo.constant dense<> : tensor<0xi16>
    %1 = stablehlo.constant dense<> : tensor<0xf32>
    return %0, %1 : tensor<0xi16>, tensor<0xf32>
  }
}

// -----
// empty-result/complex
module {
  func.func @main(%arg0: tensor<0x2xcomplex<f32>>) -> tensor<0x2xcomplex<f32>> {
    %0 = stablehlo.constant dense<> : tensor<0x2xcomplex<f32>>
    return %0 : tensor<0x2xcomplex<f32>>
  }
}

// -----
// while-invariant/nothing
module {
  func.func @main(%arg0: tensor<i32>, %arg1: tensor<3x0xf32>) -> (tensor<i32>, tensor<3x0xf32>) {
    %0 = stablehlo.while(%arg2 = %arg0) : tensor<i32>
     cond {
      %1 = stablehlo.constant dense<7> : tensor<i32>
      %2 = stablehlo.compare  LT, %arg2, %1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %1 = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %arg2, %1 : tensor<i32>
      stablehlo.return %2 : tensor<i32>
    }
    return %0, %arg1 : tensor<i32>, tensor<3x0xf32>
  }
}

// -----
// select-and-scatter-nothing
module {
  func.func @main(%arg0: tensor<3xf32>, %arg1: tensor<0xf32>, %arg2: tensor<f32>) -> tensor<3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}

// -----
// reduce-window-empty
module {
  func.func @main(%arg0: tensor<0x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----
// convolution-nothing
module {
  func.func @main(%arg0: tensor<2x0x4x4xf32>, %arg1: tensor<3x0x3x3xf32>) -> tensor<2x3x2x2xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x3x2x2xf32>
    return %1 : tensor<2x3x2x2xf32>
  }
}

// -----
// gather-first
module {
  func.func @main(%arg0: tensor<3x4xf32>, %arg1: tensor<5x0xi32>) -> tensor<5x2xf32> {
    %0 = stablehlo.slice %arg0 [0:1, 0:2] : (tensor<3x4xf32>) -> tensor<1x2xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2xf32>) -> tensor<2xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<2xf32>) -> tensor<5x2xf32>
    return %2 : tensor<5x2xf32>
  }
}

// -----
// dynamic-update-nothing/open
module {
  func.func @main(%arg0: tensor<2x4xf32>, %arg1: tensor<2x0xf32>, %arg2: tensor<i32>) -> tensor<?x4xf32> {
    %0 = stablehlo.convert %arg0 : (tensor<2x4xf32>) -> tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  }
}

// -----
// scatter-nothing/open
module {
  func.func @main(%arg0: tensor<2x4xf32>, %arg1: tensor<0x1xi32>, %arg2: tensor<0x4xf32>) -> tensor<?x4xf32> {
    %0 = stablehlo.convert %arg0 : (tensor<2x4xf32>) -> tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  }
}

// -----
// reduce-empty/open
module {
  func.func @main(%arg0: tensor<2x0x3xf32>, %arg1: tensor<f32>) -> tensor<?x3xf32> {
    %0 = stablehlo.convert %arg0 : (tensor<2x0x3xf32>) -> tensor<?x0x3xf32>
    %1 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x0x3xf32>) -> tensor<i32>
    %2 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.constant dense<3> : tensor<1xi32>
    %4 = stablehlo.concatenate %2, %3,  dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = stablehlo.dynamic_broadcast_in_dim %arg1, %4, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    return %5 : tensor<?x3xf32>
  }
}

// -----
// dot-nothing/open
module {
  func.func @main(%arg0: tensor<2x0xf32>, %arg1: tensor<0x2xf32>) -> tensor<?x?xf32> {
    %0 = stablehlo.convert %arg0 : (tensor<2x0xf32>) -> tensor<?x0xf32>
    %1 = stablehlo.convert %arg1 : (tensor<0x2xf32>) -> tensor<0x?xf32>
    %2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x0xf32>) -> tensor<i32>
    %4 = stablehlo.reshape %3 : (tensor<i32>) -> tensor<1xi32>
    %5 = stablehlo.get_dimension_size %1, dim = 1 : (tensor<0x?xf32>) -> tensor<i32>
    %6 = stablehlo.reshape %5 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.concatenate %4, %6,  dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %8 = stablehlo.dynamic_broadcast_in_dim %2, %7, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    return %8 : tensor<?x?xf32>
  }
}

// -----
