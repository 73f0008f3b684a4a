// raise-max-pool
module {
  func.func @main(%arg0: tensor<1x2x6x6xf32>) -> tensor<1x2x3x3xf32> {
    %0 = nn.max_pool %arg0, window = [3, 3] strides = [2, 2] {dilations = array<i64: 1, 1>, padding_high = array<i64: 1, 1>, padding_low = array<i64: 1, 0>} : (tensor<1x2x6x6xf32>) -> tensor<1x2x3x3xf32>
    return %0 : tensor<1x2x3x3xf32>
  }
}

// -----
// raise-average-pool
module {
  func.func @main(%arg0: tensor<1x2x6x6xf32>) -> tensor<1x2x3x3xf32> {
    %0 = nn.average_pool %arg0, window = [2, 2] strides = [2, 2] {count_padding = true, dilations = array<i64: 1, 1>, padding_high = array<i64: 0, 0>, padding_low = array<i64: 0, 0>} : (tensor<1x2x6x6xf32>) -> tensor<1x2x3x3xf32>
    return %0 : tensor<1x2x3x3xf32>
  }
}

// -----
// raise-average-pool/counted
module {
  func.func @main(%arg0: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
    %0 = nn.average_pool %arg0, window = [3, 3] strides = [1, 1] {count_padding = false, dilations = array<i64: 1, 1>, padding_high = array<i64: 1, 1>, padding_low = array<i64: 1, 1>} : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
    return %0 : tensor<1x1x4x4xf32>
  }
}

// -----
// raise-softmax
module {
  func.func @main(%arg0: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
    %0 = nn.softmax %arg0, axes = [2] : tensor<2x3x4xf32>
    return %0 : tensor<2x3x4xf32>
  }
}

// -----
// raise-log-softmax
module {
  func.func @main(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %0 = nn.log_softmax %arg0, axes = [1] : tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
}

// -----
// join-columns
module {
  func.func @main(%arg0: tensor<1x5x3xf32>, %arg1: tensor<3x2x4xf32>, %arg2: tensor<2x4xf32>) -> tensor<1x5x2x4xf32> {
    %0 = stablehlo.reshape %arg1 : (tensor<3x2x4xf32>) -> tensor<3x8xf32>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [2] x [0]  : (tensor<1x5x3xf32>, tensor<3x8xf32>) -> tensor<1x5x8xf32>
    %2 = stablehlo.reshape %arg2 : (tensor<2x4xf32>) -> tensor<8xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [2] : (tensor<8xf32>) -> tensor<1x5x8xf32>
    %4 = stablehlo.add %1, %3 : tensor<1x5x8xf32>
    %5 = stablehlo.reshape %4 : (tensor<1x5x8xf32>) -> tensor<1x5x2x4xf32>
    return %5 : tensor<1x5x2x4xf32>
  }
}

// -----
// raise-softmax/guarded
module {
  func.func @main(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xi1>) -> tensor<2x4xf32> {
    %0 = stablehlo.constant dense<-3.40282347E+38> : tensor<2x4xf32>
    %1 = stablehlo.select %arg1, %arg0, %0 : tensor<2x4xi1>, tensor<2x4xf32>
    %2 = nn.softmax %1, axes = [1] : tensor<2x4xf32>
    return %2 : tensor<2x4xf32>
  }
}

// -----
// raise-softmax/units
module {
  func.func @main(%arg0: tensor<2x4x1x1xf32>) -> tensor<2x4x1x1xf32> {
    %0 = nn.softmax %arg0, axes = [1] : tensor<2x4x1x1xf32>
    return %0 : tensor<2x4x1x1xf32>
  }
}

// -----
// raise-log-softmax/units
module {
  func.func @main(%arg0: tensor<2x4x1xf32>) -> tensor<2x4x1xf32> {
    %0 = nn.log_softmax %arg0, axes = [1, 2] : tensor<2x4x1xf32>
    return %0 : tensor<2x4x1xf32>
  }
}

// -----
