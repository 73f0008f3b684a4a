// raise-gelu
module {
  func.func @main(%arg0: tensor<37xf32>) -> tensor<37xf32> {
    %0 = nn.gelu %arg0 {approximate = true} : tensor<37xf32>
    return %0 : tensor<37xf32>
  }
}

// -----
// raise-gelu/half-first
module {
  func.func @main(%arg0: tensor<37xf32>) -> tensor<37xf32> {
    %0 = nn.gelu %arg0 {approximate = true} : tensor<37xf32>
    return %0 : tensor<37xf32>
  }
}

// -----
// raise-gelu/f64
module {
  func.func @main(%arg0: tensor<37xf64>) -> tensor<37xf64> {
    %0 = nn.gelu %arg0 {approximate = true} : tensor<37xf64>
    return %0 : tensor<37xf64>
  }
}

// -----
// raise-narrow-gelu
module {
  func.func @main(%arg0: tensor<37xbf16>) -> tensor<37xbf16> {
    %0 = nn.gelu %arg0 {approximate = true} : tensor<37xbf16>
    return %0 : tensor<37xbf16>
  }
}

// -----
// raise-gelu/power
module {
  func.func @main(%arg0: tensor<37xf32>) -> tensor<37xf32> {
    %0 = nn.gelu %arg0 {approximate = true} : tensor<37xf32>
    return %0 : tensor<37xf32>
  }
}

// -----
// carry-gelu
module {
  func.func @main(%arg0: tensor<37xf16>) -> tensor<37xf16> {
    %0 = stablehlo.convert %arg0 : (tensor<37xf16>) -> tensor<37xf32>
    %1 = stablehlo.constant dense<0.707182347> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<37xf32>
    %3 = stablehlo.multiply %0, %2 : tensor<37xf32>
    %4 = nn.erf %3 : tensor<37xf32>
    %5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<37xf32>
    %7 = stablehlo.add %4, %6 : tensor<37xf32>
    %8 = stablehlo.multiply %0, %7 : tensor<37xf32>
    %9 = stablehlo.convert %8 : (tensor<37xf32>) -> tensor<37xf16>
    return %9 : tensor<37xf16>
  }
}

// -----
// carry-gelu/half-first
module {
  func.func @main(%arg0: tensor<37xbf16>) -> tensor<37xbf16> {
    %0 = stablehlo.convert %arg0 : (tensor<37xbf16>) -> tensor<37xf32>
    %1 = stablehlo.constant dense<0.707182347> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<37xf32>
    %3 = stablehlo.multiply %0, %2 : tensor<37xf32>
    %4 = nn.erf %3 : tensor<37xf32>
    %5 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<37xf32>
    %7 = stablehlo.multiply %0, %6 : tensor<37xf32>
    %8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<37xf32>
    %10 = stablehlo.add %4, %9 : tensor<37xf32>
    %11 = stablehlo.multiply %7, %10 : tensor<37xf32>
    %12 = stablehlo.convert %11 : (tensor<37xf32>) -> tensor<37xbf16>
    return %12 : tensor<37xbf16>
  }
}

// -----
// carry-gelu/times
module {
  func.func @main(%arg0: tensor<37xf16>) -> tensor<37xf16> {
    %0 = stablehlo.convert %arg0 : (tensor<37xf16>) -> tensor<37xf32>
    %1 = stablehlo.constant dense<0.70703125> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<37xf32>
    %3 = stablehlo.multiply %0, %2 : tensor<37xf32>
    %4 = nn.erf %3 : tensor<37xf32>
    %5 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<37xf32>
    %7 = stablehlo.multiply %0, %6 : tensor<37xf32>
    %8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<37xf32>
    %10 = stablehlo.add %4, %9 : tensor<37xf32>
    %11 = stablehlo.multiply %7, %10 : tensor<37xf32>
    %12 = stablehlo.convert %11 : (tensor<37xf32>) -> tensor<37xf16>
    return %12 : tensor<37xf16>
  }
}

// -----
