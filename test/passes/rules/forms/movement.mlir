// transpose-identity
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// transpose-transpose
module {
  func.func @main(%arg0: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
    %0 = stablehlo.transpose %arg0, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
    return %0 : tensor<4x2x3xf32>
  }
}

// -----
// transpose-to-reshape
module {
  func.func @main(%arg0: tensor<2x1x3xf32>) -> tensor<1x2x3xf32> {
    %0 = stablehlo.reshape %arg0 : (tensor<2x1x3xf32>) -> tensor<1x2x3xf32>
    return %0 : tensor<1x2x3xf32>
  }
}

// -----
// transpose-splat
module {
  func.func @main(%arg0: tensor<f32>) -> tensor<3x2xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    return %0 : tensor<3x2xf32>
  }
}

// -----
// transpose-broadcast
module {
  func.func @main(%arg0: tensor<3xf32>) -> tensor<3x2xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<3xf32>) -> tensor<3x2xf32>
    return %0 : tensor<3x2xf32>
  }
}

// -----
// reshape-same
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// reshape-reshape
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<6xf32> {
    %0 = stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}

// -----
// reshape-splat
module {
  func.func @main(%arg0: tensor<f32>) -> tensor<6xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}

// -----
// broadcast-same
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// broadcast-broadcast
module {
  func.func @main(%arg0: tensor<3xf32>) -> tensor<4x2x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [2] : (tensor<3xf32>) -> tensor<4x2x3xf32>
    return %0 : tensor<4x2x3xf32>
  }
}

// -----
// broadcast-to-reshape
module {
  func.func @main(%arg0: tensor<3xf32>) -> tensor<1x3x1xf32> {
    %0 = stablehlo.reshape %arg0 : (tensor<3xf32>) -> tensor<1x3x1xf32>
    return %0 : tensor<1x3x1xf32>
  }
}

// -----
// broadcast-to-transpose
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<3x2xf32> {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    return %0 : tensor<3x2xf32>
  }
}

// -----
// broadcast-reshape
module {
  func.func @main(%arg0: tensor<3xf32>) -> tensor<2x3x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<3xf32>) -> tensor<2x3x4xf32>
    return %0 : tensor<2x3x4xf32>
  }
}

// -----
// broadcast-reshape/unit
module {
  func.func @main(%arg0: tensor<1x3xf32>) -> tensor<1x3x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<1x3x4xf32>
    return %0 : tensor<1x3x4xf32>
  }
}

// -----
// reverse-nothing
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// reverse-reverse
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// reverse-unit
module {
  func.func @main(%arg0: tensor<1x3xf32>) -> tensor<1x3xf32> {
    %0 = stablehlo.reverse %arg0, dims = [1] : tensor<1x3xf32>
    return %0 : tensor<1x3xf32>
  }
}

// -----
// reverse-splat
module {
  func.func @main(%arg0: tensor<f32>) -> tensor<2x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// slice-full
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// slice-slice
module {
  func.func @main(%arg0: tensor<20xf32>) -> tensor<3xf32> {
    %0 = stablehlo.slice %arg0 [5:18:6] : (tensor<20xf32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}

// -----
// slice-concatenate
module {
  func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<4xf32>) -> tensor<2xf32> {
    %0 = stablehlo.slice %arg1 [1:3] : (tensor<4xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

// -----
// slice-concatenate-part
module {
  func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<4xf32>, %arg2: tensor<3xf32>) -> tensor<4xf32> {
    %0 = stablehlo.concatenate %arg1, %arg2,  dim = 0 : (tensor<4xf32>, tensor<3xf32>) -> tensor<7xf32>
    %1 = stablehlo.slice %0 [2:6] : (tensor<7xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----
// slice-splat
module {
  func.func @main(%arg0: tensor<f32>) -> tensor<1x2xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<1x2xf32>
    return %0 : tensor<1x2xf32>
  }
}

// -----
// slice-broadcast
module {
  func.func @main(%arg0: tensor<3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// slice-pad
module {
  func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<f32>) -> tensor<2xf32> {
    %0 = stablehlo.slice %arg0 [1:3] : (tensor<4xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

// -----
// concatenate-one
module {
  func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    return %arg0 : tensor<2xf32>
  }
}

// -----
// concatenate-nested
module {
  func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<4xf32>) -> tensor<8xf32> {
    %0 = stablehlo.concatenate %arg0, %arg1, %arg0,  dim = 0 : (tensor<2xf32>, tensor<4xf32>, tensor<2xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----
// concatenate-slices
module {
  func.func @main(%arg0: tensor<5xf32>) -> tensor<4xf32> {
    %0 = stablehlo.slice %arg0 [0:4] : (tensor<5xf32>) -> tensor<4xf32>
    %1 = stablehlo.concatenate %0,  dim = 0 : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----
// concatenate-empty
module {
  func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<0xf32>) -> tensor<2xf32> {
    return %arg0 : tensor<2xf32>
  }
}

// -----
// concatenate-splats
module {
  func.func @main(%arg0: tensor<f32>, %arg1: tensor<1x2xf32>) -> tensor<6x2xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<5x2xf32>
    %1 = stablehlo.concatenate %arg1, %0,  dim = 0 : (tensor<1x2xf32>, tensor<5x2xf32>) -> tensor<6x2xf32>
    return %1 : tensor<6x2xf32>
  }
}

// -----
// pad-nothing
module {
  func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<f32>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
}

// -----
// pad-pad
module {
  func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<f32>) -> tensor<9xf32> {
    %0 = stablehlo.pad %arg0, %arg1, low = [2], high = [3], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<9xf32>
    return %0 : tensor<9xf32>
  }
}

// -----
// pad-to-slice
module {
  func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<f32>) -> tensor<1xf32> {
    %0 = stablehlo.slice %arg0 [2:3] : (tensor<4xf32>) -> tensor<1xf32>
    return %0 : tensor<1xf32>
  }
}

// -----
// pad-empty
module {
  func.func @main(%arg0: tensor<0xf32>, %arg1: tensor<f32>) -> tensor<3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}

// -----
// pad-splat
module {
  func.func @main(%arg0: tensor<f32>) -> tensor<5xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<5xf32>
    return %0 : tensor<5xf32>
  }
}

// -----
// pad-convolution
module {
  func.func @main(%arg0: tensor<1x2x4xf32>, %arg1: tensor<3x2x3xf32>) -> tensor<1x3x5xf32> {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[1, 2]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x4xf32>, tensor<3x2x3xf32>) -> tensor<1x3x5xf32>
    return %0 : tensor<1x3x5xf32>
  }
}

// -----
// pad-convolution/dilated-by-one
module {
  func.func @main(%arg0: tensor<1x2x4xf32>, %arg1: tensor<3x2x3xf32>) -> tensor<1x3x4xf32> {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[1, 1]], lhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x4xf32>, tensor<3x2x3xf32>) -> tensor<1x3x4xf32>
    return %0 : tensor<1x3x4xf32>
  }
}

// -----
// take-to-slice
module {
  func.func @main(%arg0: tensor<4x2xf32>) -> tensor<1x2xf32> {
    %0 = stablehlo.slice %arg0 [3:4, 0:2] : (tensor<4x2xf32>) -> tensor<1x2xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    return %1 : tensor<1x2xf32>
  }
}

// -----
// move-transpose
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.exponential %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// move-reshape
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.exponential %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
