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
// raise-gelu/power
module {
  func.func @main(%arg0: tensor<37xf32>) -> tensor<37xf32> {
    %0 = nn.gelu %arg0 {approximate = true} : tensor<37xf32>
    return %0 : tensor<37xf32>
  }
}

// -----
