// real-complex
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// imag-complex
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg1 : tensor<2x3xf32>
  }
}

// -----
// complex-parts
module {
  func.func @main(%arg0: tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>> {
    return %arg0 : tensor<2x3xcomplex<f32>>
  }
}

// -----
// real-real
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// imag-real
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// convert-same
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// convert-convert
module {
  func.func @main(%arg0: tensor<2x3xbf16>) -> tensor<2x3xbf16> {
    return %arg0 : tensor<2x3xbf16>
  }
}

// -----
// convert-iota
module {
  func.func @main() -> tensor<2x3xf32> {
    %0 = stablehlo.iota dim = 1 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// bitcast-same
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// bitcast-bitcast/0
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// bitcast-bitcast/1
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xui32> {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<2x3xf32>) -> tensor<2x3xui32>
    return %0 : tensor<2x3xui32>
  }
}

// -----
// reduce-precision-full
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// convert-convert/narrower
module {
  func.func @main(%arg0: tensor<3xi16>) -> tensor<3xui8> {
    %0 = stablehlo.convert %arg0 : (tensor<3xi16>) -> tensor<3xui8>
    return %0 : tensor<3xui8>
  }
}

// -----
