// remove-dropout/at_inference
module {
  func.func @main(%arg0: tensor<3x5xf32>) -> tensor<3x5xf32> {
    return %arg0 : tensor<3x5xf32>
  }
}

// -----
// remove-dropout/of_unknown_size
module {
  func.func @main(%arg0: tensor<?x5xf16>) -> tensor<?x5xf16> {
    return %arg0 : tensor<?x5xf16>
  }
}
