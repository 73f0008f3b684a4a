// dynamic-slice-full
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// dynamic-slice-to-slice
module {
  func.func @main(%arg0: tensor<5x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.slice %arg0 [1:3, 0:3] : (tensor<5x3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// dynamic-slice-to-slice/clamped
module {
  func.func @main(%arg0: tensor<5x3xf32>) -> tensor<2x2xf32> {
    %0 = stablehlo.slice %arg0 [3:5, 0:2] : (tensor<5x3xf32>) -> tensor<2x2xf32>
    return %0 : tensor<2x2xf32>
  }
}

// -----
// dynamic-slice-to-slice/unsigned
module {
  func.func @main(%arg0: tensor<5xf32>) -> tensor<2xf32> {
    %0 = stablehlo.slice %arg0 [3:5] : (tensor<5xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

// -----
// dynamic-slice-splat
module {
  func.func @main(%arg0: tensor<f32>, %arg1: tensor<i32>) -> tensor<2xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

// -----
// dynamic-slice-update
module {
  func.func @main(%arg0: tensor<5xf32>, %arg1: tensor<2xf32>, %arg2: tensor<i32>) -> tensor<2xf32> {
    return %arg1 : tensor<2xf32>
  }
}

// -----
// dynamic-update-nothing
module {
  func.func @main(%arg0: tensor<5xf32>, %arg1: tensor<0xf32>, %arg2: tensor<i32>) -> tensor<5xf32> {
    return %arg0 : tensor<5xf32>
  }
}

// -----
// dynamic-update-full
module {
  func.func @main(%arg0: tensor<5xf32>, %arg1: tensor<5xf32>, %arg2: tensor<i32>) -> tensor<5xf32> {
    return %arg1 : tensor<5xf32>
  }
}

// -----
// dynamic-update-again
module {
  func.func @main(%arg0: tensor<5xf32>, %arg1: tensor<2xf32>, %arg2: tensor<2xf32>, %arg3: tensor<i32>) -> tensor<5xf32> {
    %0 = stablehlo.dynamic_update_slice %arg0, %arg2, %arg3 : (tensor<5xf32>, tensor<2xf32>, tensor<i32>) -> tensor<5xf32>
    return %0 : tensor<5xf32>
  }
}

// -----
// gather-to-slice
module {
  func.func @main(%arg0: tensor<5x3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.slice %arg0 [3:4, 0:3] : (tensor<5x3xf32>) -> tensor<1x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x3xf32>) -> tensor<3xf32>
    return %1 : tensor<3xf32>
  }
}

// -----
// gather-to-slice/clamped
module {
  func.func @main(%arg0: tensor<5x3xf32>) -> tensor<1x2x3xf32> {
    %0 = stablehlo.slice %arg0 [3:5, 0:3] : (tensor<5x3xf32>) -> tensor<2x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
    return %1 : tensor<1x2x3xf32>
  }
}

// -----
// gather-steps
module {
  func.func @main(%arg0: tensor<7x3xf32>) -> tensor<3x3xf32> {
    %0 = stablehlo.slice %arg0 [1:6:2, 0:3] : (tensor<7x3xf32>) -> tensor<3x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<3x3xf32>) -> tensor<3x3xf32>
    return %1 : tensor<3x3xf32>
  }
}

// -----
// gather-steps/last
module {
  func.func @main(%arg0: tensor<2x7xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.slice %arg0 [0:2, 0:3] : (tensor<2x7xf32>) -> tensor<2x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----
// scatter-nothing
module {
  func.func @main(%arg0: tensor<5xf32>, %arg1: tensor<0xf32>, %arg2: tensor<0x1xi32>) -> tensor<5xf32> {
    return %arg0 : tensor<5xf32>
  }
}

// -----
// iota-unit
module {
  func.func @main() -> tensor<1x3xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<1x3xf32>
    return %0 : tensor<1x3xf32>
  }
}

// -----
// iota-broadcast
module {
  func.func @main() -> tensor<2x3xf32> {
    %0 = stablehlo.iota dim = 0 : tensor<3xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----
// empty-result
module {
  func.func @main(%arg0: tensor<0x3xf32>) -> tensor<0x3xf32> {
    %0 = stablehlo.constant dense<> : tensor<0x3xf32>
    return %0 : tensor<0x3xf32>
  }
}

// -----
// dimension-size-constant
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<i32> {
    %0 = stablehlo.constant dense<3> : tensor<i32>
    return %0 : tensor<i32>
  }
}

// -----
// dynamic-reshape-constant
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<3x2xf32> {
    %0 = stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<3x2xf32>
    return %0 : tensor<3x2xf32>
  }
}

// -----
// dynamic-broadcast-constant
module {
  func.func @main(%arg0: tensor<3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// dynamic-iota-constant
module {
  func.func @main() -> tensor<2x3xf32> {
    %0 = stablehlo.iota dim = 1 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// dynamic-slice-constant
module {
  func.func @main(%arg0: tensor<5xf32>) -> tensor<2xf32> {
    %0 = stablehlo.slice %arg0 [1:4:2] : (tensor<5xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

// -----
// shape-constant
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2xi64> {
    %0 = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
    return %0 : tensor<2xi64>
  }
}

// -----
// broadcast-like-static
module {
  func.func @main(%arg0: tensor<3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// gather-splat
module {
  func.func @main(%arg0: tensor<f32>, %arg1: tensor<2x1xi32>) -> tensor<2x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// gather-splat/constant
module {
  func.func @main(%arg0: tensor<2x1xi32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<2.500000e+00> : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// dynamic-slice-splat/constant
module {
  func.func @main(%arg0: tensor<i32>) -> tensor<1xcomplex<f32>> {
    %0 = stablehlo.constant dense<(1.000000e+00,2.000000e+00)> : tensor<1xcomplex<f32>>
    return %0 : tensor<1xcomplex<f32>>
  }
}

// -----
// set-dimension-size-slice
module {
  func.func @main(%arg0: tensor<4x2xf32>) -> tensor<3x2xf32> {
    %0 = stablehlo.slice %arg0 [0:3, 0:2] : (tensor<4x2xf32>) -> tensor<3x2xf32>
    return %0 : tensor<3x2xf32>
  }
}

// -----
// scatter-full
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<1x2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.reshape %arg1 : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
    %1 = stablehlo.subtract %arg0, %0 : tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----
// scatter-full/no-index
module {
  func.func @main(%arg0: tensor<f32>, %arg1: tensor<1x0xi32>, %arg2: tensor<1xf32>) -> tensor<f32> {
    %0 = stablehlo.reshape %arg2 : (tensor<1xf32>) -> tensor<f32>
    %1 = stablehlo.add %arg0, %0 : tensor<f32>
    return %1 : tensor<f32>
  }
}

// -----
