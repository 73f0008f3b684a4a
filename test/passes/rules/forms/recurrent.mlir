// recurrent-zero-state
module {
  func.func @main(%arg0: tensor<4x2x3xf32>, %arg1: tensor<1x20x3xf32>, %arg2: tensor<1x20x5xf32>, %arg3: tensor<1x40xf32>) -> (tensor<4x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>) {
    %y, %last_h, %last_c = "nn.lstm"(%arg0, %arg1, %arg2, %arg3) <{activations = ["Sigmoid", "Tanh", "Tanh"], direction = "forward", input_forget = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0>}> : (tensor<4x2x3xf32>, tensor<1x20x3xf32>, tensor<1x20x5xf32>, tensor<1x40xf32>) -> (tensor<4x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>)
    return %y, %last_h, %last_c : tensor<4x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>
  }
}

// -----
