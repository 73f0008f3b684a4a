// remove-dropout/at_inference
module {
  func.func @main(%arg0: tensor<3x5xf32>) -> tensor<3x5xf32> {
    return %arg0 : tensor<3x5xf32>
  }
}

// -----
// remove-dropout/of_all
module {
  func.func @main(%arg0: tensor<5xf16>) -> tensor<5xf16> {
    return %arg0 : tensor<5xf16>
  }
}

// -----
