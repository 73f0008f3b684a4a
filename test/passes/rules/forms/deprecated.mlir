// tuple-element
module {
  func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<3xi32>) -> tensor<3xi32> {
    return %arg1 : tensor<3xi32>
  }
}

// -----
// tuple-elements
module {
  func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<3xi32>) -> tensor<3xi32> {
    %0 = stablehlo.tuple %arg0, %arg1 : tuple<tensor<2xf32>, tensor<3xi32>>
    %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<2xf32>, tensor<3xi32>>) -> tensor<3xi32>
    return %1 : tensor<3xi32>
  }
}

// -----
// dot-to-dot-general
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<3x4xf32>) -> tensor<2x4xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]  : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
}

// -----
// broadcast-to-in-dim
module {
  func.func @main(%arg0: tensor<3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// einsum-to-dot-general
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<3x4xf32>) -> tensor<2x4xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]  : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %1 = stablehlo.transpose %0, dims = [0, 1] : (tensor<2x4xf32>) -> tensor<2x4xf32>
    return %1 : tensor<2x4xf32>
  }
}

// -----
// unary-einsum-to-reduce
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%arg0 init: %0) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %2 = stablehlo.transpose %1, dims = [0] : (tensor<2xf32>) -> tensor<2xf32>
    return %2 : tensor<2xf32>
  }
}

// -----
// torch-index-select-to-gather
module {
  func.func @main(%arg0: tensor<5x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<[3, 1]> : tensor<2xi32>
    %1 = "stablehlo.gather"(%arg0, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<5x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----
// dynamic-pad-constant
module {
  func.func @main(%arg0: tensor<3xf32>, %arg1: tensor<f32>) -> tensor<6xf32> {
    %0 = stablehlo.pad %arg0, %arg1, low = [1], high = [2], interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}

// -----
// dynamic-gather-constant
module {
  func.func @main(%arg0: tensor<5x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<[[3], [1]]> : tensor<2x1xi32>
    %1 = "stablehlo.gather"(%arg0, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<5x3xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----
// dynamic-conv-constant
module {
  func.func @main(%arg0: tensor<1x2x4xf32>, %arg1: tensor<3x2x3xf32>) -> tensor<1x3x4xf32> {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x4xf32>, tensor<3x2x3xf32>) -> tensor<1x3x4xf32>
    return %0 : tensor<1x3x4xf32>
  }
}

// -----
// dynamic-broadcast-broadcast
module {
  func.func @main(%arg0: tensor<3xf32>) -> tensor<4x2x3xf32> {
    %0 = stablehlo.constant dense<[4, 2, 3]> : tensor<3xi64>
    %1 = stablehlo.dynamic_broadcast_in_dim %arg0, %0, dims = [2] : (tensor<3xf32>, tensor<3xi64>) -> tensor<4x2x3xf32>
    return %1 : tensor<4x2x3xf32>
  }
}

// -----
// set-dimension-size-same
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// create-token-to-after-all
module {
  func.func @main(%arg0: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.after_all  : !stablehlo.token
    %1 = "stablehlo.outfeed"(%arg0, %0) <{outfeed_config = ""}> : (tensor<3xf32>, !stablehlo.token) -> !stablehlo.token
    return %arg0 : tensor<3xf32>
  }
}

// -----
// map-inline
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %2 = stablehlo.add %arg0, %1 : tensor<2x3xf32>
    %3 = stablehlo.clamp %arg1, %2, %1 : tensor<2x3xf32>
    %4 = stablehlo.compare  LT, %3, %arg0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    return %4 : tensor<2x3xi1>
  }
}

// -----
